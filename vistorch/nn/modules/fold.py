"""Unfold and Fold: windows as columns, and back.

Invariant: the arguments are kept as they were given, as PyTorch prints them.
"""

from __future__ import annotations

from typing import Any

from ...engine.core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Adds up columns as windows of images; where windows overlap, their values are added.

    Args:
        output_size: height and width of the images.
        kernel_size: the size of a window.
        dilation: how far apart the values of a window are.
        padding: how much is cut from both sides.
        stride: how far a window moves at a time.

    Shape:
        (N, C x kernel height x kernel width, windows) to (N, C, height, width).

    Example:
        >>> import vistorch
        >>> vistorch.nn.Fold((4, 5), (2, 2))(vistorch.ones(1, 12, 12)).shape
        vistorch.Size([1, 3, 4, 5])
    """

    __constants__ = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Fold."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """Lays the windows of images side by side as columns.

    Args:
        kernel_size: the size of a window.
        dilation: how far apart the values of a window are.
        padding: zeros on both sides.
        stride: how far a window moves at a time.

    Shape:
        (N, C, height, width) to (N, C x kernel height x kernel width, windows).

    Example:
        >>> import vistorch
        >>> vistorch.nn.Unfold((2, 3))(vistorch.ones(2, 5, 3, 4)).shape
        vistorch.Size([2, 30, 4])
    """

    __constants__ = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Unfold."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
