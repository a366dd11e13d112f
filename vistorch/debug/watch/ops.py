"""Listener for ops while the model is called apart from training: there is no graph to read labels from.

The op that showed the labels of one batch shows those of the next; after it the listener is off until the model is
called again, so that the loading of data and what a loop counts for itself run as fast as ever.
Invariant: one batch is counted once, from its loss if it has one, else from the comparison with its labels.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any

from ...engine.base.events import Listener, listeners
from .loss_inputs import CLASSES, DISTANCES, VALUES, LossInputs, sight_of_op, values_of

LOSS, COMPARED = "loss", "compared"
PATIENCE = 32  # batches without labels, before it stops listening until another loader begins
_looks: dict[str, str] = {}  # by name of a row: the method that looks at it, "" for most


def _look_of(name: str) -> str:
    if name.startswith(("nll_loss", "binary_cross_entropy")) and "backward" not in name:
        return "_loss"
    if name in DISTANCES:
        return "_loss"
    return {"sub": "_difference", "eq": "_compared", "argmax_at": "_argmax", "max_dim": "_argmax"}.get(
        name, ""
    )


class Ops(Listener):
    """Listens to ops apart from training: to a loss, or a comparison of an argmax with labels."""

    def __init__(self, listener: Any) -> None:
        self.listener = listener
        self.current: LossInputs | None = None
        self.chosen: list[tuple[Any, Any]] = []  # (scores, indices) of the newest argmax
        self.inside = self.chosen_inside = False  # whether the root is being called; and was, at that argmax
        self.outside = False  # whether the labels of the newest batch were seen outside the root
        self.by = self.before = (
            ""  # what showed the labels of the newest batch, and of the one before: LOSS, COMPARED
        )
        self.missed = 0  # batches in a row whose labels were not seen
        self.muted = False

    def __enter__(self) -> Any:
        """Start to listen."""
        self.current, self.chosen, self.outside = None, [], False
        self.by, self.before, self.missed, self.muted = "", "", 0, False
        return super().__enter__()

    def next(self) -> LossInputs | None:
        """Another batch begins: give what is known of the last."""
        sight, self.current = self.current, None
        self.before, self.by = self.by, ""
        if sight is None:
            self.outside = False
            self.missed += 1
            if self.missed == PATIENCE:
                self.__exit__()
        else:
            self.missed = 0
        return sight

    def idle(self) -> bool:
        """Whether nothing inside the root is of interest, and there is no other listener to ops."""
        if self.missed >= PATIENCE:
            return listeners.op is None
        return self.outside and (listeners.op == self.op or (self.muted and listeners.op is None))

    def again(self) -> None:
        """Listen on."""
        self.muted = False
        if listeners.op is None and self.missed < PATIENCE:
            listeners.op = self.op

    def afresh(self) -> None:
        """Other data comes: listen, if that was given up."""
        if self.missed >= PATIENCE:
            self.missed = 0
            super().__enter__()

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Look for labels."""
        name = rule.name
        look = _looks.get(name)
        if look is None:
            look = _looks[name] = _look_of(name)
        if not look:
            self.listener.budget.calls += 1
        elif get_ident() == self.listener.thread:
            self.listener.guarded(getattr(self, look), name, ins, consts, outs)

    def _loss(self, name: str, ins: tuple, consts: tuple, outs: tuple) -> None:
        sight = sight_of_op(name, ins)
        if sight is not None:
            if sight.kind == VALUES and self.listener.compared.swapped:
                sight.scores, sight.target = sight.target, sight.scores
            if sight.kind == CLASSES and consts and isinstance(consts[0], int):
                sight.ignore = consts[0]
            sight.value = outs[0]._data
            self.take(sight, LOSS)

    def _difference(self, name: str, ins: tuple, consts: tuple, outs: tuple) -> None:
        """The root's output less a target, where that is what training does by hand."""
        hand = self.listener.compared.hand
        last = self.listener.last if hand and self.current is None and not self.inside else None
        if last is None or len(ins) < 2:
            return
        for one, other in (ins[:2], ins[1::-1]):
            if not hasattr(one, "_data") or not hasattr(other, "_data") or one._place is not other._place:
                continue
            if one._data.size == last.size and same_memory(one._data, last):
                sight = values_of(hand, one._data, other._data, one._place)
                if sight is not None:
                    self.take(sight, LOSS)
                return

    def _argmax(self, name: str, ins: tuple, consts: tuple, outs: tuple) -> None:
        scores, index = ins[0]._data, outs[-1]
        if scores.ndim == 2 and scores.shape[0] == index._data.size:
            self.chosen, self.chosen_inside = [(ins[0], index)], self.inside

    def _compared(self, name: str, ins: tuple, consts: tuple, outs: tuple) -> None:
        if self.current is not None or not self.chosen:
            return
        scores, index = self.chosen[0]
        for one, other in (ins[:2], ins[1::-1]):
            if not hasattr(one, "_data") or not hasattr(other, "_data"):
                continue
            if _same_memory(one, index) and other._data.size == index._data.size:
                target = other._data.reshape(-1)
                if target.dtype.kind in "iu":
                    sight = LossInputs(CLASSES, scores._data, target, scores._place)
                    self.take(sight, COMPARED, self.chosen_inside)
                return

    def take(self, sight: LossInputs, by: str, chosen_inside: bool = False) -> None:
        """Count this as what is known of the batch at hand.

        Args:
            sight: the batch.
            by: what it is known by: LOSS or COMPARED.
            chosen_inside: whether its argmax was taken inside the root.
        """
        progress = self.listener.progress
        sight.step, sight.epoch = progress.step, progress.epoch
        if sight.logs:  # what the loop computed for itself, it may overwrite
            sight.scores = sight.scores.copy()
        self.listener.dress(sight)
        self.current, self.by = sight, by
        self.outside = not self.inside and not chosen_inside
        if by == self.before and not self.inside and listeners.op == self.op:
            listeners.op, self.muted = None, True


def _same_memory(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return a._place is b._place and same_memory(a._data, b._data)


def same_memory(x: Any, y: Any) -> bool:
    """Whether two arrays begin at the same place and have as many elements.

    Args:
        x: an array.
        y: another of the same device.
    """
    if x.size != y.size:
        return False
    if hasattr(x, "__array_interface__"):
        return x.__array_interface__["data"] == y.__array_interface__["data"]
    return x.data.ptr == y.data.ptr
