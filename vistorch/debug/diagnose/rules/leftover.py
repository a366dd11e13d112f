"""What is left over: gradients of other passes, passes that no step uses, state that is lost, results that are kept.

Invariant: all of it is counted.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from typing import Any

from ....engine.base.events import OUTSIDE, kind_of
from ...line_lookup import Line, cell_of
from ..finding import DOUBTFUL, EXACT, WRONG, Finding
from ..ledger import Ledger, version_of
from ..written import tree_of
from .base import Rule

SCANNED = 200  # names of a frame that are looked at


class LeftOver(Rule):
    """A step uses what another optimizer's pass has left in its gradients.

    Meaning: a pass for one loss reaches all parameters behind it, also those of another optimizer; what it leaves in
    them belongs to the other loss.
    Fires: when in four steps, and half of all, gradients held, beside the newest pass, one that another optimizer had
    stepped by before that newest pass came, the newest pass does not reach the other optimizer's parameters, and the
    two hold no parameter together.
    Wrong if: both losses are meant for both; then both optimizers step after both passes, which is seen.
    Healthy programs tried: two optimizers after one pass, after two passes, a discriminator cleared before its own
    pass, an actor and a critic with a clearing each, two optimizers that take turns.
    """

    name, title, certainty, severity = "left over", "gradients of another's pass", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.steps: dict[int, tuple[set[int], set[int]]] = {}  # by pass: optimizers, parameters it reached
        self.places: dict[int, Any] = {}
        self.guilty: dict[int, list] = {}
        self.newest: set[int] = set()
        self.number = -1

    def at_pass(self, p: Any) -> None:
        """A new pass: which parameters it reaches."""
        if len(self.ev.ledgers) < 2 or not p.accumulates:
            return
        self.number = p.number
        self.newest = {id(v) for v in p.leaves}
        self.steps[p.number] = (set(), self.newest)
        self.places[p.number] = p.place
        for old in [n for n in self.steps if n < p.number - 16]:
            del self.steps[old], self.places[old]

    def at_step(self, ledger: Ledger) -> None:
        """Whether its gradients hold a pass that another optimizer has used."""
        if len(self.ev.ledgers) < 2 or self.number < 0:
            return
        inside = set().union(*(h.inside for h in ledger.each[:64])) if ledger.each else set()
        if self.number in inside:
            for old in inside - {self.number}:
                others, _ = self.steps.get(old, (set(), set()))
                for other in others - {id(ledger)}:
                    theirs = next((one for one in self.ev.ledgers.values() if id(one) == other), None)
                    if theirs is not None and not (set(theirs.held) & (self.newest | set(ledger.held))):
                        entry = self.guilty.setdefault(id(ledger), [0, ledger, theirs, None, set()])
                        if ledger.steps not in entry[4]:
                            entry[4].add(ledger.steps)
                            entry[0] += 1
                            entry[3] = self.places.get(old)
        if self.number in self.steps:
            self.steps[self.number][0].add(id(ledger))

    def findings(self) -> Iterator[Finding]:
        """Say of which optimizer."""
        for times, ledger, theirs, place, _ in self.guilty.values():
            if times < 4 or times < 0.5 * ledger.steps:
                continue
            mine = self.ev.variable(ledger.optimizer) or "the optimizer"
            other = self.ev.variable(theirs.optimizer) or "another optimizer"
            last = self.places.get(max(self.places, default=-1))
            yield self.found(
                f"{mine}.step() also uses gradients that the pass for {other} has left: they are not cleared between.",
                ledger.step_place,
                "uses both",
                related=self.lines((place, f"for {other}"), (last, "a pass")),
                proof=[("steps", ledger.steps), ("steps that used another's pass", times)],
                confirm=(f"the gradients right before {mine}'s own backward()", "not None, not 0"),
                unless="both losses are meant for both.",
                advice=f"Call {mine}.zero_grad() right before its own backward pass.",
                weight=5.0,
                explains=("diverges", "learns nothing"),
            )


SMALL = 1 << 16  # elements
CLEARS = ("zero", "fill")


class Unused(Rule):
    """Most passes are cleared before any step uses them: the step stands outside of the loop over batches.

    Meaning: a pass whose gradient nobody uses is work for nothing.
    Fires: when at least three of four passes that reached nothing but parameters of optimizers were cleared before a
    step of any optimizer, eight or more of them, in at least two steps. Passes within a step, by its closure, are not
    counted: the optimizer uses them. Nor are those of a line from when, after its pass, an op but clipping and clearing
    read one of the first eight gradients that has 65,536 elements or fewer, or a number was taken out of it.
    Wrong if: the gradients themselves are read by other means, as by NumPy.
    Healthy programs tried: accumulation, adversarial examples (their passes reach the input), a generator's pass that
    leaves gradients in a discriminator, gradients by `grad`, L-BFGS, squares of gradients that are added up, line
    searches and gradients that are kept, compared or projected before a step.
    """

    name, title, certainty, severity = "unused", "passes that no step uses", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.passes = self.wasted = self.steps = 0
        self.open = 0  # passes since the newest clearing
        self.place: Any = None
        # of the newest pass: its line, gradients, clippings and values before
        self.left: tuple[Any, list[Any], int, int] = (None, [], 0, 0)
        self.read: set[Any] = set()  # lines of passes whose gradients are read

    def at_pass(self, p: Any) -> None:
        """Whether what the passes before left is cleared by now."""
        line, grads, clips, since = self.left
        self.left = None, [], 0, 0
        if grads and self._reads(grads, clips, since):
            self.read.add(line)
        known = [one.held for one in self.ev.ledgers.values()]
        mine = [v for v in p.leaves if any(id(v) in held for held in known)]
        if not p.accumulates or len(mine) < len(p.leaves) or not mine or self.ev.in_step:
            self.open = 0
            return
        if p.place in self.read:
            self.open = 0
            return
        if self.open and all(v._grad is None or not v._grad._data.any() for v in mine[:8]):
            self.wasted += self.open
            self.open = 0
        self.open += 1
        self.passes += 1

    def at_end(self, p: Any) -> None:
        """The gradients that a pass has left."""
        if self.open and p.accumulates and p.place not in self.read:
            grads = [v._grad._data for v in p.leaves[:8] if v._grad is not None]
            small = [
                d for d in grads if getattr(d, "size", SMALL + 1) <= SMALL
            ]  # they live on until the next pass
            self.left = p.place, small, len(self.ev.clips), self.ev.seq

    def _reads(self, grads: list[Any], clips: int, since: int) -> bool:
        """Whether ops, but those of a clipping, read gradients, or something was taken out of them.

        Args:
            grads: their arrays.
            clips: clippings before.
            since: the newest value before.
        """
        ev = self.ev
        if len(ev.clips) != clips:
            return False
        entered = {id(d) for d in grads if (v := ev.table.get(id(d))) is not None and v.data is d}
        if not entered:
            return False
        reads = []
        for v in reversed(ev.values):
            if v.seq <= since:
                break
            reads += [v.op.strip("_") for x in v.parents if id(x.data) in entered]
        return not reads or any(op not in CLEARS for op in reads)

    def at_step(self, ledger: Ledger) -> None:
        """What is there is used."""
        self.open = 0
        self.left = None, [], 0, 0
        self.steps += 1
        self.place = ledger.step_place

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        if self.steps < 2 or self.wasted < 8 or self.wasted < 0.75 * self.passes:
            return
        yield self.found(
            f"{self.wasted} of {self.passes} backward passes are cleared before any step uses them.",
            self.place,
            "comes too seldom",
            related=self.lines((None if self.ev.last is None else self.ev.last.place, "a pass")),
            proof=[
                ("passes", self.passes),
                ("cleared unused", self.wasted),
                ("steps", self.steps),
            ],
            confirm=("a count of backward() and of step()", f"{self.passes} and {self.steps}"),
            unless="the gradients are read for themselves.",
            advice="Put the step into the loop over batches, right after the backward pass.",
            weight=7.0,
            explains=("learns nothing", "too small", "joins older"),
        )


class ByHand(Rule):
    """A hand-written update uses gradients that were never cleared: they are the sum of all passes.

    Meaning: see `UsedTwice`; without an optimizer it is the program that has to clear.
    Fires: when in four passes or more, and half of all after the first, a parameter that no optimizer holds had been
    changed by the program since the pass before, and still held the gradient of that pass, untouched and not 0.
    Wrong if: a sum is wanted; then it is scaled, which is seen.
    Healthy programs tried: `grad.zero_()`, `grad = None`, momentum by hand over a copy, gradients by `grad`.
    """

    name, title, certainty, severity = "used twice by hand", "updates by hand", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.marks: dict[
            int, tuple[Any, Any, int, int]
        ] = {}  # gradient, its memory's version, of the parameter
        self.times: dict[int, list] = {}
        self.passes = 0

    def at_pass(self, p: Any) -> None:
        """Whether a gradient that was used is still there."""
        held = [one.held for one in self.ev.ledgers.values()]
        if not p.accumulates:
            return
        self.passes += 1
        for v in p.leaves[:32]:
            if any(id(v) in one for one in held):
                continue
            mark, g = self.marks.get(id(v)), v._grad
            if mark is None or g is None or mark[0] is not g or mark[1] != version_of(g):
                continue
            if mark[2] == self.ev.hand.get(id(v), 0) or not g._data.any():
                continue
            self.times.setdefault(id(v), [v, 0])[1] += 1

    def at_end(self, p: Any) -> None:
        """What is there after a pass."""
        if p.accumulates:
            for v in p.leaves[:32]:
                g = v._grad
                if g is not None:
                    self.marks[id(v)] = (g, version_of(g), self.ev.hand.get(id(v), 0), 0)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        guilty = [(v, n) for v, n in self.times.values() if n >= 4 and n >= 0.5 * (self.passes - 1)]
        if not guilty:
            return
        v, most = guilty[-1]
        write = self.ev.writes.get(id(v))
        named = self.ev.name_of(v) or "parameter"
        yield self.found(
            f"{named}.grad is never cleared: each update uses the gradients of all passes before it.",
            write[1] if write is not None else self.ev.last_place,
            "uses old ones again",
            related=self.lines((self.ev.last_place, "adds to them")),
            proof=[("passes", self.passes), ("that found a gradient already used", most)],
            confirm=(f"{named}.grad before backward()", "not None, not 0"),
            unless="sums over steps are wanted.",
            advice=f"Clear it after the update: {named}.grad = None.",
            weight=5.0,
            explains=("diverges", "learns nothing"),
        )


class MadeAnew(Rule):
    """An optimizer is made anew over and over for the same parameters: what it remembers is lost each time.

    Meaning: momentum, and Adam's means, are gathered over many steps of one optimizer.
    Fires: when one line made four optimizers or more for the same parameters, each of which stepped, ten times or
    fewer, none is an SGD without momentum, and the program did not write those parameters.
    Wrong if: each is for another task, as in learning to learn; then the parameters are written in between.
    Healthy programs tried: a new model and optimizer for each fold, a second stage with its own optimizer.
    """

    name, title, certainty, severity = "made anew", "optimizers that are made in a loop", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        by: dict[Any, list[Ledger]] = {}
        for ledger in self.ev.ledgers.values():
            group = ledger.optimizer.param_groups[0]
            plain = type(ledger.optimizer).__name__ == "SGD" and not group.get("momentum")
            if ledger.place is not None and ledger.steps and not plain:
                first = next(iter(ledger.held), 0)
                by.setdefault((ledger.place, first, len(ledger.held)), []).append(ledger)
        for (place, _, _), made in by.items():
            if len(made) < 4 or max(one.steps for one in made) > 10:
                continue
            if any(id(h.tensor._data) in self.ev.written for h in made[0].each):
                continue
            kind = type(made[0].optimizer).__name__
            yield self.found(
                f"{kind} is made anew {len(made)} times for the same parameters: what it remembers is lost each time.",
                place,
                "made in the loop",
                related=self.lines((made[-1].step_place, "steps")),
                proof=[
                    ("optimizers made", len(made)),
                    ("most steps of one", max(one.steps for one in made)),
                ],
                confirm=("len(opt.state) right before a step", "0"),
                unless="each is for another task.",
                advice="Make it once, before the loop.",
                weight=5.0,
                explains=("too small", "learns nothing"),
            )


class Kept(Rule):
    """Results are kept in a list with their graphs, and the list grows: memory grows with every step.

    Meaning: a tensor that has a history keeps all that it was computed from.
    Fires: when in three looks, within the first 64 turns, a list of the program had grown since it was looked at
    before, its oldest member was still the same, and the oldest and the newest are tensors with a history.
    Wrong if: they are all needed for one pass at the end.
    Healthy programs tried: lists of numbers and of detached tensors, outputs of one pass that are stacked and let go,
    log-probabilities of an episode, replay memories without history.
    """

    name, title, certainty, severity = "kept", "results kept with their graphs", EXACT, DOUBTFUL

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[
            str, list
        ] = {}  # by name: [list, its oldest member, length, looks in which it had grown, file]

    def at_look(self, p: Any) -> None:
        """Look at the lists of the frames that run."""
        if not 1 < p.turn < 64 or not p.accumulates:
            return
        frame: Any = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if kind_of(code.co_filename) == OUTSIDE:
                found = dict(frame.f_locals)
                if code.co_name == "<module>" or frame.f_back is None or not found:
                    found = {**frame.f_globals, **found}
                for name, value in list(found.items())[:SCANNED]:
                    if not name.startswith("__"):
                        self._look(name, value, code.co_filename, 2)
                found.clear()
            frame = frame.f_back

    def _look(self, name: str, value: Any, file: str, deep: int) -> None:
        if isinstance(value, list):
            if len(value) >= 2 and _graphed(value[0]) and _graphed(value[-1]):
                entry = self.seen.get(name)
                if entry is None or entry[0] is not value or entry[1] is not value[0]:
                    self.seen[name] = [value, value[0], len(value), 0, file]
                elif len(value) > entry[2]:
                    entry[2] = len(value)
                    entry[3] += 1
        elif deep and isinstance(value, dict) and len(value) <= 32:
            for key, inner in value.items():
                self._look(f"{name}[{key!r}]", inner, file, deep - 1)
        elif deep == 2 and name == "self":
            for own, inner in list(vars(value).items() if hasattr(value, "__dict__") else ())[:64]:
                if not own.startswith("_"):
                    self._look(f"{name}.{own}", inner, file, deep - 1)

    def findings(self) -> Iterator[Finding]:
        """Say which list, and where it is added to."""
        for name, (value, _, _, looks, file) in self.seen.items():
            if looks < 3:
                continue
            yield self.found(
                f"{name} keeps {len(value)} results with their graphs: memory grows with every step.",
                _appends(file, name),
                "keeps the graph",
                layer=name,
                proof=[("members with a history", len(value)), ("looks in which it had grown", looks)],
                confirm=(f"{name}[0].grad_fn", "a node, where a number was meant"),
                unless="all of them are needed for one pass at the end.",
                advice="Keep the number, by .item(), or the values, by .detach().",
                weight=3.0,
            )
            return


def _graphed(x: Any) -> bool:
    """Whether a thing is a tensor with a history."""
    return hasattr(type(x), "_node") and x._node is not None


def _appends(file: str, name: str) -> Line | None:
    """The line that adds to a list."""
    tree = tree_of(file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = ast.unparse(node.func.value)
            if node.func.attr in ("append", "extend", "insert") and target == name:
                text = linecache.getline(file, node.lineno).strip()
                return Line(file, node.lineno, "<module>", text, cell_of(file))
    return None


RULES = (LeftOver, Unused, ByHand, MadeAnew, Kept)
