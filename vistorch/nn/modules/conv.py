"""Convolutions as modules: plain, transposed, and lazy ones, written once for all ranks.

Invariant: a geometry is kept as tuples, one number for each spatial dim, and parameters are drawn in PyTorch's order.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.base.argument_docs import arguments
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .family import named_init
from .lazy import LazyModuleMixin
from .learned import weight_and_bias
from .module import Module
from .tuples import _tuple

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

empty = FUNCTIONS["empty"]
MODES = {"zeros", "reflect", "replicate", "circular"}

ARGUMENTS = {
    "out_channels": "how many filters there are: the channels of the result.",
    "stride": "how far a filter moves at a time.",
    "padding": 'how much is added on all sides; or "same" for results as large as the input, or "valid" for nothing.',
    "dilation": "the spacing between the elements of a filter.",
    "groups": "into how many parts the channels are split, each with filters of its own.",
    "bias": "whether to add a learned number to each channel.",
    "padding_mode": 'what is added: "zeros", or borders of the input as `nn.functional.pad` makes them, "reflect", '
    '"replicate" or "circular".',
    "device": "where the parameters are.",
    "dtype": "their type.",
}
TRANSPOSED = {
    **ARGUMENTS,
    "out_channels": "channels of the result.",
    "stride": "how far apart neighbouring values put their filters.",
    "padding": "how much is cut from all sides, as if the convolution that is transposed had padded.",
    "output_padding": "how much larger the result is at its end.",
    "padding_mode": '"zeros" only.',
}
SIZES = "the size of a filter; one int for all dims, or "


class _ConvNd(Module):
    """What all convolutions have in common."""

    __constants__ = (
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    )
    in_channels: int
    out_channels: int
    kernel_size: tuple
    stride: tuple
    padding: tuple | str
    dilation: tuple
    output_padding: tuple
    groups: int
    weight: Any
    bias: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple,
        padding: Any,
        dilation: tuple,
        transposed: bool,
        output_padding: tuple,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                known = {"same", "valid"}
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {known}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in MODES:
            raise ValueError(f"padding_mode must be one of {MODES}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        # as F.pad wants it: (before, after) of the last dim first
        self._reversed_padding_repeated_twice: Any
        if isinstance(padding, str):
            pads = self._reversed_padding_repeated_twice = [0, 0] * len(kernel_size)
            if padding == "same":
                for i, (d, k) in enumerate(reversed(list(zip(dilation, kernel_size, strict=False)))):
                    total = d * (k - 1)
                    pads[2 * i : 2 * i + 2] = [total // 2, total - total // 2]
        else:
            self._reversed_padding_repeated_twice = tuple([p for p in reversed(padding) for _ in (0, 1)])
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        Example:
            >>> import vistorch
            >>> conv = vistorch.nn.Conv2d(1, 2, 5)
            >>> conv.reset_parameters()
            >>> conv.weight.abs().max() <= 0.2  # 1 / sqrt(in_channels * kernel size)
            tensor(True)
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The geometry, where it is not the default."""
        zeros = (0,) * len(self.kernel_size)
        said = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != zeros:
            said += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            said += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            said += f", output_padding={self.output_padding}"
        if self.groups != 1:
            said += f", groups={self.groups}"
        if self.bias is None:
            said += ", bias=False"
        if self.padding_mode != "zeros":
            said += f", padding_mode={self.padding_mode}"
        return said

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def _convolved(self, convolve: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution, with the borders that are not zeros put around the input first."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * len(self.kernel_size)
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class _Conv(_ConvNd):
    """A convolution of any rank, with the constructor of the public classes."""

    _rank: int
    _function: str  # of nn.functional

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        rank = self._rank
        super().__init__(
            in_channels,
            out_channels,
            _tuple(kernel_size, rank),
            _tuple(stride, rank),
            padding if isinstance(padding, str) else _tuple(padding, rank),
            _tuple(dilation, rank),
            False,
            (0,) * rank,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolved(getattr(F, self._function), input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve."""
        return self._conv_forward(input, *weight_and_bias(self))


@arguments(ARGUMENTS, in_channels="channels of the signals.", kernel_size=SIZES + "a tuple of one.")
@named_init
class Conv1d(_Conv):
    """Learned filters that slide along signals.

    Shape:
        (N, in_channels, length) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Conv1d(16, 33, 3, stride=2)(vistorch.ones(20, 16, 50)).shape
        vistorch.Size([20, 33, 24])
    """

    _rank = 1
    _function = "conv1d"


@arguments(ARGUMENTS, in_channels="channels of the images.", kernel_size=SIZES + "two.")
@named_init
class Conv2d(_Conv):
    """Learned filters that slide over images.

    Shape:
        (N, in_channels, height, width) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.Conv2d(3, 8, (3, 5), padding=(1, 2))
        >>> m
        Conv2d(3, 8, kernel_size=(3, 5), stride=(1, 1), padding=(1, 2))
        >>> m(vistorch.ones(4, 3, 32, 32)).shape
        vistorch.Size([4, 8, 32, 32])
    """

    _rank = 2
    _function = "conv2d"


@arguments(ARGUMENTS, in_channels="channels of the volumes.", kernel_size=SIZES + "three.")
@named_init
class Conv3d(_Conv):
    """Learned filters that slide through volumes.

    Shape:
        (N, in_channels, depth, height, width) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Conv3d(2, 4, 3, padding="same")(vistorch.ones(2, 5, 6, 7)).shape
        vistorch.Size([4, 5, 6, 7])
    """

    _rank = 3
    _function = "conv3d"


class _ConvTransposeNd(_ConvNd):
    """What all transposed convolutions have in common."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple,
        padding: tuple,
        dilation: tuple,
        transposed: bool,
        output_padding: tuple,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Any,
        stride: Any,
        padding: Any,
        kernel_size: Any,
        num_spatial_dims: int,
        dilation: Any = None,
    ) -> Any:
        """How much larger than the smallest result the asked one is."""
        if output_size is None:
            return _tuple(self.output_padding, 1)
        rank = num_spatial_dims
        lead = 2 if input.ndim == rank + 2 else 1
        if len(output_size) == lead + rank:
            output_size = output_size[lead:]
        if len(output_size) != rank:
            raise ValueError(
                f"ConvTranspose{rank}D: for {input.ndim}D input, output_size must have {rank} or {lead + rank} "
                f"elements (got {len(output_size)})"
            )
        least = [
            (input.size(i + lead) - 1) * stride[i]
            - 2 * padding[i]
            + (1 if dilation is None else dilation[i]) * (kernel_size[i] - 1)
            + 1
            for i in range(rank)
        ]
        most = [n + s - 1 for n, s in zip(least, stride, strict=False)]
        for asked, low, high in zip(output_size, least, most, strict=True):
            if asked < low or asked > high:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an "
                    f"input of {input.size()[2:]})"
                )
        return [asked - low for asked, low in zip(output_size, least, strict=True)]


class _ConvTranspose(_ConvTransposeNd):
    """A transposed convolution of any rank, with the constructor of the public classes."""

    _rank: int
    _function: str  # of nn.functional

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        rank = self._rank
        super().__init__(
            in_channels,
            out_channels,
            _tuple(kernel_size, rank),
            _tuple(stride, rank),
            _tuple(padding, rank),
            _tuple(dilation, rank),
            True,
            _tuple(output_padding, rank),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Convolve, to a result of `output_size` where several are possible."""
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for {type(self).__name__}")
        if not isinstance(self.padding, tuple):
            raise AssertionError("self.padding must be a tuple")
        more = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self._rank, self.dilation
        )
        weight, bias = weight_and_bias(self)
        convolve = getattr(F, self._function)
        return convolve(input, weight, bias, self.stride, self.padding, more, self.groups, self.dilation)


@arguments(TRANSPOSED, in_channels="channels of the signals.", kernel_size=SIZES + "a tuple of one.")
@named_init
class ConvTranspose1d(_ConvTranspose):
    """Learned filters, a multiple of which each value of the signals adds to the result.

    Shape:
        (N, in_channels, length) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConvTranspose1d(4, 2, 3, stride=2)(vistorch.ones(1, 4, 5)).shape
        vistorch.Size([1, 2, 11])
    """

    _rank = 1
    _function = "conv_transpose1d"


@arguments(TRANSPOSED, in_channels="channels of the images.", kernel_size=SIZES + "two.")
@named_init
class ConvTranspose2d(_ConvTranspose):
    """Learned filters, a multiple of which each value of the images adds to the result.

    Shape:
        (N, in_channels, height, width) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> down = vistorch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        >>> up = vistorch.nn.ConvTranspose2d(8, 3, 3, stride=2, padding=1)
        >>> x = vistorch.ones(1, 3, 12, 12)
        >>> up(down(x), output_size=x.shape).shape
        vistorch.Size([1, 3, 12, 12])
    """

    _rank = 2
    _function = "conv_transpose2d"


@arguments(TRANSPOSED, in_channels="channels of the volumes.", kernel_size=SIZES + "three.")
@named_init
class ConvTranspose3d(_ConvTranspose):
    """Learned filters, a multiple of which each value of the volumes adds to the result.

    Shape:
        (N, in_channels, depth, height, width) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConvTranspose3d(2, 4, (3, 5, 2))(vistorch.ones(1, 2, 4, 4, 4)).shape
        vistorch.Size([1, 4, 6, 8, 5])
    """

    _rank = 3
    _function = "conv_transpose3d"


class _LazyConvXdMixin(LazyModuleMixin):
    """What all lazy convolutions have in common."""

    _rank: int
    groups: int
    transposed: bool
    in_channels: int
    out_channels: int
    kernel_size: tuple
    weight: Any
    bias: Any

    def _wait(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        """Put parameters without a shape in the place of the empty ones."""
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have shapes."""
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the shapes that this input asks for.

        Args:
            input: the first input.
            *args: not looked at.
            **kwargs: not looked at.

        Example:
            >>> import vistorch
            >>> conv = vistorch.nn.LazyConv2d(4, kernel_size=3)
            >>> conv.initialize_parameters(vistorch.ones(1, 2, 8, 8))
            >>> conv.weight.shape
            vistorch.Size([4, 2, 3, 3])
        """
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Any) -> int:
        rank = self._get_num_spatial_dims()
        if input.dim() not in (rank + 1, rank + 2):
            raise RuntimeError(
                f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {type(self).__name__}, but got "
                f"input of size: {input.shape}"
            )
        return input.shape[1] if input.dim() == rank + 2 else input.shape[0]

    def _get_num_spatial_dims(self) -> int:
        return self._rank


class _LazyConv(_LazyConvXdMixin):
    """The constructor of lazy convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype
        )
        self._wait(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    """The constructor of lazy transposed convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        sizes = (kernel_size, stride, padding, output_padding)
        super().__init__(0, 0, *sizes, groups, False, dilation, padding_mode, device, dtype)
        self._wait(out_channels, bias, device, dtype)


@named_init
class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConv1d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 6]), 2)
    """

    cls_to_become = Conv1d


@named_init
class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConv2d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 6, 6]), 2)
    """

    cls_to_become = Conv2d


@named_init
class LazyConv3d(_LazyConv, Conv3d):
    """A `Conv3d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConv3d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 4, 4, 4)).shape, conv.in_channels
        (vistorch.Size([1, 4, 2, 2, 2]), 2)
    """

    cls_to_become = Conv3d


@named_init
class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A `ConvTranspose1d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConvTranspose1d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 10]), 2)
    """

    cls_to_become = ConvTranspose1d


@named_init
class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A `ConvTranspose2d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConvTranspose2d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 10, 10]), 2)
    """

    cls_to_become = ConvTranspose2d


@named_init
class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A `ConvTranspose3d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConvTranspose3d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 4, 4, 4)).shape, conv.in_channels
        (vistorch.Size([1, 4, 6, 6, 6]), 2)
    """

    cls_to_become = ConvTranspose3d
