"""Convolutions, their transposes, and windows as columns.

Invariant: what `vistorch` itself offers is the same object here.
"""

from __future__ import annotations

from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.ops.conv import unfold as _columns

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "unfold",
]

conv1d = FUNCTIONS["conv1d"]
conv2d = FUNCTIONS["conv2d"]
conv3d = FUNCTIONS["conv3d"]
conv_tbc = FUNCTIONS["conv_tbc"]
conv_transpose1d = FUNCTIONS["conv_transpose1d"]
conv_transpose2d = FUNCTIONS["conv_transpose2d"]
conv_transpose3d = FUNCTIONS["conv_transpose3d"]


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Lay the windows of images side by side as columns.

    Args:
        input: images (N, C, height, width), or one of them.
        kernel_size: the size of a window.
        dilation: how far apart the values of a window are.
        padding: zeros on both sides.
        stride: how far a window moves at a time.

    Shape:
        (N, C x kernel height x kernel width, windows).

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(6.).reshape(1, 1, 2, 3)
        >>> vistorch.nn.functional.unfold(x, 2)
        tensor([[[0., 1.],
                 [1., 2.],
                 [3., 4.],
                 [4., 5.]]])
    """
    return _columns.im2col(input, kernel_size, dilation, padding, stride)


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Add up columns as windows of images; where windows overlap, their values are added.

    Args:
        input: columns (N, C x kernel height x kernel width, windows), or those of one image.
        output_size: height and width of the images.
        kernel_size: the size of a window.
        dilation: how far apart the values of a window are.
        padding: how much is cut from both sides.
        stride: how far a window moves at a time.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.fold(vistorch.ones(1, 4, 2), (2, 3), 2)
        tensor([[[[1., 2., 1.],
                  [1., 2., 1.]]]])
    """
    return _columns.col2im(input, output_size, kernel_size, dilation, padding, stride)
