"""What all convolution modules have in common: their parameters, their text, and borders that are not zeros.

Invariant: parameters begin as PyTorch's do, drawn in the same order, and what is said of a geometry is kept as tuples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...engine.face import FUNCTIONS
from ...engine.tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__: list[str] = []

empty = FUNCTIONS["empty"]
MODES = {"zeros", "reflect", "replicate", "circular"}


def _tuple(value: Any, rank: int) -> tuple:
    """One value for each spatial dim."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * rank


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
