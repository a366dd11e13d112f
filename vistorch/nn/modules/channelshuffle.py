"""Channels dealt out anew.

Invariant: no element changes, only its channel.
"""

from __future__ import annotations

from ...engine.core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Deals the channels of each group out to all groups in turn.

    Args:
        groups: how many groups the channels are in.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ChannelShuffle(2)(vistorch.arange(4.).view(1, 4, 1)).flatten()
        tensor([0., 2., 1., 3.])
    """

    __constants__ = ("groups",)
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Shuffle.

        Args:
            input: (N, C, ...).
        """
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return f"groups={self.groups}"
