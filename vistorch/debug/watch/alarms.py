"""The alarm: a loss, a gradient or a weight that is not finite, in a sentence, and the snapshot to go back to.

The loss is looked at in every step, gradients and weights now and then and when a run ends, so a sentence says "since"
of a loss and "first seen" of the others.
A loss that is finite and has grown far beyond what it was has left its course: that is an alarm too.
Invariant: nothing is held where nothing can answer: without a page that answers the loop goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

from ..numbers import bad_counts
from ..steps.words import count
from .changes import Changes
from .log import Log
from .model_probe import ModelProbe
from .origin import Origin
from .pending import Pending
from .progress import Progress
from .snapshots import Snapshots

NAMED = 3  # parameters that a sentence names
PATIENCE = 2.0  # seconds for a page to answer
COURSE = 12  # losses that say where a loss is
GROWN = 20.0  # times the first losses, and the lowest: it has left its course
BEFORE = 5  # losses before an alarm that are kept


def kind_of(value: float) -> str:
    """What a number that is not finite is: "NaN", "inf" or "-inf"."""
    return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"


def kind_in(d: Any) -> str:
    """What of an array is not finite; "" where all of it is."""
    nan, above, below = bad_counts(d)
    return "NaN" if nan else "inf" if above else "-inf" if below else ""


@dataclass
class Alarm:
    """Something that is not finite.

    Args:
        what: "loss", "validation loss", "gradient" or "weight".
        kind: "NaN", "inf", "-inf", or "diverged" of a loss that is finite and has left its course.
        step: where it was seen first.
        epoch: of that step; 0 where that is not known.
        name: of the parameter.
        cause: what is known of where it comes from, a sentence or "".
    """

    what: str
    kind: str
    step: int
    epoch: int
    name: str = ""
    cause: str = ""
    last: int = 0  # the newest step it was seen in
    times: int = 1
    over: int = 0  # the step at which the loss was finite again; 0 while it is not
    weights: list[str] = field(default_factory=list)  # the parameters that are not finite
    of: int = 0  # parameters in all
    snapshot: int | None = None  # the newest that is finite throughout
    none: str = ""  # why there is no such snapshot
    how: str = ""  # what the loop did: "paused", "on", "unanswered" or "" where nothing holds it
    at: int = 0  # the step the loop stands at
    origin: Origin | None = None  # where it was made
    before: list[float] = field(default_factory=list)  # the newest losses that were finite
    # of one that left it: from, to, the step it was at its lowest
    course: tuple[float, float, int] = (0.0, 0.0, 0)

    def __post_init__(self) -> None:
        self.last = self.at = self.step

    @property
    def now(self) -> bool:
        """Whether it lasts: the newest loss, or a weight, is not finite."""
        return not self.over or bool(self.weights)

    @property
    def subject(self) -> str:
        """What is not finite, as a sentence begins."""
        named = {"gradient": f"Gradient of {self.name}", "weight": f"Weight {self.name}"}
        return named.get(self.what, self.what.capitalize())

    @property
    def diverged(self) -> bool:
        """Whether all is finite, and the loss has left its course."""
        return self.kind == "diverged"

    @property
    def advice(self) -> str:
        """What to do where no op is to blame."""
        return "Rewind, and go on with a smaller learning rate, or clip gradients." if self.diverged else ""

    @property
    def word(self) -> str:
        """The same in two words: "loss NaN"."""
        if self.over and self.weights:
            return "weights not finite"
        return f"{self.what} {self.kind}"

    def say(self) -> str:
        """The sentence: what is not finite, and since when."""
        where = f"step {self.step:,}" + (f", epoch {self.epoch:,}" if self.epoch else "")
        if self.diverged:
            low, high, since = self.course
            times = f"it grew {high / low:,.0f}-fold in {count(self.step - since, 'step')}"
            say = f"Loss left its course: {times}, from {low:.3g} to {high:.3g}, by {where}."
            return say if not self.over else f"{say[:-1]}; it is back since step {self.over:,}."
        if self.over and self.what == "gradient":
            return f"{self.subject} held {self.kind} at {where}."
        if self.over:
            steps = f"at {where}" if self.times == 1 else f"in {self.times:,} steps from {where}"
            return f"{self.subject} was {self.kind} {steps}; it is finite again since step {self.over:,}."
        if self.what in ("gradient", "weight"):
            return f"{self.subject} holds {self.kind}, first seen at {where}."
        return f"{self.subject} is {self.kind} since {where}."

    def rest(self) -> str:
        """What became of the weights."""
        if self.weights:
            if len(self.weights) == self.of > 1:
                return f"None of {self.of:,} parameters is finite."
            named = ", ".join(self.weights[:NAMED]) + (" …" if len(self.weights) > NAMED else ".")
            of = f"{len(self.weights):,} of {count(self.of, 'parameter')}"
            return f"{of} {'is' if len(self.weights) == 1 else 'are'} not finite: {named}"
        return "All weights are finite." if self.of else ""

    def way(self) -> str:
        """What the loop did, and the way back."""
        did = {
            "paused": f"Paused by itself after step {self.at:,}. ",
            "on": f"Went on anyway after step {self.at:,}. ",
            "unanswered": "Not paused: no page answered. ",
        }.get(self.how, "")
        if self.snapshot is None:
            return did + (self.none or "There is no snapshot from before it to go back to.")
        undoes = self.at - self.snapshot if self.how == "paused" else 0
        back = f"; a rewind undoes {count(undoes, 'step')}" if undoes else ""
        return f"{did}Last good snapshot: step {self.snapshot:,}{back}."

    def wire(self) -> dict[str, Any]:
        """As it travels."""
        return {
            "what": self.what,
            "kind": self.kind,
            "name": self.name,
            "step": self.step,
            "epoch": self.epoch,
            "last": self.last,
            "over": self.over,
            "now": self.now,
            "word": self.word,
            "say": self.say(),
            "cause": self.cause,
            "rest": self.rest(),
            "way": self.way(),
            "weights": list(self.weights),
            "snapshot": self.snapshot,
            "how": self.how,
        }


@dataclass(eq=False)
class Alarms:
    """Looks for what is not finite."""

    progress: Progress  # where the loop is
    probe: ModelProbe  # the model
    pending: Pending  # the losses of the step at hand, and where norms wait
    snapshots: Snapshots  # those to go back to
    log: Log  # an alarm is a line of it
    changes: Changes  # learns what changed
    newest: Alarm | None = None
    raised: bool = False  # a new alarm waits for the next step boundary
    pauses: bool = False  # whether it holds the loop; a live panel sets it
    ask: Any = None  # asks what could let a held loop go on whether it is there
    answered: int = 0  # how often it was
    cause: str = ""  # of the pass that is under way
    origin: Origin | None = None  # likewise
    find: Callable[[list, tuple], Origin | None] | None = None  # finds where the loss of a pass was made
    first: list[float] = field(default_factory=list)  # the first losses
    recent: list[float] = field(default_factory=list)  # the newest that were finite
    low: tuple[float, int] = (math.inf, 0)  # the lowest median of the newest, and its step

    # ---- what was seen -----------------------------------------------------------------------------------------
    def in_pass(self, fed: Any, order: list | None = None, outputs: tuple = ()) -> None:
        """A pass starts from a loss that is not finite: say what is known of where that comes from.

        Args:
            fed: the array that the model was given; None where it is not known.
            order: the nodes of the pass, the newest first; None where they cannot be read.
            outputs: what it starts from.
        """
        if self.newest is not None and not self.newest.over and not self.newest.diverged:
            return
        self.origin = None
        bad = self.probe.not_finite()
        if bad:
            self.cause = "The weights were not finite before that step."
        elif fed is not None and (kind := kind_in(fed)):
            self.cause = f"The model was given a batch that holds {kind}."
        elif self.probe.model is not None:
            what = "Weights and batch" if fed is not None else "The weights"
            self.cause = f"{what} were finite: it came about in that forward pass."
            if order is not None and self.find is not None:
                self.origin = self.find(order, outputs)

    def losses(self, step: int, values: list[float]) -> None:
        """The losses of a step, where one is not finite or one before was not.

        Args:
            step: the step.
            values: of its passes.
        """
        bad = next((x for x in values if not math.isfinite(x)), None)
        newest = self.newest
        lasts = newest is not None and newest.now and not newest.diverged
        if bad is None:
            if newest is None or newest.diverged:
                return
            if newest.what == "loss" and not newest.over and step > newest.last:
                newest.over = step
        elif lasts and newest is not None and newest.what == "loss" and not newest.over:
            newest.times += step > newest.last
            newest.last = max(step, newest.last)
        elif not lasts and not (newest is not None and newest.what == "loss" and step <= newest.over):
            # what is read at a refresh may have been looked at in its step, before it was over
            self._raise("loss", kind_of(bad), step, self.progress.epoch)

    def follow(self, losses: list[tuple[int, float]]) -> None:
        """Where the loss goes: whether it has left its course.

        Args:
            losses: of steps, (step, mean), that came since this was last called.
        """
        fine = [(step, x) for step, x in losses if math.isfinite(x)]
        if len(self.first) < COURSE:
            self.first += [x for _, x in fine[: COURSE - len(self.first)]]
        self.recent = (self.recent + [x for _, x in fine[-COURSE:]])[-COURSE:]
        if len(self.recent) < COURSE or len(self.first) < COURSE or not fine:
            return
        now, start, step = median(self.recent), median(self.first), fine[-1][0]
        if not self.low[1]:
            self.low = start, min(COURSE, step)
        newest, low = self.newest, self.low[0]
        if newest is not None and newest.diverged and not newest.over and now < GROWN / 2 * newest.course[0]:
            newest.over = step
        elif (
            (newest is None or newest.over)
            and min(self.first) > 0 < low
            and now > GROWN * low
            and now > 2 * start
            and min(self.recent) > start
        ):
            self._raise("loss", "diverged", step, self.progress.epoch).course = low, now, self.low[1]
        if now < self.low[0]:
            self.low = now, step

    def gradients(self, step: int, norms: list) -> None:
        """The norms of a step, of which at least one is not finite.

        Args:
            step: the step.
            norms: by parameter; None where there is no gradient.
        """
        lasts = self.newest is not None and self.newest.now
        if lasts or any(isinstance(x, float) and not math.isfinite(x) for x in self.pending.passes):
            return  # the loss of this step has its own alarm
        names = () if self.probe.sizes is None else self.probe.sizes.names
        for name, norm in zip(names, norms, strict=False):
            if norm is not None and not math.isfinite(norm):
                self._raise("gradient", kind_of(norm), step, self.progress.epoch, name)
                return

    def check(self, check: Any, loss: float) -> None:
        """The loss of a validation.

        Args:
            check: the validation.
            loss: its loss.
        """
        newest = self.newest
        own = newest is not None and newest.what == "validation loss"
        if not math.isfinite(loss):
            if newest is None or not newest.now:
                self._raise("validation loss", kind_of(loss), check.step, check.epoch)
        elif own and newest is not None and not newest.over:
            newest.over = check.step

    def _raise(self, what: str, kind: str, step: int, epoch: int, name: str = "") -> Alarm:
        cause, self.cause = self.cause if what == "loss" else "", ""
        origin, self.origin = self.origin if what == "loss" and kind != "diverged" else None, None
        if origin is not None:
            cause = origin.say()
        if what == "gradient":
            cause = "The loss is finite: it came about in the backward pass, or in what changed the gradient."
        self.newest, self.raised = Alarm(what, kind, step, epoch, name, cause, origin=origin), True
        self.newest.before = self.recent[-BEFORE:]
        return self.newest

    # ---- what is done about it ---------------------------------------------------------------------------------
    def act(self) -> bool:
        """Announce a new alarm at a step boundary; whether the loop is to be held."""
        self.raised, alarm, step, sizes = False, self.newest, self.progress.step, self.probe.sizes
        assert alarm is not None
        alarm.at = step
        self.look()
        if sizes is not None:  # the gradients of this step, which nobody may have looked at
            self.pending.norms.append((step, sizes.norms(self.pending.transfer)))
        what = f"alarm: {alarm.subject[0].lower()}{alarm.subject[1:]} {alarm.kind}"
        self.log.write(alarm.step, what, f"{alarm.cause} {alarm.rest()}".strip())
        self.changes.touch("log", "head", "snapshots", "findings")
        holds = self.pauses and self.progress.open
        alarm.how = "paused" if holds else ""
        return holds

    def is_answered(self, poll: Any, commands: Any) -> bool:
        """Whether a page is there that can let a held loop go on; a loop that nobody could is not held.

        Args:
            poll: looks for messages.
            commands: where commands wait.
        """
        if self.ask is None:
            return True  # a program that asked for pauses lets it go on by itself
        before, until = self.answered, perf_counter() + PATIENCE
        self.ask()
        while self.answered == before and not commands.waiting:
            if perf_counter() > until:
                return False
            poll(perf_counter())
            commands.wait()
        return True

    def goes_on(self, step: int) -> bool:
        """The held loop goes on; whether an alarm held it.

        Args:
            step: where it stands.
        """
        alarm = self.newest
        if alarm is None or alarm.how != "paused":
            return False
        alarm.how, alarm.at = "on", step
        return True

    def unanswered(self) -> None:
        """No page answered, so the loop was not held."""
        if self.newest is not None:
            self.newest.how = "unanswered"

    def look(self) -> None:
        """See which weights are finite, and which snapshot is."""
        alarm = self.newest
        if alarm is None:
            return
        alarm.weights = self.probe.not_finite()
        if alarm.what == "gradient" and not alarm.weights:
            alarm.over = alarm.step  # that step changed nothing for good
        alarm.of = self.probe.count()
        until = alarm.course[2] + 1 if alarm.diverged else alarm.step
        good = [s for s in self.snapshots.kept if s.step < until]
        whole = next((s for s in reversed(good) if s.finite()), None)
        alarm.snapshot = None if whole is None else whole.step
        if whole is not None:
            whole.asked = True  # it is not dropped for want of bytes
        elif self.snapshots.refused:
            alarm.none = f"No snapshot: {self.snapshots.refused}."
        elif good:
            alarm.none = "No snapshot from before it is finite."

    def end(self) -> None:
        """The run is over: see what the weights are in the end."""
        if self.newest is not None and self.newest.now:
            self.look()
            return
        step = self.progress.step
        bad = self.probe.not_finite() if step else []
        if bad:
            p = dict(self.probe.model.named_parameters())[bad[0]]
            d, place = self.probe.source.placed(p)
            with place:
                kind = kind_in(d)
            self._raise("weight", kind, step, self.progress.epoch, bad[0])
        if self.raised:
            self.act()

    def rewound(self, step: int) -> None:
        """The run goes back to a step: what came after it is not true any more."""
        self.recent = []
        if self.low[1] > step:
            self.low = math.inf, 0
        if self.newest is not None and self.newest.step > step:
            self.newest, self.raised = None, False
