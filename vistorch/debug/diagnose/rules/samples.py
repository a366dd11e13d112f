"""What samples hold: fractions that are cut off, pictures that are moved without their maps, gradients left unused.

Invariant: of arrays, those of the turn that is looked at and those from before the loop; nothing is kept of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import Value, ancestors
from ..evidence import LAYERS
from ..finding import LINEAGE, WRONG, Finding
from ..heads import array
from .base import Counting

WHOLE = {
    "cast": "brought to whole numbers",
    "floor_divide": "divided to whole numbers",
    "trunc": "cut to whole numbers",
}
WHOLE |= {"floor": "rounded down", "round": "rounded"}
MOVES = {"flip": "flipped", "fliplr": "flipped", "flipud": "flipped", "roll": "rolled", "rot90": "turned"}
KINDS = 8  # different numbers that something worth keeping has
LOOKS = 2


class FractionsCut(Counting):
    """Numbers between 0 and 1 are brought to whole numbers on their way to the model or the loss: nearly all are one.

    Meaning: `long()`, `int()` and `//` cut fractions off; 0.7 becomes 0.
    Fires: when in two looks something that a model was given, or a loss asked for, came, before any model, through a
    cast to whole numbers, a whole division, or a rounding, of 16 numbers or more, eight of them different, and 98 of
    100 results are one number.
    Wrong if: few are meant to stand out.
    Healthy programs tried: indices, classes and bins made of real numbers, thresholds, pixels divided by 255.
    """

    name, title, certainty, severity = "fractions cut", "numbers that are made whole", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Walk back from what the model was given and the loss asks for."""
        if p.root is None or not p.accumulates:
            return
        cached = self.ev.heads_of
        asked = (
            [h.target for h in cached[1]]
            if cached is not None and cached[0] == (id(p.root), p.number)
            else []
        )
        for start in [*self.ev.fed(p), *(t for t in asked if t is not None and not t.needs)]:
            for v in itertools.islice(ancestors(start), 64):
                if v.op in WHOLE and v.parents and self._flat(v) and not _modelled(v):
                    self.times.setdefault((v.place, v.op), [0, v.shape])[0] += 1
                    break
                if v.model is not None or v.needs:
                    break

    @staticmethod
    def _flat(v: Value) -> bool:
        before, after = array(v.parents[0]), array(v)
        if before is None or after is None or after.size < 16 or before.shape != after.shape:
            return False
        if v.op == "cast" and not (before.dtype.kind == "f" and after.dtype.kind in "iu"):
            return False
        before, after = before.reshape(-1)[:4096], after.reshape(-1)[:4096]
        if not np.isfinite(before).all() or len(np.unique(before)) < KINDS:
            return False
        return float(np.unique(after, return_counts=True)[1].max()) >= 0.98 * after.size

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, op), (times, shape) in self.times.items():
            if times >= LOOKS:
                yield self.found(
                    f"What is {WHOLE[op]} here loses all that it holds: nearly all of the results are one number.",
                    place,
                    "cuts fractions off",
                    proof=[("looks", times), ("shape", " × ".join(map(str, shape)) or "()")],
                    confirm=("the numbers before and after, .unique()", "many, and one or two"),
                    unless="few are meant to stand out.",
                    advice="Keep them as floats: .float(), / instead of //.",
                    weight=6.0,
                    explains=("learns nothing", "one class", "unrelated", "too small", "mean", "big start"),
                )


def _modelled(v: Value) -> bool:
    """Whether a model, or a parameter, has a part in a value."""
    return any(a.model is not None or a.needs for a in itertools.islice(ancestors(v), 64))


