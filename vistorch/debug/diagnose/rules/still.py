"""What stays and should not: a loss of 0, weights that an update leaves alone, targets and states of another batch.

Invariant: equal means equal in every element.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....engine.base.events import where
from ...lineage import SHAPED, beyond
from ..finding import EXACT, LINEAGE, WRONG, Finding
from ..heads import array
from .base import Counting, Rule
from .data import PICKS, indices, picked

FIRST = 4  # looks


class ZeroLoss(Rule):
    """The loss is exactly 0 from the first step on: it compares a thing with itself, or takes nothing in.

    Meaning: a network that has learned nothing is wrong by something.
    Fires: when the loss of the first four passes that were looked at, and of all later ones, is 0, and a comparison
    is part of it whose prediction has a gradient.
    Wrong if: the model begins as the answer.
    Healthy programs tried: losses that come to 0, hinges that are met later, penalties beside other terms, tables
    of values in which nothing is won at first.
    """

    name, title, certainty, severity = "zero loss", "losses of 0", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.looks, self.zero, self.place = 0, True, None

    def at_look(self, p: Any) -> None:
        """Look at the loss."""
        cached = self.ev.heads_of
        if not self.zero or p.root is None or not p.accumulates or p.loss is None:
            return
        if p.loss != 0:
            self.zero = False
            return
        if cached is not None and cached[0] == (id(p.root), p.number) and cached[1]:
            self.looks += 1
            self.place = cached[1][0].value.place

    def findings(self) -> Iterator[Finding]:
        """Say where it compares."""
        if self.zero and self.looks >= FIRST and not any(loss for _, loss, _ in self.ev.losses):
            yield self.found(
                "The loss is 0 from the first step on: what it compares is the same.",
                self.place,
                "compares the same",
                proof=[("looks", self.looks), ("loss in all of them", 0)],
                confirm=("loss.item()", "0.0"),
                unless="the model begins as the answer.",
                advice="Compare the prediction with the target.",
                weight=7.0,
                explains=("learns nothing", "too small"),
            )


class NotWritten(Counting):
    """An update by hand computes new weights and writes them nowhere.

    Meaning: `w = w - lr * g` gives a name to a new tensor; the old one, which the model uses, stays as it is.
    Fires: when in eight looks or more, and without an optimizer that steps, a value of a parameter minus something
    was computed without a history, of its shape, and that parameter, which passes reach, is in the end what it was.
    Wrong if: the weights are only tried out.
    Healthy programs tried: updates in place, `copy_`, `.data`, lists of new parameters, gradients that are read.
    """

    name, title, certainty, severity = "not written", "updates that are not written", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Look for updates among the newest values."""
        if not p.accumulates or any(one.steps for one in self.ev.ledgers.values()):
            return
        for v in self.ev.values[-2000:]:
            if (
                v.op in ("sub", "add", "sub_scaled", "add_scaled")
                and not v.needs
                and not v.grad
                and v.parents
            ):
                leaf = beyond(v.parents[0], SHAPED | {"detach", "data"}).tensor
                if leaf is not None and id(leaf) in self.ev.reached and v.shape == tuple(leaf.shape):
                    self.times.setdefault(v.place, [set(), leaf, _print(leaf)])[0].add(p.number)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (passes, leaf, before) in self.times.items():
            untouched = before == _print(leaf)
            if len(passes) < 8 or not untouched or self.ev.reached[id(leaf)][1] < 8:
                continue
            named = self.ev.name_of(leaf) or "The parameter"
            yield self.found(
                f"{named} is never changed: this line computes new values and writes them nowhere.",
                place,
                "makes a new tensor",
                layer=self.ev.name_of(leaf),
                proof=[("passes that reached it", self.ev.reached[id(leaf)][1]), ("writes to it", 0)],
                confirm=("the parameter before and after", "the same numbers"),
                unless="the weights are only tried out.",
                advice="Write in place, under no_grad: w -= lr * w.grad, or w.copy_(...).",
                weight=7.0,
                explains=("learns nothing", "too small"),
            )
            return


def _print(leaf: Any) -> int:
    """What tells that a parameter has changed."""
    return hash(np.ascontiguousarray(leaf._data).reshape(-1)[:4096].tobytes())


