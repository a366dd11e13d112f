"""Channels turned into pixels and back, and channels dealt out anew.

Invariant: every row is a permutation of elements, and its gradient the permutation back.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, errors
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ..linalg import checks


def _pixel_shuffle(xp, input, factor):
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape(*lead, c // factor**2, factor, factor, h, w)
    x = x.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return xp.array(x, order="C").reshape(*lead, c // factor**2, h * factor, w * factor)


def _pixel_unshuffle(xp, input, factor):
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape(*lead, c, h // factor, factor, w // factor, factor)
    x = x.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return xp.array(x, order="C").reshape(*lead, c * factor**2, h // factor, w // factor)


def _channel_shuffle(xp, input, groups):
    n, c, *rest = input.shape
    x = input.reshape(n, groups, c // groups, *rest).swapaxes(1, 2)
    return xp.array(x, order="C").reshape(input.shape)


_shuffle_row = op(
    "pixel_shuffle",
    _pixel_shuffle,
    widen=False,
    formula=r"\bar x = \mathrm{unshuffle}(\bar y)",
    input=lambda F, g, factor: F.pixel_unshuffle(g, factor),
)
_unshuffle_row = op(
    "pixel_unshuffle",
    _pixel_unshuffle,
    widen=False,
    formula=r"\bar x = \mathrm{shuffle}(\bar y)",
    input=lambda F, g, factor: F.pixel_shuffle(g, factor),
)
_deal_row = op(
    "channel_shuffle",
    _channel_shuffle,
    widen=False,
    formula=r"\bar x = \mathrm{shuffle}(\bar y, c / \mathrm{groups})",
    input=lambda F, g, input_shape, groups: F.channel_shuffle(g, input_shape[1] // groups),
)


def _checked(name: str, what: str, input: Any, factor: Any) -> tuple:
    checks.tensors(name, input=input)
    factor = dims.whole(factor, name, what, 2)
    shape = input._data.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")
    return shape, factor


@public(method=False)
def pixel_shuffle(input, upscale_factor):
    """Turn channels into pixels: (*, C * r * r, H, W) to (*, C, H * r, W * r).

    Args:
        input: at least three dims.
        upscale_factor: how many times larger height and width become.

    Example:
        >>> import vistorch
        >>> vistorch.pixel_shuffle(vistorch.arange(4.).view(1, 4, 1, 1), 2)
        tensor([[[[0., 1.],
                  [2., 3.]]]])
    """
    shape, r = _checked("pixel_shuffle", "upscale_factor", input, upscale_factor)
    if shape[-3] % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={shape[-3]} is not divisible by {r * r}"
        )
    return _shuffle_row(input, r)


@public(method=False)
def pixel_unshuffle(input, downscale_factor):
    """Turn pixels into channels: (*, C, H * r, W * r) to (*, C * r * r, H, W).

    Args:
        input: at least three dims.
        downscale_factor: how many times smaller height and width become.

    Example:
        >>> import vistorch
        >>> vistorch.pixel_unshuffle(vistorch.arange(4.).view(1, 1, 2, 2), 2).shape
        vistorch.Size([1, 4, 1, 1])
    """
    shape, r = _checked("pixel_unshuffle", "downscale_factor", input, downscale_factor)
    for side, dim in (("height", -2), ("width", -1)):
        if shape[dim] % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but input.size({dim})="
                f"{shape[dim]} is not divisible by {r}"
            )
    return _unshuffle_row(input, r)


def _dealt(input: Any, groups: Any) -> Tensor:
    checks.tensors("channel_shuffle", input=input)
    groups = dims.whole(groups, "channel_shuffle", "groups", 2)
    shape = input._data.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {errors.sizes(shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    return _deal_row(input, groups)


@public(method=False)
def channel_shuffle(input, groups):
    """Deal the channels of each group out to all groups in turn.

    Args:
        input: (N, C, ...).
        groups: how many groups the channels are in.

    Example:
        >>> import vistorch
        >>> vistorch.channel_shuffle(vistorch.arange(4.).view(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    return _dealt(input, groups)


@public(method=False)
def native_channel_shuffle(input, groups):
    """`channel_shuffle`.

    Args:
        input: (N, C, ...).
        groups: how many groups the channels are in.

    Example:
        >>> import vistorch
        >>> vistorch.native_channel_shuffle(vistorch.arange(4.).view(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    return _dealt(input, groups)
