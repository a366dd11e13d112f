"""Convolutions as modules; their transposes and their lazy twins come from here too.

Invariant: a geometry is kept as tuples, one number for each spatial dim.
"""

from __future__ import annotations

from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .conv_base import _ConvNd, _tuple
from .conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .learned import weight_and_bias

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


class Conv1d(_ConvNd):
    """Learned filters that slide along signals.

    Args:
        in_channels: channels of the signals.
        out_channels: how many filters there are: the channels of the result.
        kernel_size: the size of a filter; one int for all dims, or a tuple of one.
        stride: how far a filter moves at a time.
        padding: how much is added on all sides; or "same" for results as large as the input, or "valid" for nothing.
        dilation: how far apart the taps of a filter are.
        groups: into how many parts the channels are split, each with filters of its own.
        bias: whether to add a learned number to each channel.
        padding_mode: what is added: "zeros", or borders of the input as `nn.functional.pad` makes them, "reflect",
            "replicate" or "circular".
        device: where the parameters are.
        dtype: their type.

    Shape:
        (N, in_channels, length) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Conv1d(16, 33, 3, stride=2)(vistorch.ones(20, 16, 50)).shape
        vistorch.Size([20, 33, 24])
    """

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
        kernel_size, stride, dilation = _tuple(kernel_size, 1), _tuple(stride, 1), _tuple(dilation, 1)
        padding = padding if isinstance(padding, str) else _tuple(padding, 1)
        none = (0,) * 1
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            False,
            none,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv1d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve."""
        return self._conv_forward(input, *weight_and_bias(self))


class Conv2d(_ConvNd):
    """Learned filters that slide over images.

    Args:
        in_channels: channels of the images.
        out_channels: how many filters there are: the channels of the result.
        kernel_size: the size of a filter; one int for all dims, or two.
        stride: how far a filter moves at a time.
        padding: how much is added on all sides; or "same" for results as large as the input, or "valid" for nothing.
        dilation: how far apart the taps of a filter are.
        groups: into how many parts the channels are split, each with filters of its own.
        bias: whether to add a learned number to each channel.
        padding_mode: what is added: "zeros", or borders of the input as `nn.functional.pad` makes them, "reflect",
            "replicate" or "circular".
        device: where the parameters are.
        dtype: their type.

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
        kernel_size, stride, dilation = _tuple(kernel_size, 2), _tuple(stride, 2), _tuple(dilation, 2)
        padding = padding if isinstance(padding, str) else _tuple(padding, 2)
        none = (0,) * 2
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            False,
            none,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv2d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve."""
        return self._conv_forward(input, *weight_and_bias(self))


class Conv3d(_ConvNd):
    """Learned filters that slide through volumes.

    Args:
        in_channels: channels of the volumes.
        out_channels: how many filters there are: the channels of the result.
        kernel_size: the size of a filter; one int for all dims, or three.
        stride: how far a filter moves at a time.
        padding: how much is added on all sides; or "same" for results as large as the input, or "valid" for nothing.
        dilation: how far apart the taps of a filter are.
        groups: into how many parts the channels are split, each with filters of its own.
        bias: whether to add a learned number to each channel.
        padding_mode: what is added: "zeros", or borders of the input as `nn.functional.pad` makes them, "reflect",
            "replicate" or "circular".
        device: where the parameters are.
        dtype: their type.

    Shape:
        (N, in_channels, depth, height, width) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Conv3d(2, 4, 3, padding="same")(vistorch.ones(2, 5, 6, 7)).shape
        vistorch.Size([4, 5, 6, 7])
    """

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
        kernel_size, stride, dilation = _tuple(kernel_size, 3), _tuple(stride, 3), _tuple(dilation, 3)
        padding = padding if isinstance(padding, str) else _tuple(padding, 3)
        none = (0,) * 3
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            False,
            none,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv3d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve."""
        return self._conv_forward(input, *weight_and_bias(self))


from .conv_lazy import (  # noqa: E402  they are built on the classes above
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
)
