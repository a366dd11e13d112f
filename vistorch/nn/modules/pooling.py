"""Pooling as modules, written once for all ranks: by maxima, means and norms, and the partial inverse of max pooling.

Invariant: attributes are what the constructor was given, as PyTorch keeps them.
"""

from __future__ import annotations

from typing import Any

from ...engine.base.argument_docs import arguments
from ...engine.core.tensor import Tensor
from .. import functional as F
from .family import named_init
from .module import Module
from .tuples import _ntuple, _tuple

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


ARGUMENTS = {
    "kernel_size": "how many elements a window has.",
    "stride": "how far it is to the next window (default: its size).",
    "dilation": "how far it is from one element of a window to the next.",
    "ceil_mode": "whether a window may reach beyond the end.",
    "count_include_pad": "whether those zeros count as elements.",
    "divisor_override": "what to divide by instead of the number of elements.",
    "norm_type": "p; infinity gives maxima.",
    "output_size": "how many windows.",
    "output_ratio": "how many windows, as fractions of the sizes.",
    "return_indices": "return where the elements are, too.",
}
UNPOOL = {
    "kernel_size": "the size of the windows.",
    "stride": "how far it was to the next window (default: its size).",
    "padding": "how much stood around.",
}
TWO, THREE = "the size of a window, one int or two.", "the size of a window, one int or three."


class _MaxPoolNd(Module):
    """What max pooling over one, two and three dims shares."""

    __constants__ = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")
    _function: str  # of nn.functional

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

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


@arguments(
    ARGUMENTS,
    padding="how much minus infinity stands around.",
    return_indices="return where the elements are, too (`MaxUnpool1d` takes them).",
)
class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of the last dim.

    Shape:
        (C, L), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.MaxPool1d(2)(vistorch.arange(2.0).reshape(1, 2))
        tensor([[1.]])
    """

    _function = "max_pool1d"


@arguments(
    ARGUMENTS,
    kernel_size=TWO,
    padding="how much minus infinity stands around.",
    return_indices="return where the elements are, too (`MaxUnpool2d` takes them).",
)
class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.MaxPool2d(2)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[3.]]])
    """

    _function = "max_pool2d"


@arguments(
    ARGUMENTS,
    kernel_size=THREE,
    padding="how much minus infinity stands around.",
    return_indices="return where the elements are, too (`MaxUnpool3d` takes them).",
)
class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.MaxPool3d(2)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[7.]]]])
    """

    _function = "max_pool3d"


class _MaxUnpoolNd(Module):
    """What putting values back shares."""

    kernel_size: tuple
    stride: tuple
    padding: tuple
    _rank: int
    _function: str  # of nn.functional

    def extra_repr(self) -> str:
        """How windows lay."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _MaxUnpool(_MaxUnpoolNd):
    """Putting values back in any rank, with the constructor of the public classes."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        sized = _ntuple(self._rank)
        self.kernel_size = sized(kernel_size)
        self.stride = sized(stride if stride is not None else kernel_size)
        self.padding = sized(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The values at their indices; `output_size` chooses among sizes that fit."""
        unpool = getattr(F, self._function)
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


@arguments(UNPOOL)
@named_init
class MaxUnpool1d(_MaxUnpool):
    """Zeros with values where the maxima of a `MaxPool1d` were.

    Shape:
        (C, L), with or without a batch dim in front, to the same with the sizes from before the pooling.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(2.0).reshape(1, 2)
        >>> y, indices = vistorch.nn.MaxPool1d(2, return_indices=True)(x)
        >>> vistorch.nn.MaxUnpool1d(2)(y, indices).shape == x.shape
        True
    """

    _function = "max_unpool1d"
    _rank = 1


@arguments(UNPOOL)
@named_init
class MaxUnpool2d(_MaxUnpool):
    """Zeros with values where the maxima of a `MaxPool2d` were.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with the sizes from before the pooling.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(4.0).reshape(1, 2, 2)
        >>> y, indices = vistorch.nn.MaxPool2d(2, return_indices=True)(x)
        >>> vistorch.nn.MaxUnpool2d(2)(y, indices).shape == x.shape
        True
    """

    _function = "max_unpool2d"
    _rank = 2


@arguments(UNPOOL)
@named_init
class MaxUnpool3d(_MaxUnpool):
    """Zeros with values where the maxima of a `MaxPool3d` were.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with the sizes from before the pooling.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(8.0).reshape(1, 2, 2, 2)
        >>> y, indices = vistorch.nn.MaxPool3d(2, return_indices=True)(x)
        >>> vistorch.nn.MaxUnpool3d(2)(y, indices).shape == x.shape
        True
    """

    _function = "max_unpool3d"
    _rank = 3


class _AvgPoolNd(Module):
    """What average pooling shares."""

    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        """How windows lie."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@arguments(ARGUMENTS, padding="how many zeros stand around.")
class AvgPool1d(_AvgPoolNd):
    """The mean of each window of the last dim.

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
        self.kernel_size = _tuple(kernel_size, 1)
        self.stride = _tuple(stride if stride is not None else kernel_size, 1)
        self.padding = _tuple(padding, 1)
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


class _AvgPool(_AvgPoolNd):
    """Average pooling of two and three dims, where what to divide by may be given."""

    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
    _function: str  # of nn.functional

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
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