class OneStays(Rule):
    """Inputs change from batch to batch, and the targets they are compared with are always those of one batch.

    Meaning: the targets of a batch belong to its inputs; a name of an earlier loop still holds those of another.
    Fires: when in four looks or more, and in all, what the model was given was picked out of more rows and was
    another in four of them, while the targets of the only comparison, eight or more, of several values, not in rising
    order and not each row of as many scores once, were the same; or the other way round.
    Wrong if: one answer for all batches is wanted.
    Healthy programs tried: positions as targets, labels of real and generated, full batches with noise, prototypes,
    partners among the rows of a batch.
    """

    name, title, certainty, severity = "one stays", "targets of another batch", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: tuple[set[int], set[int]] = (set(), set())
        self.looks, self.place, self.other, self.rows = 0, None, None, [False, False]

    def at_look(self, p: Any) -> None:
        """Take prints of both."""
        cached = self.ev.heads_of
        if p.root is None or not p.accumulates or self.looks > 64 or not p.turn:
            return
        if cached is None or cached[0] != (id(p.root), p.number) or len(cached[1]) != 1:
            return
        head, fed = cached[1][0], self.ev.fed(p)
        y, x = array(head.target), array(fed[0]) if len(fed) == 1 else None
        if y is None or x is None or head.target is None or head.target.needs or y.size < 8:
            return
        flat = y.reshape(-1)
        if bool((flat[1:] >= flat[:-1]).all()) or x.ndim < 2 or len(x) < 4:
            return
        rows = np.arange(len(flat))
        if head.prediction.shape == (len(flat), len(flat)) and np.array_equal(np.sort(flat), rows):
            return  # each row asks for another: these are rows of the batch, and no answers
        self.looks += 1
        for seen, d in zip(self.seen, (x, y), strict=True):
            seen.add(hash((d.shape, d.reshape(-1)[:4096].tobytes())))
        self.rows[0] |= picked(fed[0])
        self.rows[1] |= picked(head.target)
        self.place, self.other = head.value.place, p.calls[-1].place if p.calls else None

    def findings(self) -> Iterator[Finding]:
        """Say which."""
        inputs, targets = (len(seen) for seen in self.seen)
        if self.looks < FIRST or max(inputs, targets) < FIRST:
            return
        stays = (targets == 1 and self.rows[0]) or (inputs == 1 and self.rows[1])
        if not stays or min(inputs, targets) != 1:
            return
        what, others = ("targets", "inputs") if targets == 1 else ("inputs", "targets")
        yield self.found(
            f"The {what} are the same in each batch, and the {others} are others: they do not belong together.",
            self.place if targets == 1 else self.other,
            "those of one batch",
            proof=[
                ("looks", self.looks),
                (f"different {what}", 1),
                (f"different {others}", max(inputs, targets)),
            ],
            confirm=(f"the {what} of two batches", "the same numbers"),
            unless="one answer for all batches is wanted.",
            advice=f"Take the {what} of this batch.",
            weight=6.0,
            explains=("unrelated", "learns nothing", "too small", "one class", "mean"),
        )


class CarriedOver(Rule):
    """A recurrent layer begins a batch with the state that another batch has left, and batches are drawn at random.

    Meaning: a state is the past of a sequence; the past of another sequence tells nothing.
    Fires: when in four looks and more, and in all but the first, a layer that runs over time was given a state that
    is no parameter, is not 0, and was there before the turn began, and the sequences are picked by a shuffled loader
    or by random rows.
    Wrong if: all rows are parts of one long sequence that goes on with each batch.
    Healthy programs tried: states carried through a long text in order, states of 0, learned states, random states.
    """

    name, title, certainty, severity = "carried over", "states of other batches", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.turns: dict[int, list] = {}  # by layer: turns with a state of before, other turns, layer, place
        self.random = False

    def at_timed(self, module: Any, args: tuple) -> None:
        """Whether its state is older than this turn."""
        ev = self.ev
        if not ev.turn or not module.training:
            return
        entry = self.turns.setdefault(id(module), [set(), set(), module, None])
        state: Any = args[1] if len(args) > 1 else None
        state = state[0] if isinstance(state, (tuple, list)) and state else state
        d = getattr(state, "_data", None)
        if not isinstance(d, np.ndarray):
            entry[1].add(ev.turn)
            return
        known = ev.table.get(id(d))
        older = known is None or (known.data is d and not known.ins and known.place is None)
        older = older and not state._rg and state._node is None and bool(d.any())
        entry[0 if older else 1].add(ev.turn)
        entry[3] = where(2)

    def at_look(self, p: Any) -> None:
        """How the batch was picked."""
        if not self.turns or self.random:
            return
        loader = self.ev.loaders[-1][0] if self.ev.loaders else None
        shuffled = type(getattr(loader, "sampler", None)).__name__ == "RandomSampler"
        self.random = shuffled or any(self._rows(x) for x in self.ev.fed(p))

    @staticmethod
    def _rows(v: Any) -> bool:
        """Whether rows were picked by indices that are not in order."""
        for _ in range(24):
            index = indices(v) if v.op.startswith("index") or v.op in PICKS else None
            if index is not None and index.ndim == 1 and len(index) > 3:
                return bool((np.diff(index) < 0).any())
            if not v.parents:
                return False
            v = v.parents[0]
        return False

    def findings(self) -> Iterator[Finding]:
        """Say which layer."""
        for older, others, module, place in self.turns.values():
            if not self.random or len(older) < FIRST or len(others) > 1:
                continue
            yield self.found(
                f"{self.ev.module_name(module) or type(module).__name__} begins each batch with the state that "
                "another batch has left, and batches are drawn at random.",
                place,
                "another's state",
                layer=self.ev.module_name(module),
                proof=[("looks", len(older)), ("in which it began anew", len(others))],
                confirm=("h.abs().sum() before the first step of a batch", "not 0"),
                unless="all rows are parts of one long sequence.",
                advice="Begin each batch with a state of 0, or keep the batches in order.",
                weight=5.0,
            )
            return


RULES = (ZeroLoss, NotWritten, OneStays, CarriedOver)
