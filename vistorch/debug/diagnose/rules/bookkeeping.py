"""Gradients and optimizers: what is cleared, used, used again, or never used.

Invariant: passes, steps and clearings are counted, and once is no habit; of rates and bounds the course of the loss
decides as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ..course import Course
from ..finding import DOUBTFUL, EXACT, MEASURED, WRONG, Finding, number
from ..ledger import Ledger
from ..written import argument, epochs_around, literal, loops_around, rate_written
from .base import Rule

HABIT = 2  # steps in which a thing must have happened


def first_and_last(rates: list) -> tuple[str, str]:
    """What proves that a learning rate was moved.

    Args:
        rates: those of all steps.
    """
    return "learning rate, first and last", f"{number(rates[0])}, {number(rates[-1])}"


def names(texts: list[str], most: int = 3) -> str:
    """A few names, and how many more there are."""
    texts = [t for t in texts if t]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


class UsedTwice(Rule):
    """A step uses a gradient that an earlier step of the same optimizer has used already.

    Meaning: `.grad` is the sum of all passes since it was cleared; a step should use each pass once.
    Fires: when two steps or more, and a tenth of all, found in the `.grad` of a parameter a pass that the step before
    had used, and nobody had scaled or replaced that gradient in between; an LBFGS is left out.
    Wrong if: the sum is wanted, as a momentum by hand; then the gradient is scaled between steps, which is seen.
    Healthy programs tried: accumulation over several passes with one clearing, a discriminator that gets gradients
    from the generator's pass, clipping, decaying gradients by hand, two optimizers that take turns, LBFGS's
    closures.
    """

    name, title, certainty, severity, cheap = "used twice", "gradients used twice", EXACT, WRONG, True

    def findings(self) -> Iterator[Finding]:
        """Say of which optimizer."""
        for ledger in self.ev.ledgers.values():
            guilty = [h for h in ledger.each if h.twice >= HABIT and h.twice >= 0.1 * ledger.steps]
            if not guilty or ledger.optimizer.__class__.__name__ == "LBFGS":
                continue
            most = max(h.twice for h in guilty)
            optimizer = self.ev.variable(ledger.optimizer) or "the optimizer"
            whole = len(guilty) == len(ledger.each)
            what = (
                "Gradients are"
                if whole
                else f"The gradient of {names([self.ev.name_of(h.tensor) for h in guilty], 1)} is"
            )
            last = self.ev.last
            again = self._again(ledger)
            seldom = None if again else self._seldom(ledger)
            yield self.found(
                f"{what} never cleared: {optimizer}.step() uses those of earlier steps again."
                if ledger.zero_place is None
                else f"{what} used again: {optimizer}.step() comes {most:,} times without a clearing before it.",
                again or seldom or ledger.step_place,
                "clears another's" if again else "clears too seldom" if seldom else "uses old ones again",
                also=None if again or seldom or last is None else (last.place, "clear before it"),
                related=self.lines(
                    (ledger.step_place if again or seldom else None, "uses old ones again"),
                    (None if last is None else last.place, "adds to them"),
                    (ledger.zero_place, "clears"),
                ),
                proof=[
                    ("steps", ledger.steps),
                    ("steps that used a gradient again", most),
                    ("parameters", f"{len(guilty)} of {len(ledger.each)}"),
                ],
                confirm=(
                    f"{optimizer}.param_groups[0]['params'][0].grad",
                    "a gradient that grows from step to step",
                ),
                unless="sums over steps are wanted: then scale them, as in p.grad.mul_(0.9).",
                advice=f"Call {optimizer}.zero_grad() once for each step, before the backward pass.",
                weight=5.0,
                explains=("diverges", "learns nothing"),
            )

    def _seldom(self, ledger: Ledger) -> Any:
        """The only line that clears this optimizer, where it runs for fewer than half of the steps."""
        places = self.ev.zeroed.get(id(ledger.optimizer), {})
        if len(places) == 1 and 2 <= sum(places.values()) < 0.5 * ledger.steps:
            return next(iter(places))
        return None

    def _again(self, ledger: Ledger) -> Any:
        """The second of two lines that clear another optimizer, where none clears this one."""
        if id(ledger.optimizer) in self.ev.zeroed:
            return None
        for places in self.ev.zeroed.values():
            often = [place for place, n in places.items() if n >= 0.8 * ledger.steps]
            if len(often) == 2:
                return often[1]
        return None


class Cleared(Rule):
    """Gradients are cleared after the pass that made them and before any step that could use them.

    Meaning: a step between two clearings should find the gradients of a pass.
    Fires: when at least two steps, and eight of ten, found a parameter that a pass had reached since the step before
    without a gradient, or with one that was all zero after a clearing, and no parameter that passes reach had a new
    gradient in more than a fifth of the steps.
    Wrong if: a step is skipped on purpose; then there is no step, and nothing is counted.
    Healthy programs tried: a generator's pass that leaves gradients in the discriminator, which are cleared before
    its own pass; accumulation; `set_to_none=False`.
    """

    name, title, certainty, severity, cheap = "cleared", "gradients cleared early", EXACT, WRONG, True

    def findings(self) -> Iterator[Finding]:
        """Say of which optimizer."""
        for ledger in self.ev.ledgers.values():
            most = max((h.cleared for h in ledger.each), default=0)
            if most < HABIT or most < 0.8 * ledger.steps:
                continue
            if any(h.fresh > 0.2 * ledger.steps for h in ledger.each if h.passes):
                continue
            optimizer = self.ev.variable(ledger.optimizer) or "the optimizer"
            last = self.ev.last
            yield self.found(
                f"Every gradient is cleared before {optimizer}.step() can use it.",
                ledger.zero_place or ledger.step_place,
                "clears it",
                related=self.lines(
                    (None if last is None else last.place, "makes it"), (ledger.step_place, "finds nothing")
                ),
                proof=[("steps", ledger.steps), ("steps that found cleared gradients", most)],
                confirm=("print(next(iter(model.parameters())).grad)", "None or 0, right before the step"),
                unless="",
                advice="Clear gradients before the backward pass, or after the step.",
                weight=9.0,
                explains=("learns nothing", "not reached", "too small"),
            )


class NeverSteps(Rule):
    """Passes come and go, and an optimizer that holds what they reach makes no step.

    Meaning: each optimizer should step as often as its loss is computed, or once for several.
    Fires: when four passes or more reached one of its parameters, it made no step, no other optimizer stepped those
    that passes reached, and the program did not write them.
    Wrong if: gradients are what is wanted, with an optimizer that is for later.
    Healthy programs tried: updates by hand in `no_grad`, accumulation over fewer passes than the run has, saliency
    maps.
    """

    name, title, certainty, severity, cheap = "never steps", "optimizers without a step", EXACT, WRONG, True

    def findings(self) -> Iterator[Finding]:
        """Say of which optimizer."""
        ev = self.ev
        stepped = {i for one in ev.ledgers.values() if one.steps for i in one.held}
        for ledger in ev.ledgers.values():
            if ledger.steps:
                continue
            reached = [h for h in ledger.each if id(h.tensor) in ev.reached]
            most = max((ev.reached[id(h.tensor)][1] for h in reached), default=0)
            if most < 4 or any(id(h.tensor._data) in ev.written or id(h.tensor) in stepped for h in reached):
                continue
            optimizer = ev.variable(ledger.optimizer) or "The optimizer"
            yield self.found(
                f"{optimizer} never steps: {most} backward passes reached its parameters.",
                None if ev.last is None else ev.last.place,
                "no step follows",
                related=self.lines((ledger.place, "made here")),
                proof=[("passes", most), ("steps", 0)],
                confirm=("model.weight before and after the loop", "the same values"),
                unless="only gradients are wanted.",
                advice=f"Call {optimizer}.step() after the backward pass.",
                weight=9.0,
                explains=("learns nothing",),
            )


class RateZero(Rule):
    """An optimizer steps with a learning rate of 0, or with one that is moved too often, too seldom or never.

    Meaning: the learning rate is what a gradient is multiplied by.
    Fires: when the first group's rate is 0 in more than half of at least four steps, and in more than four fifths of
    them or for all groups in the end; when a scheduler was made and none stepped in twelve steps or more, and it
    holds the rate below nine tenths of what it was made with, or there were two loops over a loader, or forty steps;
    when a StepLR, a MultiStepLR or an ExponentialLR was stepped in nine of ten steps, eight or more, and brought the
    rate below a hundredth within four fifths of the run, or to a ten-thousandth (an ExponentialLR without loops over
    loaders, and without one loop within another in the program: within three tenths of the run); when a
    CosineAnnealingLR was stepped as often, three times its T_max or more, though there were loops over a loader,
    twice T_max plus one at most, or none, and the outermost of two loops or more around its step is written to go
    round T_max times; when a OneCycleLR or a CosineAnnealingLR made for as many steps as the optimizer
    took, twelve or more, but for a tenth, was stepped twice or more, and in fewer than half of them; or when, in
    twelve steps or more, no scheduler stepped and the program itself lowered the rate, in half of the steps until
    then, to less than a thousandth for good before half of the run was over, and the loss kept a tenth of what it
    was.
    Wrong if: the first steps warm up from 0, which are less than half; or the scheduler's numbers are meant in steps.
    Healthy programs tried: linear warm-up, OneCycleLR, cosine schedules by step and by epoch, StepLR and
    ExponentialLR by epoch, a rate lowered by hand with every epoch.
    """

    name, title, certainty, severity, cheap = "rate", "learning rates and schedulers", EXACT, WRONG, True

    def findings(self) -> Iterator[Finding]:
        """Say of which optimizer."""
        for ledger in self.ev.ledgers.values():
            rates = ledger.rates
            if len(rates) < 4:
                continue
            optimizer = self.ev.variable(ledger.optimizer) or "The optimizer"
            scheduler = next(
                (
                    s
                    for s in self.ev.schedulers.values()
                    if getattr(s[0], "optimizer", None) is ledger.optimizer
                ),
                None,
            )
            none = sum(r == 0 for r in rates)
            every = all(g["lr"] == 0 for g in ledger.optimizer.param_groups) or none > 0.8 * len(rates)
            if none > 0.5 * len(rates) and every:
                made = None if scheduler is None else self.ev.origins.get(id(scheduler[0]))
                place = ledger.place or ledger.step_place
                if made is not None:
                    place = made[2]
                yield self.found(
                    f"{optimizer} steps with a learning rate of 0 in {none} of {len(rates)} steps.",
                    place,
                    "rate 0",
                    related=self.lines((ledger.step_place, "changes nothing")),
                    proof=[("steps with rate 0", none), ("steps", len(rates))],
                    confirm=(f"{optimizer}.param_groups[0]['lr']", "0.0"),
                    advice="Give it a learning rate above 0.",
                    weight=8.0,
                    explains=("learns nothing", "too small"),
                )
            elif scheduler is not None:
                yield from self._by_batch(ledger, optimizer, scheduler, rates)
                yield from self._by_epoch(ledger, optimizer, scheduler, rates)
            elif len(rates) >= 12:
                yield from self._never(ledger, optimizer)
                yield from self._by_hand(ledger, optimizer, rates)

    def _by_epoch(self, ledger: Ledger, optimizer: str, scheduler: tuple, rates: list) -> Iterator[Finding]:
        """A scheduler that was made for batches, and moves with epochs."""
        one, count, place = scheduler
        kind = type(one).__name__
        whole = getattr(one, {"OneCycleLR": "total_steps", "CosineAnnealingLR": "T_max"}.get(kind, ""), 0)
        steps = ledger.steps
        if whole < 12 or count < 2 or count >= 0.5 * steps or abs(whole - steps) > 0.1 * steps:
            return
        made = self.ev.origins.get(id(one))
        yield self.found(
            f"{kind} is made for {whole} steps, and takes {count} in {steps} steps of {optimizer}.",
            place,
            "too seldom",
            also=None if made is None else (made[2], "made for batches"),
            related=self.lines((ledger.step_place, "steps")),
            proof=[
                ("steps of the optimizer", steps),
                ("steps of the scheduler", count),
                ("steps it is made for", whole),
                first_and_last(rates),
            ],
            confirm=(f"{optimizer}.param_groups[0]['lr']", number(rates[-1])),
            unless="the run was ended long before its end.",
            advice="Step it after every step of the optimizer, or make it for as many steps as there are epochs.",
            weight=6.0,
            explains=("learns nothing", "too small"),
        )

    def _by_hand(self, ledger: Ledger, optimizer: str, rates: list) -> Iterator[Finding]:
        """A rate that the program lowers with every step."""
        most = max(rates)
        if most <= 0 or min(rates[: len(rates) // 2]) >= 1e-3 * most:
            return
        at = next(i for i, r in enumerate(rates) if r < 1e-3 * most)
        lowered = sum(b < a for a, b in itertools.pairwise(rates[: at + 1]))
        course = Course(self.ev)
        if max(rates[at:]) >= 1e-3 * most or lowered < max(3, 0.5 * at) or not course.known:
            return
        if course.late < 0.1 * abs(course.first):
            return
        step = self.ev.line(ledger.step_place)
        yield self.found(
            f"The learning rate is lowered with every step: after {at} of {len(rates)} it is a thousandth.",
            rate_written(step) or step,
            "lowers it",
            certainty=MEASURED,
            related=self.lines((ledger.step_place, "steps")),
            proof=[
                ("steps until it is a thousandth", at),
                ("steps", len(rates)),
                first_and_last(rates),
                course.ends(),
            ],
            confirm=(f"{optimizer}.param_groups[0]['lr']", number(rates[-1])),
            unless="the run is to come to rest so soon.",
            advice="Lower it once for each epoch, or by less.",
            weight=6.0,
            explains=("learns nothing", "too small", "unrelated", "one class"),
        )

    def _never(self, ledger: Ledger, optimizer: str) -> Iterator[Finding]:
        """A scheduler that nobody steps."""
        for what, one, place, _ in self.ev.origins.values():
            if what != "scheduler" or getattr(one, "optimizer", None) is not ledger.optimizer:
                continue
            first, base = ledger.rates[0], float(max(getattr(one, "base_lrs", None) or [0.0]))
            low = 0 < first < 0.9 * base
            if not low and (len(self.ev.loaders) < 2 and ledger.steps < 40):
                continue  # one that moves by epochs may come later
            yield self.found(
                f"{type(one).__name__} is never stepped: the learning rate stays at {number(first)}"
                + (f", of {number(base)}." if low else "."),
                ledger.step_place,
                "moves no rate",
                related=self.lines((place, "made here")),
                severity=WRONG if low else DOUBTFUL,
                proof=[
                    ("steps of the optimizer", ledger.steps),
                    ("steps of the scheduler", 0),
                    ("learning rate, first and last", f"{number(first)}, {number(ledger.rates[-1])}"),
                ],
                confirm=(f"{optimizer}.param_groups[0]['lr']", number(first)),
                unless="it is for later.",
                advice=f"Call {self.ev.variable(one) or 'scheduler'}.step() after the optimizer's.",
                weight=6.0,
                explains=("learns nothing", "too small") if low else (),
            )

    def _by_batch(self, ledger: Ledger, optimizer: str, scheduler: tuple, rates: list) -> Iterator[Finding]:
        one, count, place = scheduler
        kind = type(one).__name__
        if (
            kind not in ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR")
            or count < 8
            or count < 0.9 * ledger.steps
        ):
            return
        if kind == "CosineAnnealingLR":
            period = getattr(one, "T_max", 0)
            epochs = len(self.ev.loaders)
            if count < 3 * period or epochs > 2 * period + 1:
                return
            if not epochs and (period < 2 or epochs_around(self.ev.line(place)) != period):
                return
            say = (
                f"{kind} is stepped with every batch: its T_max of {period} is over {count // period} times."
            )
        else:
            least = min(rates)
            if not 0 < least < 0.01 * max(rates) and least != 0:
                return
            at = next(i for i, r in enumerate(rates) if r < 0.01 * max(rates))
            if at > 0.8 * len(rates) and least > 1e-4 * max(rates):
                return
            if kind == "ExponentialLR" and len(self.ev.loaders) < 2 and at > 0.3 * len(rates):
                if loops_around(self.ev.line(place)) < 2:
                    return  # there are no epochs that it could be meant for
            say = (
                f"{kind} is stepped with every batch: the learning rate fell from {number(rates[0])} to "
                f"{number(least)}."
            )
        made = self.ev.origins.get(id(one))
        yield self.found(
            say,
            place,
            "with every batch",
            related=self.lines(
                (None if made is None else made[2], "made here"), (ledger.step_place, "steps")
            ),
            proof=[
                ("steps of the optimizer", ledger.steps),
                ("steps of the scheduler", count),
                first_and_last(rates),
            ],
            confirm=(f"{optimizer}.param_groups[0]['lr']", number(rates[-1])),
            unless="its numbers are meant in batches.",
            advice="Step it once for each epoch, or give its numbers in batches.",
            weight=6.0,
            explains=("learns nothing", "too small"),
        )


class ClippedAway(Rule):
    """Gradients are clipped to a small part of their size at every step, and the run learns nothing.

    Meaning: clipping is for the few steps whose gradient is too large; a bound that each step meets is a smaller
    rate.
    Fires: when in nine of ten looks, of four or more, the norm was a hundred times its bound or more, every optimizer
    that steps is an SGD or an ASGD, whose steps grow with the gradient (Adam's do not), and the run learns nothing or
    keeps nine tenths of its first loss.
    Wrong if: the rate was chosen for it, and then the run learns.
    Healthy programs tried: norms of 1 and of 0.05 with SGD, Adam under a small bound.
    """

    name, title, certainty, severity = "clipped away", "bounds of gradients", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say by how much."""
        seen = self.ev.clipped
        if len(seen) < 4:
            return
        ratios = sorted(norm / bound for _, norm, bound in seen)
        if ratios[len(ratios) // 10] < 100:
            return
        steps = [one for one in self.ev.ledgers.values() if one.steps]
        plain = [one for one in steps if type(one.optimizer).__name__ in ("SGD", "ASGD")]
        course = Course(self.ev)
        if not plain or len(plain) < len(steps) or not course.known:
            return
        if course.late < 0.9 * abs(course.first) and not course.stays:
            return
        place, norm, bound = seen[len(seen) // 2]
        yield self.found(
            f"Gradients of a norm of {number(norm)} are clipped to {number(bound)}: next to nothing is left of them.",
            place,
            "leaves nothing",
            also=(literal(self.ev.line(place), ("max_norm", "clip_value"), 1), "the bound"),
            proof=[
                ("norm beside the bound, median", number(ratios[len(ratios) // 2])),
                ("looks", len(seen)),
                course.ends(),
            ],
            confirm=("what clip_grad_norm_ returns", number(norm)),
            unless="the learning rate was chosen for it.",
            advice="Raise the bound to about the usual norm, 1 for most models.",
            weight=5.0,
            explains=("learns nothing", "too small", "unrelated", "one class", "mean"),
        )


class ClippedNothing(Rule):
    """Gradients are clipped where there are none to be used: before the backward pass, or after the step.

    Meaning: clipping changes the gradients that are there; it must come between pass and step.
    Fires: when at least two calls, and all, came with no pass since the step before, in a run of two steps or more;
    or when at least two calls, and all but the first, were given no parameters, as by a generator that is used up; or
    when two passes came, and at least two calls, and all, were given parameters none of which had a gradient, or,
    where gradients had been cleared since the pass before, one that was not 0, and passes reached one of them.
    Wrong if: the gradients come from elsewhere, set by hand.
    Healthy programs tried: clipping between pass and step, of values and of norms, with an optimizer and by hand,
    accumulation, several models, parts that are frozen.
    """

    name, title, certainty, severity, cheap = (
        "clipped nothing",
        "clipping that comes too early or late",
        EXACT,
        WRONG,
        True,
    )

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        clips = self.ev.clips
        if len(clips) >= HABIT and self.ev.clipped_none >= len(clips) - 1:
            line = self.ev.line(clips[-1][0])
            named = argument(line, 0)
            yield self.found(
                f"Clipping is given no parameters{f': {named} is used up' if named else ''}.",
                line,
                "clips nothing",
                also=(self.ev.assigned(named, line), "goes through once"),
                proof=[
                    ("calls", len(clips)),
                    ("that were given parameters", len(clips) - self.ev.clipped_none),
                ],
                confirm=(f"list({named or 'parameters'})", "[]"),
                unless="",
                advice="Give it model.parameters(), which begins anew each time, or a list.",
                weight=7.0,
                explains=("diverges", "too large", "course", "learns nothing"),
            )
            return
        if len(clips) >= HABIT and self.ev.clipped_early == len(clips) and self.ev.passes >= HABIT:
            if any(id(p) in self.ev.reached for p in self.ev.clipped_last):
                back = None if self.ev.last is None else self.ev.last_place
                yield self.found(
                    "Gradients are clipped before the backward pass, where there are none: it changes nothing.",
                    clips[-1][0],
                    "clips nothing",
                    related=self.lines((back, "makes gradients")),
                    proof=[("calls", len(clips)), ("that found a gradient", 0), ("passes", self.ev.passes)],
                    confirm=("the norm that the call gives back", "0"),
                    unless="the gradients are set by hand.",
                    advice="Move it between loss.backward() and the update.",
                    weight=4.0,
                    explains=("diverges", "course", "too large"),
                )
                return
        if len(clips) < HABIT or any(after for _, after, _ in clips) or self.ev.steps < HABIT:
            return
        step = next((one.step_place for one in self.ev.ledgers.values() if one.steps), None)
        yield self.found(
            "Gradients are clipped where no pass has come since the step: it changes nothing.",
            clips[-1][0],
            "clips nothing",
            related=self.lines(
                (None if self.ev.last is None else self.ev.last.place, "makes gradients"), (step, "uses them")
            ),
            proof=[("calls", len(clips)), ("between a pass and a step", 0)],
            confirm=("the gradient's norm before and after that line", "the same number, or none"),
            unless="the gradients are set by hand.",
            advice="Move it between loss.backward() and the step.",
            weight=4.0,
        )


class JoinsOlder(Rule):
    """An op joins a graph that is many steps old, and so keeps every graph since alive.

    Meaning: a tensor with history holds the graph that made it; a sum over steps holds the graphs of all steps.
    Fires: when in three looks or more one line joined a graph of an earlier turn, the oldest node was older the last
    time than the first, and at some time four turns old or more.
    Wrong if: the loss is meant to reach back over all those steps.
    Healthy programs tried: truncated backpropagation through time with `detach`, sums of `loss.item()`, losses that
    are summed within a step, results that are refined in a fixed number of rounds within a step.
    """

    name, title, certainty, severity, cheap = "joins older", "graphs that grow over steps", EXACT, WRONG, True

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        by: dict[Any, list[tuple[int, int]]] = {}
        shapes: dict[Any, Any] = {}
        for turn, age, place, shape in self.ev.older:
            by.setdefault(place, []).append((turn, age))
            shapes[place] = shape
        for place, seen in by.items():
            by_turn: dict[int, int] = {}
            for turn, age in seen:
                by_turn[turn] = max(age, by_turn.get(turn, 0))
            ages = list(by_turn.values())
            if place is None or len(ages) < 3 or max(ages) < 4 or ages[-1] <= ages[0]:
                continue
            yield self.found(
                f"This line joins a graph that is {ages[-1]} steps old: the graphs of all steps since stay in memory.",
                place,
                "joins an old graph",
                severity=DOUBTFUL if not shapes[place] else WRONG,
                proof=[("age of the oldest node, in steps", f"{ages[0]}, ..., {ages[-1]}")],
                confirm=("the sum's .grad_fn", "a node, where a number was meant"),
                unless="the loss is meant to reach back that far.",
                advice="Take the number: loss.item(), or .detach() of a state.",
                weight=3.0,
            )


RULES = (UsedTwice, Cleared, NeverSteps, RateZero, ClippedNothing, ClippedAway, JoinsOlder)