@arguments(ARGUMENTS, kernel_size=TWO, padding="how many zeros stand around.")
@named_init
class AvgPool2d(_AvgPool):
    """The mean of each window of the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AvgPool2d(2)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[1.5000]]])
    """

    _function = "avg_pool2d"


@arguments(ARGUMENTS, kernel_size=THREE, padding="how many zeros stand around.")
@named_init
class AvgPool3d(_AvgPool):
    """The mean of each window of the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AvgPool3d(2)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
    """

    _function = "avg_pool3d"

    def __setstate__(self, state: Any) -> None:
        """Pickles of the first versions knew neither padding nor modes."""
        super().__setstate__(state)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class _LPPoolNd(Module):
    """What power-average pooling shares."""

    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")
    _function: str  # of nn.functional

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

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        pool = getattr(F, self._function)
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


@arguments(ARGUMENTS)
class LPPool1d(_LPPoolNd):
    """The p-norm of each window of the last dim.

    Shape:
        (C, L), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LPPool1d(2, 2)(vistorch.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """

    _function = "lp_pool1d"


@arguments(ARGUMENTS, kernel_size=TWO)
class LPPool2d(_LPPoolNd):
    """The p-norm of each window of the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LPPool2d(2, 2)(vistorch.tensor([[[3.0, 4.0], [0.0, 0.0]]]))
        tensor([[[5.]]])
    """

    _function = "lp_pool2d"


@arguments(ARGUMENTS, kernel_size=THREE)
class LPPool3d(_LPPoolNd):
    """The p-norm of each window of the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front, to the same with fewer windows than elements.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LPPool3d(2, 2)(vistorch.full((1, 2, 2, 2), 2.0))
        tensor([[[[5.6569]]]])
    """

    _function = "lp_pool3d"


class _AdaptiveMaxPoolNd(Module):
    """What adaptive max pooling shares."""

    __constants__ = ("output_size", "return_indices")
    _function: str  # of nn.functional

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        """How many windows."""
        return f"output_size={self.output_size}"

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return getattr(F, self._function)(input, self.output_size, self.return_indices)


@arguments(ARGUMENTS)
class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of so many windows of the last dim, whatever their size.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveMaxPool1d(1)(vistorch.arange(2.0).reshape(1, 2))
        tensor([[1.]])
    """

    _function = "adaptive_max_pool1d"


@arguments(ARGUMENTS, output_size="how many windows, one int or two; None leaves a dim as it is.")
class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of so many windows of the last two dims, whatever their size.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveMaxPool2d(1)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[3.]]])
    """

    _function = "adaptive_max_pool2d"


@arguments(ARGUMENTS, output_size="how many windows, one int or three; None leaves a dim as it is.")
class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of so many windows of the last three dims, whatever their size.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveMaxPool3d(1)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[7.]]]])
    """

    _function = "adaptive_max_pool3d"


class _AdaptiveAvgPoolNd(Module):
    """What adaptive average pooling shares."""

    __constants__ = ("output_size",)
    _function: str  # of nn.functional

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """How many windows."""
        return f"output_size={self.output_size}"

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return getattr(F, self._function)(input, self.output_size)


@arguments(ARGUMENTS)
class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of so many windows of the last dim, whatever their size.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveAvgPool1d(1)(vistorch.arange(2.0).reshape(1, 2))
        tensor([[0.5000]])
    """

    _function = "adaptive_avg_pool1d"


@arguments(ARGUMENTS, output_size="how many windows, one int or two; None leaves a dim as it is.")
class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of so many windows of the last two dims, whatever their size.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveAvgPool2d(1)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[1.5000]]])
    """

    _function = "adaptive_avg_pool2d"


@arguments(ARGUMENTS, output_size="how many windows, one int or three; None leaves a dim as it is.")
class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of so many windows of the last three dims, whatever their size.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AdaptiveAvgPool3d(1)(vistorch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
    """

    _function = "adaptive_avg_pool3d"


class _FractionalMaxPoolNd(Module):
    """What fractional max pooling shares: the number of windows, or what fraction of the elements it is."""

    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")
    _rank: int
    _function: str  # of nn.functional

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name, sized = type(self).__name__, _ntuple(self._rank)
        self.kernel_size = sized(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = sized(output_size) if output_size is not None else None
        self.output_ratio = sized(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio[: self._rank]):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with their indices where those were asked for."""
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


@arguments(
    ARGUMENTS,
    kernel_size=TWO,
    _random_samples="numbers that choose the places, 2 for each channel (default: drawn at each call).",
)
class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of the last two dims.

    Example:
        >>> import vistorch
        >>> vistorch.nn.FractionalMaxPool2d(2, output_size=1)(vistorch.arange(4.0).reshape(1, 2, 2))
        tensor([[[3.]]])
    """

    _function = "fractional_max_pool2d"
    _rank = 2


@arguments(
    ARGUMENTS,
    kernel_size=THREE,
    _random_samples="numbers that choose the places, 3 for each channel (default: drawn at each call).",
)
class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of the last three dims.

    Example:
        >>> import vistorch
        >>> vistorch.nn.FractionalMaxPool3d(2, output_size=1)(vistorch.arange(27.0).reshape(1, 3, 3, 3))
        tensor([[[[26.]]]])
    """

    _function = "fractional_max_pool3d"
    _rank = 3

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
