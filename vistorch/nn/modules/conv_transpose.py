"""Transposed convolutions as modules.

Invariant: an `output_size` that is asked for is one of those that the stride leaves open.
"""

from __future__ import annotations

from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .conv_base import _ConvNd, _tuple
from .learned import weight_and_bias

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


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

    def _transposed(self, convolve: Any, rank: int, input: Tensor, output_size: Any) -> Tensor:
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for {type(self).__name__}")
        if not isinstance(self.padding, tuple):
            raise AssertionError("self.padding must be a tuple")
        more = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, rank, self.dilation
        )
        weight, bias = weight_and_bias(self)
        return convolve(input, weight, bias, self.stride, self.padding, more, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """Learned filters, a multiple of which each value of the signals adds to the result.

    Args:
        in_channels: channels of the signals.
        out_channels: channels of the result.
        kernel_size: the size of a filter; one int for all dims, or a tuple of one.
        stride: how far apart neighbouring values put their filters.
        padding: how much is cut from all sides, as if the convolution that is transposed had padded.
        output_padding: how much larger the result is at its end.
        groups: into how many parts the channels are split, each with filters of its own.
        bias: whether to add a learned number to each channel.
        dilation: how far apart the taps of a filter are.
        padding_mode: "zeros" only.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (N, in_channels, length) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConvTranspose1d(4, 2, 3, stride=2)(vistorch.ones(1, 4, 5)).shape
        vistorch.Size([1, 2, 11])
    """

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
        kernel_size, stride, padding = _tuple(kernel_size, 1), _tuple(stride, 1), _tuple(padding, 1)
        dilation, output_padding = _tuple(dilation, 1), _tuple(output_padding, 1)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            True,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Convolve, to a result of `output_size` where several are possible."""
        return self._transposed(F.conv_transpose1d, 1, input, output_size)


class ConvTranspose2d(_ConvTransposeNd):
    """Learned filters, a multiple of which each value of the images adds to the result.

    Args:
        in_channels: channels of the images.
        out_channels: channels of the result.
        kernel_size: the size of a filter; one int for all dims, or two.
        stride: how far apart neighbouring values put their filters.
        padding: how much is cut from all sides, as if the convolution that is transposed had padded.
        output_padding: how much larger the result is at its end.
        groups: into how many parts the channels are split, each with filters of its own.
        bias: whether to add a learned number to each channel.
        dilation: how far apart the taps of a filter are.
        padding_mode: "zeros" only.
        device: where the parameters are.
        dtype: their type.

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
        kernel_size, stride, padding = _tuple(kernel_size, 2), _tuple(stride, 2), _tuple(padding, 2)
        dilation, output_padding = _tuple(dilation, 2), _tuple(output_padding, 2)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            True,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Convolve, to a result of `output_size` where several are possible."""
        return self._transposed(F.conv_transpose2d, 2, input, output_size)


class ConvTranspose3d(_ConvTransposeNd):
    """Learned filters, a multiple of which each value of the volumes adds to the result.

    Args:
        in_channels: channels of the volumes.
        out_channels: channels of the result.
        kernel_size: the size of a filter; one int for all dims, or three.
        stride: how far apart neighbouring values put their filters.
        padding: how much is cut from all sides, as if the convolution that is transposed had padded.
        output_padding: how much larger the result is at its end.
        groups: into how many parts the channels are split, each with filters of its own.
        bias: whether to add a learned number to each channel.
        dilation: how far apart the taps of a filter are.
        padding_mode: "zeros" only.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (N, in_channels, depth, height, width) to (N, out_channels, ...), or both without N.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConvTranspose3d(2, 4, (3, 5, 2))(vistorch.ones(1, 2, 4, 4, 4)).shape
        vistorch.Size([1, 4, 6, 8, 5])
    """

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
        kernel_size, stride, padding = _tuple(kernel_size, 3), _tuple(stride, 3), _tuple(padding, 3)
        dilation, output_padding = _tuple(dilation, 3), _tuple(output_padding, 3)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            True,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Convolve, to a result of `output_size` where several are possible."""
        return self._transposed(F.conv_transpose3d, 3, input, output_size)
