"""What moves between ranks in a cut layer, with history: each is the other's backward pass.

Invariant: every rank calls the same moves in the same order, forward and backward.
"""

from __future__ import annotations

from typing import Any

from ....autograd import Function
from ....engine.core.registry import FUNCTIONS
from ....ranks.collectives import all_gather, all_reduce

__all__ = ["Gathered", "Shared", "Summed"]


class Shared(Function):
    """An input that all ranks have: its gradient is the sum of theirs."""

    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        """Give it as it is."""
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> tuple:
        """Add up."""
        g = g.clone()
        all_reduce(g, group=ctx.group)
        return g, None


class Summed(Function):
    """The sum of what the ranks have: each has its gradient whole."""

    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        """Add up."""
        x = x.clone()
        all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx: Any, g: Any) -> tuple:
        """Give it as it is."""
        return g, None


class Gathered(Function):
    """What the ranks have, joined along the last dimension: each has its part of the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, group: Any, widths: list[int]) -> Any:
        """Join."""
        ctx.group, ctx.widths = group, widths
        parts = [FUNCTIONS["empty"](*x.shape[:-1], width, dtype=x.dtype, device=x.device) for width in widths]
        all_gather(parts, x.contiguous(), group=group)
        return FUNCTIONS["cat"](parts, dim=-1)

    @staticmethod
    def backward(ctx: Any, g: Any) -> tuple:
        """Cut."""
        return g.split(ctx.widths, dim=-1)[ctx.group.rank()].contiguous(), None, None