class MovedApart(Counting):
    """Pictures are flipped, rolled or turned, and the maps that are asked for stay as they are.

    Meaning: a target that has a value for each place of a picture must be moved with it.
    Fires: when in two looks the input of a model went through a flip, a roll or a turn of its last two axes, all of
    it or some of its samples, the target of the only comparison has the same last two axes and went through none, and
    neither did what the model gave.
    Wrong if: the answer does not depend on where things are.
    Healthy programs tried: both moved by one draw, classes of moved pictures, answers that are moved back.
    """

    name, title, certainty, severity = "moved apart", "pictures moved without their maps", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Compare the ways of input and target."""
        cached = self.ev.heads_of
        if p.root is None or not p.accumulates or len(p.calls) != 1 or p.calls[0].inputs is None:
            return
        if cached is None or cached[0] != (id(p.root), p.number) or len(cached[1]) != 1:
            return
        head, x = cached[1][0], self.ev.of(p.calls[0].inputs)
        y = head.target
        if y is None or y.needs or len(x.shape) < 3 or len(y.shape) < 2 or x.shape[-2:] != y.shape[-2:]:
            return
        moved = self._moves(x)
        if not moved or self._moves(y):
            return
        for v in ancestors(head.prediction, lambda v: v.model is None):
            if v.op in MOVES:
                return
        self.times.setdefault((moved[0].place, moved[0].op), [0])[0] += 1

    @staticmethod
    def _moves(v: Value) -> list[Value]:
        """The moves of the last two axes that a value went through, before any layer."""
        found = []
        for a in itertools.islice(ancestors(v, lambda a: a.op not in LAYERS), 2000):
            if a.op in MOVES and len(a.shape) >= 2:
                found.append(a)
        return found

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, op), (times,) in self.times.items():
            if times >= LOOKS:
                yield self.found(
                    f"Inputs are {MOVES[op]} here, and the maps that are asked for are not: places no longer fit.",
                    place,
                    "moves one",
                    proof=[("looks", times)],
                    confirm=("a picture beside its target", "one of them is moved"),
                    unless="the answer does not depend on where things are.",
                    advice="Draw once, and move both.",
                    weight=6.0,
                    explains=("learns nothing", "unrelated", "too small"),
                )


class GradientsUnused(Counting):
    """Gradients are taken with their own history, and nothing that is trained is computed from them.

    Meaning: `create_graph=True` keeps the way back through a gradient: for a penalty on it, or for adapted weights.
    Fires: when in three looks, and all in which there were any, gradients that have a history were taken in the turn
    of a pass, those apart of which a number was taken out, and none of them is part of its loss.
    Wrong if: they are looked at alone.
    Healthy programs tried: penalties on gradients, adapted weights of meta-learning, Hessians by hand, saliency.
    """

    name, title, certainty, severity = "gradients unused", "gradients with a history", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.used = False
        self.shown: set[int] = set()  # those that numbers were taken of, in this turn
        self.turn = 0
        self.places: set[Any] = set()  # where gradients are taken that are not gathered in `.grad`

    def at_pass(self, p: Any) -> None:
        """Gradients that are taken."""
        if not p.accumulates:
            self.places.add(p.place)

    def at_look(self, p: Any) -> None:
        """Whether the loss comes from them."""
        if self.used or not self.places or p.root is None or not p.accumulates:
            return
        taken = [v for v in self.ev.values if self._taken(v) and v.seq not in self.shown]
        if not taken:
            return
        mine = {id(v) for v in taken}
        for v in itertools.islice(ancestors(p.root), 8000):
            if id(v) in mine:
                self.used = True
                return
        cached = self.ev.heads_of
        heads = cached[1] if cached is not None and cached[0] == (id(p.root), p.number) else []
        place = max(heads, key=lambda h: h.value.seq).value.place if heads else p.root.place
        self.times.setdefault((place, taken[-1].place), [0, len(taken)])[0] += 1

    def at_taken(self, kind: str, value: Any, place: Any) -> None:
        """A number that comes of them is a use of its own."""
        if self.used or not self.places or not self.ev.looked:
            return
        if self.turn != self.ev.turn:
            self.shown, self.turn = set(), self.ev.turn
        for v in itertools.islice(ancestors(value), 400):
            if self._taken(v):
                self.shown.add(v.seq)

    def _taken(self, v: Value) -> bool:
        """Whether a value was computed, with a history, as gradients were taken."""
        return v.needs and v.place is not None and v.place in self.places

    def findings(self) -> Iterator[Finding]:
        """Say of which loss."""
        for (place, taken), (times, count) in self.times.items():
            if times >= 3 and not self.used:
                yield self.found(
                    "Gradients are taken with their history, and the loss is not computed from them.",
                    place,
                    "leaves them out",
                    also=(taken, "takes them"),
                    proof=[("looks", times), ("values of their history", count), ("of them in the loss", 0)],
                    confirm=("the loss without create_graph=True", "the same numbers"),
                    unless="they are looked at alone.",
                    advice="Compute the loss from what came of them: the adapted weights, or their penalty.",
                    weight=5.0,
                    explains=("too small",),
                )


RULES = (FractionsCut, MovedApart, GradientsUnused)
