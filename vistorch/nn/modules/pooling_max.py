"""Max pooling as modules, and its partial inverse.

Invariant: attributes are what the constructor was given, as PyTorch keeps them.
"""

from __future__ import annotations

from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module
from .tuples import _pair, _single, _triple

__all__ = ["MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxPoolNd(Module):
    """What max pooling over one, two and three dims shares."""

    __constants__ = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """How windows lie."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of the last dim.

    Args:
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        return_indices: return where the elements are, too (`MaxUnpool1d` takes them).
        ceil_mode: whether a window may reach beyond the end.

    Shape:
        (C, L), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.MaxPool1d(2)(vistorch.arange(2.0).reshape(1, 2))
        tensor([[1.]])
    """

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of the last two dims.

    Args:
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        return_indices: return where the elements are, too (`MaxUnpool2d` takes them).
        ceil_mode: whether a window may reach beyond the end.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.MaxPool2d(2)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[3.]]])
    """

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of the last three dims.

    Args:
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        return_indices: return where the elements are, too (`MaxUnpool3d` takes them).
        ceil_mode: whether a window may reach beyond the end.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.MaxPool3d(2)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[7.]]]])
    """

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class _MaxUnpoolNd(Module):
    """What putting values back shares."""

    kernel_size: tuple
    stride: tuple
    padding: tuple

    def extra_repr(self) -> str:
        """How windows lay."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Zeros with values where the maxima of a `MaxPool1d` were.

    Args:
        kernel_size: the size of the windows.
        stride: how far it was to the next window (default: its size).
        padding: how much stood around.

    Shape:
        (C, L), with or without a batch dim in front, to the same with the sizes from before the pooling.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(2.0).reshape(1, 2)
        >>> y, indices = vistorch.nn.MaxPool1d(2, return_indices=True)(x)
        >>> vistorch.nn.MaxUnpool1d(2)(y, indices).shape == x.shape
        True
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The values at their indices; `output_size` chooses among sizes that fit."""
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Zeros with values where the maxima of a `MaxPool2d` were.

    Args:
        kernel_size: the size of the windows.
        stride: how far it was to the next window (default: its size).
        padding: how much stood around.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with the sizes from before the pooling.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(4.0).reshape(1, 2, 2)
        >>> y, indices = vistorch.nn.MaxPool2d(2, return_indices=True)(x)
        >>> vistorch.nn.MaxUnpool2d(2)(y, indices).shape == x.shape
        True
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _pair(kernel_size)
        self.stride = _pair(stride if stride is not None else kernel_size)
        self.padding = _pair(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The values at their indices; `output_size` chooses among sizes that fit."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Zeros with values where the maxima of a `MaxPool3d` were.

    Args:
        kernel_size: the size of the windows.
        stride: how far it was to the next window (default: its size).
        padding: how much stood around.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with the sizes from before the pooling.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(8.0).reshape(1, 2, 2, 2)
        >>> y, indices = vistorch.nn.MaxPool3d(2, return_indices=True)(x)
        >>> vistorch.nn.MaxUnpool3d(2)(y, indices).shape == x.shape
        True
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _triple(kernel_size)
        self.stride = _triple(stride if stride is not None else kernel_size)
        self.padding = _triple(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The values at their indices; `output_size` chooses among sizes that fit."""
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
