"""What a loss compares where its ops keep neither side: losses that say it themselves, and differences by hand.

A difference by hand is one of the root's output, which is why the node that made that output is remembered.
Invariant: nodes are held weakly, so nothing of a graph lives longer than the loop wants it to.
"""

from __future__ import annotations

import weakref
from typing import Any

from ...engine.core.graph import Leaf
from ...engine.memory.placement import CPU
from .loss_inputs import CLASSES, NEAR, LossInputs, by_hand, values_of
from .ops import same_memory

WORDS = 1 << 16  # whole numbers of a batch, at most, that are kept as what the model was given


class Compared:
    """What the root was given, what made its output, and the newest loss that said what it compares."""

    def __init__(self) -> None:
        self.given: Any = None  # the array the root was called with first
        self.by: Any = None  # the node that made its output, weakly
        self.newest: Any = None  # what a loss function compared, and its node, weakly
        self.swapped = False  # whether the loss that is trained on is given the target first
        self.hand, self.mean = (
            "",
            False,
        )  # a difference by hand that was trained on; whether its mean is the loss

    def begin(self, given: Any) -> None:
        """The root is called.

        Args:
            given: its first input, an array, or None.
        """
        self.given, self.by, self.newest = given, None, None

    def made(self, node: Any) -> None:
        """The root has returned what a node made; None without history."""
        self.by = None if node is None else weakref.ref(node)

    def by_loss(self, name: str, prediction: Any, target: Any, form: str) -> LossInputs | None:
        """A loss function says what it compared; None where that is no comparison of values.

        Args:
            name: of the function.
            prediction: a tensor.
            target: a tensor.
            form: "exp" where the prediction is a logarithm.
        """
        if target._rg != prediction._rg:
            self.swapped = target._rg
        if self.swapped:
            prediction, target = target, prediction
        if prediction._place is not target._place:
            return None
        sight = values_of(name, prediction._data, target._data, prediction._place)
        if sight is not None:
            sight.form, sight.swapped = form, self.swapped
        return sight

    def await_pass(self, sight: LossInputs, node: Any) -> None:
        """Keep what a loss function compared until a backward pass begins from its node."""
        self.newest = sight, weakref.ref(node)

    def of(self, order: list, last: Any) -> LossInputs | None:
        """A distance in a pass that no op names.

        Args:
            order: the nodes of the pass, the newest first.
            last: what the root returned, an array.
        """
        if self.newest is not None:
            sight, by = self.newest
            if (node := by()) is not None and any(node is one for one in order[:NEAR]):
                return sight
        if self.by is None:
            return None
        sight = by_hand(order, last, self.by())
        if sight is not None:
            self.hand, root = sight.name, order[0]
            self.mean = root.__class__ is not Leaf and root.rule is not None and root.rule.name == "mean_all"
        return sight

    def dress(self, sight: LossInputs) -> None:
        """Note of a batch what the model was given, where that tells what the loop is about.

        Args:
            sight: the batch.
        """
        given = self.given
        if given is None:
            return
        if given.dtype.kind in "iu":
            if given.ndim and given.size <= WORDS:
                sight.tokens = given if sight.place is not CPU else given.copy()
        elif sight.kind != CLASSES:
            sight.echo = same_memory(given, sight.target)
