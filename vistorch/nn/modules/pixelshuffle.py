"""Channels turned into pixels and back.

Invariant: the two modules undo each other.
"""

from __future__ import annotations

from ...engine.core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Turns channels into pixels: (*, C * r * r, H, W) to (*, C, H * r, W * r).

    Args:
        upscale_factor: how many times larger height and width become.

    Example:
        >>> import vistorch
        >>> vistorch.nn.PixelShuffle(3)(vistorch.ones(1, 9, 4, 4)).shape
        vistorch.Size([1, 1, 12, 12])
    """

    __constants__ = ("upscale_factor",)
    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Shuffle.

        Args:
            input: (*, C * r * r, H, W).
        """
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Turns pixels into channels: (*, C, H * r, W * r) to (*, C * r * r, H, W).

    Args:
        downscale_factor: how many times smaller height and width become.

    Example:
        >>> import vistorch
        >>> vistorch.nn.PixelUnshuffle(3)(vistorch.ones(1, 1, 12, 12)).shape
        vistorch.Size([1, 9, 4, 4])
    """

    __constants__ = ("downscale_factor",)
    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Shuffle back.

        Args:
            input: (*, C, H * r, W * r).
        """
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"downscale_factor={self.downscale_factor}"
