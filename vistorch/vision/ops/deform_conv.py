"""Convolutions that look beside the places where a convolution looks.

Invariant: offsets of zero and a mask of ones are the plain convolution.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ... import Tensor, nn
from ...nn import init
from ...nn.modules.tuples import _pair


def _between(input: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Points between the pixels of (N, C, H, W) at (N, L), zero outside: (N, C, L)."""
    n, channels, height, width = input.shape
    pixels = input.reshape(n, channels, height * width)
    y0, x0 = y.detach().floor(), x.detach().floor()
    total: Any = 0
    for dy in (0, 1):
        for dx in (0, 1):
            row, column = y0 + dy, x0 + dx
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            at = (row.clamp(0, height - 1) * width + column.clamp(0, width - 1)).long()
            share = (y - y0 if dy else 1 - (y - y0)) * (x - x0 if dx else 1 - (x - x0))
            found = pixels.gather(2, at[:, None].expand(n, channels, at.size(1)))
            total = total + found * (share * inside)[:, None]
    return total


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = (1, 1),
    mask: Tensor | None = None,
) -> Tensor:
    """A convolution each of whose weights looks at a place of its own, between the pixels.

    Args:
        input: pictures, (N, C, height, width).
        offset: (N, 2 * groups * kernel height * kernel width, rows, columns): how far down and right, for each weight.
        weight: (channels, C / groups, kernel height, kernel width).
        bias: (channels,), or None.
        stride: of the convolution.
        padding: of the convolution.
        dilation: of the convolution.
        mask: (N, groups * kernel height * kernel width, rows, columns): how much of what is found, or None.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import deform_conv2d
        >>> x, w = vistorch.ones(1, 1, 3, 3), vistorch.ones(1, 1, 2, 2)
        >>> deform_conv2d(x, vistorch.zeros(1, 8, 2, 2), w)
        tensor([[[[4., 4.],
                  [4., 4.]]]])
    """
    (sy, sx), (py, px), (dy, dx) = _pair(stride), _pair(padding), _pair(dilation)
    n, channels, height, width = input.shape
    out_channels, per_group, kh, kw = weight.shape
    places = kh * kw
    offset_groups, groups = offset.size(1) // (2 * places), channels // per_group
    if offset_groups == 0:
        raise RuntimeError(
            "the shape of the offset tensor at dimension 1 is not valid. It should be a multiple of 2 * weight.size[2] "
            f"* weight.size[3].\nGot offset.shape[1]={offset.size(1)}, while 2 * weight.size[2] * "
            f"weight.size[3]={2 * places}"
        )
    rows = (height + 2 * py - (dy * (kh - 1) + 1)) // sy + 1
    columns = (width + 2 * px - (dx * (kw - 1) + 1)) // sx + 1
    if offset.shape != (n, offset_groups * 2 * places, rows, columns):
        raise RuntimeError(
            f"offset output dims: ({offset.size(2)}, {offset.size(3)}) - computed output dims: ({rows}, {columns})"
        )
    if mask is not None and mask.shape != (n, offset_groups * places, rows, columns):
        raise RuntimeError(
            f"mask should be {(n, offset_groups * places, rows, columns)} for this offset, got {tuple(mask.shape)}"
        )
    like = {"dtype": input.dtype, "device": input.device}
    y = (vistorch.arange(kh, **like) * dy).repeat_interleave(kw)[:, None, None] - py
    x = (vistorch.arange(kw, **like) * dx).repeat(kh)[:, None, None] - px
    y = y + vistorch.arange(rows, **like)[:, None] * sy
    x = x + vistorch.arange(columns, **like) * sx
    moved = offset.reshape(n * offset_groups, places, 2, rows, columns)
    y, x = (y + moved[:, :, 0]).flatten(1), (x + moved[:, :, 1]).flatten(1)
    seen = _between(input.reshape(n * offset_groups, -1, height, width), y, x)
    seen = seen.reshape(n, offset_groups, -1, places, rows * columns)
    if mask is not None:
        seen = seen * mask.reshape(n, offset_groups, 1, places, rows * columns)
    seen = seen.reshape(n, groups, per_group * places, rows * columns)
    out = weight.reshape(groups, out_channels // groups, per_group * places) @ seen
    out = out.reshape(n, out_channels, rows, columns)
    return out if bias is None else out + bias[:, None, None]


class DeformConv2d(nn.Module):
    """`deform_conv2d` with a weight and a bias of its own.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: of the convolution.
        dilation: of the convolution.
        groups: of the convolution.
        bias: whether it has one.

    Example:
        >>> from vistorch.vision.ops import DeformConv2d
        >>> DeformConv2d(3, 8, 3, padding=1)
        DeformConv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
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
    ) -> None:
        super().__init__()
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _pair(kernel_size)
        self.stride = _pair(stride)
        self.padding = _pair(padding)
        self.dilation = _pair(dilation)
        self.groups = groups
        self.weight = nn.Parameter(vistorch.empty(out_channels, in_channels // groups, *self.kernel_size))
        if bias:
            self.bias = nn.Parameter(vistorch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weight and the bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight[0].numel())
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """The convolved pictures.

        Args:
            input: (N, in_channels, height, width).
            offset: how far down and right each weight looks.
            mask: how much of what it finds, or None.
        """
        return deform_conv2d(
            input, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask
        )

    def __repr__(self) -> str:
        shown = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        shown += f", padding={self.padding}" if self.padding != (0, 0) else ""
        shown += f", dilation={self.dilation}" if self.dilation != (1, 1) else ""
        shown += f", groups={self.groups}" if self.groups != 1 else ""
        shown += ", bias=False" if self.bias is None else ""
        return f"{self.__class__.__name__}({shown})"
