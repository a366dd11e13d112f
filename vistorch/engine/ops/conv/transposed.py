"""`conv_transpose1d`, `conv_transpose2d`, `conv_transpose3d`, and `convolution`, which is either.

A transposed convolution is what a convolution sends back to its input.
Invariant: its weight is (in, out/groups, *kernel).
"""

from __future__ import annotations

from typing import Any

from ...base import dims
from ...base.casting import casting
from ...core.registry import public
from ...core.tensor import Tensor
from ..shape.rows import squeeze_dim, unsqueeze
from . import rows
from .arguments import batched, checked, numbers, tensors, types
from .convolve import convolve


def transpose(
    input: Any,
    weight: Any,
    bias: Any,
    stride: tuple,
    padding: tuple,
    output_padding: tuple,
    groups: int,
    dilation: tuple,
) -> Tensor:
    """A transposed convolution of batched images."""
    x, w = input._data, weight._data
    bias_shape = None if bias is None else bias._data.shape
    stride, padding, dilation, size = checked(
        x.shape, w.shape, bias_shape, stride, padding, dilation, True, output_padding, groups
    )
    types(input, weight, bias, True, dilation)
    if bias is None:
        return rows.transposed(input, weight, size, stride, padding, dilation, groups)
    return rows.transposed_with_bias(input, weight, bias, size, stride, padding, dilation, groups)


def _public(
    func: str,
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> Tensor:
    tensors(func, input, weight, bias)
    stride = numbers(stride, rank, func, "stride", 4)
    padding = numbers(padding, rank, func, "padding", 5)
    output_padding = numbers(output_padding, rank, func, "output_padding", 6)
    if groups.__class__ is not int:
        groups = dims.whole(groups, func, "groups", 7)
    dilation = numbers(dilation, rank, func, "dilation", 8)
    d = input._data
    if batched(func, rank, d.ndim, d.shape):
        return transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
    one = unsqueeze(input, 0)
    return squeeze_dim(transpose(one, weight, bias, stride, padding, output_padding, groups, dilation), (0,))


@public(method=False)
def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Let each value of a signal add a multiple of a filter to the result.

    Args:
        input: signals (N, C, length), or one of them.
        weight: filters (C, O/groups, kernel).
        bias: (O,), added to each result.
        stride: how far a filter moves at a time.
        padding: how much is cut from both sides, as if the convolution that is transposed had padded.
        output_padding: how much longer the result is at its end.
        groups: into how many parts the channels are split, each with filters of its own.
        dilation: how far apart the taps of a filter are.

    Example:
        >>> import vistorch
        >>> vistorch.conv_transpose1d(vistorch.tensor([[[1., 2.]]]), vistorch.tensor([[[1., 10.]]]), stride=2)
        tensor([[[ 1., 10.,  2., 20.]]])
    """
    if casting.on and (recast := casting.ask(conv_transpose1d, locals())):
        return recast[0]
    return _public(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@public(method=False)
def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Let each value of an image add a multiple of a filter to the result.

    Args:
        input: images (N, C, height, width), or one of them.
        weight: filters (C, O/groups, kernel height, kernel width).
        bias: (O,), added to each result.
        stride: how far a filter moves at a time.
        padding: how much is cut from both sides, as if the convolution that is transposed had padded.
        output_padding: how much larger the result is at its end.
        groups: into how many parts the channels are split, each with filters of its own.
        dilation: how far apart the taps of a filter are.

    Example:
        >>> import vistorch
        >>> vistorch.conv_transpose2d(vistorch.ones(1, 1, 2, 2), vistorch.ones(1, 1, 2, 2))
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
    """
    if casting.on and (recast := casting.ask(conv_transpose2d, locals())):
        return recast[0]
    return _public(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@public(method=False)
def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Let each value of a volume add a multiple of a filter to the result.

    Args:
        input: volumes (N, C, depth, height, width), or one of them.
        weight: filters (C, O/groups, kernel depth, kernel height, kernel width).
        bias: (O,), added to each result.
        stride: how far a filter moves at a time.
        padding: how much is cut from both sides, as if the convolution that is transposed had padded.
        output_padding: how much larger the result is at its end.
        groups: into how many parts the channels are split, each with filters of its own.
        dilation: how far apart the taps of a filter are.

    Example:
        >>> import vistorch
        >>> vistorch.conv_transpose3d(vistorch.ones(1, 1, 1, 2, 2), vistorch.ones(1, 2, 2, 3, 3), stride=2).shape
        vistorch.Size([1, 2, 2, 5, 5])
    """
    if casting.on and (recast := casting.ask(conv_transpose3d, locals())):
        return recast[0]
    return _public(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@public(method=False)
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution of any rank, or a transposed one, with everything said.

    Args:
        input: (N, C, *size).
        weight: (O, C/groups, *kernel); (C, O/groups, *kernel) of a transposed one.
        bias: (O,), or None.
        stride: a list of ints, one for each spatial dim.
        padding: as `stride`.
        dilation: as `stride`.
        transposed: whether it is a transposed one.
        output_padding: as `stride`.
        groups: into how many parts the channels are split.

    Example:
        >>> import vistorch
        >>> x, w = vistorch.ones(1, 1, 3), vistorch.ones(1, 1, 2)
        >>> vistorch.convolution(x, w, None, [1], [0], [1], False, [0], 1)
        tensor([[[2., 2.]]])
    """
    if casting.on and (recast := casting.ask(convolution, locals())):
        return recast[0]
    func = "convolution"
    tensors(func, input, weight, bias)
    stride = dims.sequence(stride, func, "stride", 4)
    padding = dims.sequence(padding, func, "padding", 5)
    dilation = dims.sequence(dilation, func, "dilation", 6)
    transposed = dims.flag(transposed, func, "transposed", 7)
    output_padding = dims.sequence(output_padding, func, "output_padding", 8)
    groups = dims.whole(groups, func, "groups", 9)
    if transposed:
        return transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolve(input, weight, bias, stride, padding, dilation, groups, output_padding)
