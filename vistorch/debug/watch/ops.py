"""What is heard of ops while the model is called apart from training: there is no graph to read labels from.

Invariant: one batch is counted once, from its loss if it has one, else from the comparison with its labels.
"""

from __future__ import annotations

import threading
from typing import Any

from ...engine.events import Listener
from .reading import CLASSES, Sight, sight_of_op


class Ops(Listener):
    """Hears ops while the model is called apart from training: a loss, or a comparison of an argmax with labels."""

    def __init__(self, ear: Any) -> None:
        self.ear = ear
        self.current: Sight | None = None
        self.chosen: list[tuple[Any, Any]] = []  # (scores, indices) of the newest argmax
        self.inside = self.chosen_inside = False  # whether the root is being called; and was, at that argmax
        self.outside = False  # whether all that told of the newest batch was heard outside the root

    def __enter__(self) -> Any:
        """Start to listen."""
        self.current, self.chosen, self.outside = None, [], False
        return super().__enter__()

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Look for labels."""
        self.ear.budget.calls += 1
        name = rule.name
        if name == "eq":
            look = self._compared
        elif name in ("argmax_at", "max_dim"):
            look = self._argmax
        elif name.startswith(("nll_loss", "binary_cross_entropy")):
            look = self._loss
        else:
            return
        if threading.get_ident() == self.ear.thread:
            begun = self.ear.budget.begin()
            self.ear._guarded(look, name, ins, consts, outs)
            self.ear.budget.end("hear", begun)

    def _loss(self, name: str, ins: tuple, consts: tuple, outs: tuple) -> None:
        sight = sight_of_op(name, ins)
        if sight is not None:
            if sight.kind == CLASSES and consts and isinstance(consts[0], int):
                sight.ignore = consts[0]
            self._take(sight)

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
                    self._take(Sight(CLASSES, scores._data, target, scores._place))
                    self.outside = not self.inside and not self.chosen_inside
                return

    def _take(self, sight: Sight) -> None:
        sight.step, sight.epoch = self.ear.run.step, self.ear.run.epoch
        if sight.logs:  # what the loop computed for itself, it may overwrite
            sight.scores = sight.scores.copy()
        self.ear._dress(sight)
        self.current, self.outside = sight, not self.inside


def _same_memory(a: Any, b: Any) -> bool:
    if a is b:
        return True
    x, y = a._data, b._data
    if x.size != y.size or a._place is not b._place:
        return False
    if hasattr(x, "__array_interface__"):
        return x.__array_interface__["data"] == y.__array_interface__["data"]
    return x.data.ptr == y.data.ptr
