"""Pooling as modules: with so many windows, and with windows at random places, here; the rest next door.

Invariant: attributes are what the constructor was given, as PyTorch keeps them.
"""

from __future__ import annotations

from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module
from .pooling_max import MaxPool1d, MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
from .pooling_means import AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d
from .tuples import _pair, _triple

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _AdaptiveMaxPoolNd(Module):
    """What adaptive max pooling shares."""

    __constants__ = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        """How many windows."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of so many windows of the last dim, whatever their size.

    Args:
        output_size: how many windows.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveMaxPool1d(1)(vistorch.arange(2.0).reshape(1, 2))
        tensor([[1.]])
    """

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of so many windows of the last two dims, whatever their size.

    Args:
        output_size: how many windows, one int or two; None leaves a dim as it is.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveMaxPool2d(1)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[3.]]])
    """

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of so many windows of the last three dims, whatever their size.

    Args:
        output_size: how many windows, one int or three; None leaves a dim as it is.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveMaxPool3d(1)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[7.]]]])
    """

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    """What adaptive average pooling shares."""

    __constants__ = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """How many windows."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of so many windows of the last dim, whatever their size.

    Args:
        output_size: how many windows.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveAvgPool1d(1)(vistorch.arange(2.0).reshape(1, 2))
        tensor([[0.5000]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of so many windows of the last two dims, whatever their size.

    Args:
        output_size: how many windows, one int or two; None leaves a dim as it is.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveAvgPool2d(1)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[1.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of so many windows of the last three dims, whatever their size.

    Args:
        output_size: how many windows, one int or three; None leaves a dim as it is.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveAvgPool3d(1)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class _FractionalMaxPoolNd(Module):
    """What fractional max pooling shares: the number of windows, or what fraction of the elements it is."""

    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name, sized = self.__class__.__name__, self._sized
        self.kernel_size = sized(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = sized(output_size) if output_size is not None else None
        self.output_ratio = sized(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio[: self._dims]):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    _dims: int
    _sized: Any


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of the last two dims.

    Args:
        kernel_size: the size of a window, one int or two.
        output_size: how many windows.
        output_ratio: how many windows, as fractions of the sizes.
        return_indices: return where the elements are, too.
        _random_samples: numbers that choose the places, 2 for each channel (default: drawn at each call).

    Example:
        >>> import vistorch
        >>> vistorch.nn.FractionalMaxPool2d(2, output_size=1)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[3.]]])
    """

    _dims = 2
    _sized = staticmethod(_pair)

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of the last three dims.

    Args:
        kernel_size: the size of a window, one int or three.
        output_size: how many windows.
        output_ratio: how many windows, as fractions of the sizes.
        return_indices: return where the elements are, too.
        _random_samples: numbers that choose the places, 3 for each channel (default: drawn at each call).

    Example:
        >>> import vistorch
        >>> vistorch.nn.FractionalMaxPool3d(2, output_size=1)(vistorch.arange(27.0).reshape(1, 3, 3, 3))
        tensor([[[[26.]]]])
    """

    _dims = 3
    _sized = staticmethod(_triple)

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        sizes = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,)
        if not all(k > 0 for k in sizes):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )
