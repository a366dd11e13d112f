"""Average and power-average pooling as modules.

Invariant: attributes are what the constructor was given, as PyTorch keeps them.
"""

from __future__ import annotations

from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module
from .tuples import _single

__all__ = ["AvgPool1d", "AvgPool2d", "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d"]


class _AvgPoolNd(Module):
    """What average pooling shares."""

    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        """How windows lie."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of the last dim.

    Args:
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        padding: how many zeros stand around.
        ceil_mode: whether a window may reach beyond the end.
        count_include_pad: whether those zeros count as elements.

    Shape:
        (C, L), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AvgPool1d(2)(vistorch.arange(2.0).reshape(1, 2))
        tensor([[0.5000]])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of the last two dims.

    Args:
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        padding: how many zeros stand around.
        ceil_mode: whether a window may reach beyond the end.
        count_include_pad: whether those zeros count as elements.
        divisor_override: what to divide by instead of the number of elements.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AvgPool2d(2)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[1.5000]]])
    """

    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of the last three dims.

    Args:
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        padding: how many zeros stand around.
        ceil_mode: whether a window may reach beyond the end.
        count_include_pad: whether those zeros count as elements.
        divisor_override: what to divide by instead of the number of elements.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AvgPool3d(2)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
    """

    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def __setstate__(self, state: Any) -> None:
        """Pickles of the first versions knew neither padding nor modes."""
        super().__setstate__(state)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class _LPPoolNd(Module):
    """What power-average pooling shares."""

    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """Which norm, and how windows lie."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of the last dim.

    Args:
        norm_type: p; infinity gives maxima.
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        ceil_mode: whether a window may reach beyond the end.

    Shape:
        (C, L), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LPPool1d(2, 2)(vistorch.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of the last two dims.

    Args:
        norm_type: p; infinity gives maxima.
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        ceil_mode: whether a window may reach beyond the end.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LPPool2d(2, 2)(vistorch.tensor([[[3.0, 4.0], [0.0, 0.0]]]))
        tensor([[[5.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of the last three dims.

    Args:
        norm_type: p; infinity gives maxima.
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        ceil_mode: whether a window may reach beyond the end.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LPPool3d(2, 2)(vistorch.full((1, 2, 2, 2), 2.0))
        tensor([[[[5.6569]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
