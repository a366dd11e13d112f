"""Convolutions that learn how many input channels they have from the first input.

Invariant: until then `in_channels` is 0 and the parameters have no shape; then the module is an ordinary convolution.
"""

from __future__ import annotations

from typing import Any

from ..parameter import UninitializedParameter
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .lazy import LazyModuleMixin

__all__: list[str] = []


class _LazyConvXdMixin(LazyModuleMixin):
    """What all lazy convolutions have in common."""

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
        raise NotImplementedError


class LazyConv1d(_LazyConvXdMixin, Conv1d):
    """A `Conv1d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConv1d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 6]), 2)
    """

    cls_to_become = Conv1d

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

    def _get_num_spatial_dims(self) -> int:
        return 1


class LazyConv2d(_LazyConvXdMixin, Conv2d):
    """A `Conv2d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConv2d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 6, 6]), 2)
    """

    cls_to_become = Conv2d

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

    def _get_num_spatial_dims(self) -> int:
        return 2


class LazyConv3d(_LazyConvXdMixin, Conv3d):
    """A `Conv3d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConv3d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 4, 4, 4)).shape, conv.in_channels
        (vistorch.Size([1, 4, 2, 2, 2]), 2)
    """

    cls_to_become = Conv3d

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

    def _get_num_spatial_dims(self) -> int:
        return 3


class LazyConvTranspose1d(_LazyConvXdMixin, ConvTranspose1d):
    """A `ConvTranspose1d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConvTranspose1d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 10]), 2)
    """

    cls_to_become = ConvTranspose1d

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
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._wait(out_channels, bias, device, dtype)

    def _get_num_spatial_dims(self) -> int:
        return 1


class LazyConvTranspose2d(_LazyConvXdMixin, ConvTranspose2d):
    """A `ConvTranspose2d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConvTranspose2d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 8, 8)).shape, conv.in_channels
        (vistorch.Size([1, 4, 10, 10]), 2)
    """

    cls_to_become = ConvTranspose2d

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
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._wait(out_channels, bias, device, dtype)

    def _get_num_spatial_dims(self) -> int:
        return 2


class LazyConvTranspose3d(_LazyConvXdMixin, ConvTranspose3d):
    """A `ConvTranspose3d` that takes its number of input channels from the first input; else the same.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.LazyConvTranspose3d(4, 3)
        >>> conv(vistorch.zeros(1, 2, 4, 4, 4)).shape, conv.in_channels
        (vistorch.Size([1, 4, 6, 6, 6]), 2)
    """

    cls_to_become = ConvTranspose3d

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
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._wait(out_channels, bias, device, dtype)

    def _get_num_spatial_dims(self) -> int:
        return 3
