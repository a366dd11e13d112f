"""A stepper moved by the steps of its record: a node and what its leaves receive are one.

Invariant: `at` steps are taken; every `.grad` is what it is after them.
"""

from __future__ import annotations

from typing import Any

from ..breaks.points import Stop


class Walk:
    """Moves a Stepper as a person who clicks does.

    Args:
        stepper: the stepper; it may have been moved before.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Stepper
        >>> from vistorch.debug.steps import Walk
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> walk = Walk(Stepper(x.exp() * 2))  # two steps: what x receives belongs to the second
        >>> walk.to(2), x.grad is not None
        (2, True)
        >>> walk.back(), x.grad
        (1, None)
        >>> walk.step(), walk.first(), walk.last(), walk.at
        (2, 0, 2, 2)
        >>> _ = walk.first()
        >>> print(walk.run("ExpBackward0"), walk.at)
        stopped before ExpBackward0: ExpBackward0 1
        >>> walk.stepper.undo()
    """

    def __init__(self, stepper: Any) -> None:
        self.stepper = stepper

    def _leaf(self, node: Any) -> bool:
        return self.stepper.reads.is_leaf(node)

    @property
    def at(self) -> int:
        """How many steps are taken."""
        ran = self.stepper.ran
        # a pass that begins with a leaf has no node to count it to
        return sum(not self._leaf(n) for n in ran) + bool(ran and self._leaf(ran[0]))

    def step(self) -> int:
        """Take one step, if there is one; returns where the walk stands."""
        if self.stepper.step() is not None:
            self._receive()
        return self.at

    def _receive(self) -> None:
        """Let leaves have what the newest node sent them."""
        while (following := self.stepper.next_node) is not None and self._leaf(following):
            self.stepper.step()

    def back(self) -> int:
        """Take one step back."""
        stepper = self.stepper
        while stepper.position > 1 and self._leaf(stepper.ran[-1]):
            stepper.back()
        stepper.back()
        return self.at

    def first(self) -> int:
        """Take all back."""
        self.stepper.first()
        return 0

    def last(self) -> int:
        """Run to the end, still able to go back."""
        self.stepper.last()
        return self.at

    def to(self, step: int) -> int:
        """Move until so many steps are taken, or the pass has ended."""
        while self.at > step:
            self.back()
        while self.at < step and self.stepper.next_node is not None:
            self.step()
        return self.at

    def run(self, breakpoints: Any) -> Stop | None:
        """Run to the next breakpoint; the walk stands before the node it holds of."""
        return self.stepper.run_to_break(breakpoints)
