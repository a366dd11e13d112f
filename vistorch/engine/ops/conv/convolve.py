"""`conv1d`, `conv2d`, `conv3d` and `convolution`.

Invariant: images without a batch dim get one and lose it again, as PyTorch's graph shows.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...base import dims
from ...base.casting import casting
from ...core.private_order import Private, through
from ...core.registry import public
from ...core.tensor import Tensor
from ..image.pad import constant_pad
from ..shape.rows import squeeze_dim, unsqueeze
from . import rows
from .arguments import batched, checked, numbers, tensors, types

_NO = (0,)


def convolve(
    input: Any,
    weight: Any,
    bias: Any,
    stride: tuple,
    padding: tuple,
    dilation: tuple,
    groups: int,
    output_padding: tuple = _NO,
) -> Tensor:
    """A convolution of batched images."""
    x, w = input._data, weight._data
    stride, padding, dilation, _ = checked(
        x.shape,
        w.shape,
        None if bias is None else bias._data.shape,
        stride,
        padding,
        dilation,
        False,
        output_padding,
        groups,
    )
    if bias is None:
        if x.dtype is not w.dtype or x.dtype.kind not in "fc":
            types(input, weight, None, False, dilation)
        return rows.convolution(input, weight, stride, padding, dilation, groups)
    if x.dtype is not w.dtype or x.dtype is not bias._data.dtype or x.dtype.kind not in "fc":
        types(input, weight, bias, False, dilation)
    return rows.convolution_with_bias(input, weight, bias, stride, padding, dilation, groups)


def _same(input: Any, weight: Any, bias: Any, stride: tuple, dilation: tuple, groups: int) -> Tensor:
    """A convolution whose result is as large as the input."""
    x, w = input._data.shape, weight._data.shape
    rank = len(w) - 2
    if rank != len(x) - 2:
        raise RuntimeError(
            f"Expected {len(w)}-dimensional input for {len(w)}-dimensional weight{list(w)}, but got "
            f"{len(x)}-dimensional input of size {list(x)} instead"
        )
    for name, value in (("stride", stride), ("dilation", dilation)):
        if len(value) not in (1, rank):
            raise RuntimeError(f"{name} cannot broadcast to {rank} dimensions")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    if len(dilation) == 1:
        dilation = dilation * rank
    total = [d * (k - 1) for d, k in zip(dilation, w[2:], strict=True)]
    padding = tuple([max(t, 0) // 2 for t in total])
    if any(t % 2 for t in total):
        warnings.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
            "input be created",
            UserWarning,
            stacklevel=4,
        )
        # what is wrong is said about the image as it was given
        bias_shape = None if bias is None else bias._data.shape
        roomy = tuple([n + t % 2 for n, t in zip(x[2:], total, strict=True)])
        checked((*x[:2], *roomy), w, bias_shape, stride, padding, dilation, False, _NO, groups)
        pads = [n for t in reversed(total) for n in (0, t % 2)]
        input = constant_pad(input, tuple(pads), 0)
    return convolve(input, weight, bias, stride, padding, dilation, groups)


def _public(
    func: str,
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> Tensor:
    """`conv1d` and its like."""
    if input.__class__ is Private and not isinstance(
        padding, str
    ):  # "same" warns, and says where it was called
        return through(_public, func, rank, input, weight, bias, stride, padding, dilation, groups)
    tensors(func, input, weight, bias)
    stride = numbers(stride, rank, func, "stride", 4)
    dilation = numbers(dilation, rank, func, "dilation", 6)
    if groups.__class__ is not int:
        groups = dims.whole(groups, func, "groups", 7)
    named = isinstance(padding, str)
    pads = (0,) * rank if named else numbers(padding, rank, func, "padding", 5)
    d = input._data
    has_batch = batched(func, rank, d.ndim, d.shape)
    if not has_batch:
        input = unsqueeze(input, 0)
    if not named or padding == "valid":
        y = convolve(input, weight, bias, stride, pads, dilation, groups)
    elif padding == "same":
        y = _same(input, weight, bias, stride, dilation, groups)
    else:
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return y if has_batch else squeeze_dim(y, (0,))


@public(method=False)
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Slide filters along signals, and add up the products.

    Args:
        input: signals (N, C, length), or one of them.
        weight: filters (O, C/groups, kernel).
        bias: (O,), added to each result.
        stride: how far a filter moves at a time.
        padding: zeros on both sides; or "same" for results as long as the signals, or "valid" for none.
        dilation: how far apart the taps of a filter are.
        groups: into how many parts the channels are split, each with filters of its own.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[[1., 2., 3., 4.]]])
        >>> vistorch.conv1d(x, vistorch.tensor([[[1., 0., -1.]]]), padding=1)
        tensor([[[-2., -2., -2.,  3.]]])
    """
    if casting.on and (recast := casting.ask(conv1d, locals())):
        return recast[0]
    return _public("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@public(method=False)
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Slide filters over images, and add up the products.

    Args:
        input: images (N, C, height, width), or one of them.
        weight: filters (O, C/groups, kernel height, kernel width).
        bias: (O,), added to each result.
        stride: how far a filter moves at a time; one int for both dims, or two.
        padding: zeros on both sides; or "same" for results as large as the images, or "valid" for none.
        dilation: how far apart the taps of a filter are.
        groups: into how many parts the channels are split, each with filters of its own.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(9.).reshape(1, 1, 3, 3)
        >>> vistorch.conv2d(x, vistorch.ones(1, 1, 2, 2))
        tensor([[[[ 8., 12.],
                  [20., 24.]]]])
    """
    if casting.on and (recast := casting.ask(conv2d, locals())):
        return recast[0]
    return _public("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@public(method=False)
def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Slide filters through volumes, and add up the products.

    Args:
        input: volumes (N, C, depth, height, width), or one of them.
        weight: filters (O, C/groups, kernel depth, kernel height, kernel width).
        bias: (O,), added to each result.
        stride: how far a filter moves at a time; one int for all dims, or three.
        padding: zeros on both sides; or "same" for results as large as the volumes, or "valid" for none.
        dilation: how far apart the taps of a filter are.
        groups: into how many parts the channels are split, each with filters of its own.

    Example:
        >>> import vistorch
        >>> vistorch.conv3d(vistorch.ones(1, 1, 2, 3, 4), vistorch.ones(1, 1, 2, 2, 2)).shape
        vistorch.Size([1, 1, 1, 2, 3])
    """
    if casting.on and (recast := casting.ask(conv3d, locals())):
        return recast[0]
    return _public("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)
