"""Convolution and its two gradients, for any rank, stride, padding, dilation and number of groups.

Which algorithm runs is decided here and nowhere else, by `choose`. Invariant: nothing is written to an argument, and
every way gives the same numbers up to rounding.
"""

from __future__ import annotations

import functools
from math import prod
from typing import Any, NamedTuple

import numpy as np

from . import conv_columns, conv_depthwise, conv_last, conv_point, conv_winograd

F4 = np.dtype("f4")
_MANY = 32  # channels from which it pays to bring them last
_SMALL = 64  # positions of one image below which its matrices are too thin
_TILES = 64  # tiles below which turning the kernel costs more than it saves


class Shape(NamedTuple):
    """What the choice depends on."""

    size: tuple
    kernel: tuple
    out: tuple
    stride: tuple
    padding: tuple
    dilation: tuple
    groups: int
    images: int
    channels: int
    filters: int


def choose(xp: Any, dtype: Any, at: Shape) -> str:
    """The way to convolve.

    point: a kernel of one tap is a product with the channels as they lie.
    depthwise: each channel alone: sums of shifted images.
    winograd: 3 by 3 with many channels: fewer products, where there are enough tiles to pay for turning the kernel.
    last: many channels, and images so small or strides such that columns would be short.
    columns: everything else.
    """
    if at.groups != 1:
        alone = at.groups == at.channels == at.filters and len(at.kernel) == 2
        return "depthwise" if alone and xp is np and dtype.kind == "f" and _is_dense(at) else "columns"
    if prod(at.kernel) == 1:
        fits = all((o - 1) * s < n for o, s, n in zip(at.out, at.stride, at.size, strict=True))
        return "point" if fits and not any(at.padding) else "columns"
    if min(at.channels, at.filters) < _MANY:
        return "columns"
    if at.kernel == (3, 3) and at.dilation == (1, 1) and dtype == F4 and _is_dense(at):
        if at.images * at.out[0] * at.out[1] >= 4 * _TILES:
            return "winograd"
    return "last" if prod(at.out) < _SMALL or prod(at.stride) != 1 else "columns"


def _is_dense(at: Shape) -> bool:
    """Whether the stride is 1 and the padding no wider than the kernel: the input's gradient is a convolution too."""
    return (
        prod(at.stride) == 1
        and all(p <= d * (k - 1) for p, d, k in zip(at.padding, at.dilation, at.kernel, strict=True))
        and at.out == out_size(*at[:2], *at[3:6])
    )


def out_size(size: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple) -> tuple:
    """The spatial shape of a convolution's result."""
    return tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
        ]
    )


@functools.lru_cache(512)
def plan(
    xp: Any,
    dtype: Any,
    x: tuple,
    w: tuple,
    out: tuple | None,
    stride: tuple,
    padding: tuple,
    dilation: tuple,
    groups: int,
) -> tuple[str, Shape, tuple | None]:
    """How to convolve shapes `x` and `w`: the way, what, and which taps (None: all).

    `out` is the spatial shape of the result, where it does not follow from the rest.
    """
    if out is None:
        out = out_size(x[2:], w[2:], stride, padding, dilation)
    at = Shape(x[2:], w[2:], out, stride, padding, dilation, groups, x[0], x[1], w[0])
    if not (prod(x) and prod(w) and prod(out)):
        return "nothing", at, None
    live = None
    for p, d, n in zip(padding, dilation, at.size, strict=True):
        if p + d > n:  # else every tap sees something
            at, live = _trimmed(at)
            break
    return choose(xp, dtype, at), at, live


def _trimmed(at: Shape) -> tuple[Shape, tuple]:
    """The same convolution without the taps that see nothing but padding, and where the others are."""
    found = []
    for n, k, o, s, p, d in zip(*at[:6], strict=True):
        first = next((i for i in range(k) if _sees(i * d - p, n, o, s)), 0)
        last = next((i for i in range(k - 1, -1, -1) if _sees(i * d - p, n, o, s)), 0)
        first = min(first, p // d)  # what is left of the padding is not negative
        found.append(slice(first, last + 1))
    kernel = tuple([s.stop - s.start for s in found])
    padding = tuple([p - s.start * d for p, s, d in zip(at.padding, found, at.dilation, strict=True)])
    return at._replace(kernel=kernel, padding=padding), (..., *found)


def _sees(first: int, n: int, out: int, stride: int) -> bool:
    """Whether one of the positions first, first + stride, ... is in the image."""
    begin = first if first >= 0 else first % stride
    return begin < n and begin <= first + (out - 1) * stride


def forward(xp, x, w, bias, stride, padding, dilation, groups):
    """The convolution of [N, C, *size] with [O, C/groups, *kernel], plus [O] (or None)."""
    way, at, live = plan(xp, x.dtype, x.shape, w.shape, None, stride, padding, dilation, groups)
    if live is not None:
        w = w[live]
    if way == "columns":
        return conv_columns.forward(xp, x, w, bias, at.out, stride, at.padding, dilation, groups)
    if way == "winograd":
        return conv_winograd.forward(xp, x, w, bias, at.out, at.padding)
    if way == "last":
        return conv_last.forward(xp, x, w, bias, at.out, stride, at.padding, dilation)
    if way == "point":
        return conv_point.forward(xp, x, w, bias, at.out, stride)
    if way == "depthwise":
        return conv_depthwise.forward(x, w, bias, at.padding, dilation)
    y = xp.zeros((at.images, at.filters, *at.out), x.dtype)
    return y if bias is None else y + bias.reshape((-1,) + (1,) * len(at.out))


def input_grad(xp, g, w, size, stride, padding, dilation, groups):
    """What `forward` sends to its input, from the gradient [N, O, *out]; `size` is the input's spatial shape."""
    shape = (len(g), w.shape[1] * groups, *size)
    way, at, live = plan(xp, g.dtype, shape, w.shape, g.shape[2:], stride, padding, dilation, groups)
    if live is not None:
        w = w[live]
    if way == "columns":
        return conv_columns.input_grad(xp, g, w, size, stride, at.padding, dilation, groups)
    if way == "winograd":
        return conv_winograd.input_grad(xp, g, w, size, at.padding)
    if way == "last":
        return conv_last.input_grad(xp, g, w, size, stride, at.padding, dilation)
    if way == "point":
        return conv_point.input_grad(xp, g, w, size, stride)
    if way == "depthwise":
        return conv_depthwise.input_grad(g, w, at.padding, dilation)
    return xp.zeros(shape, g.dtype)


def weight_grad(xp, g, x, kernel, stride, padding, dilation, groups):
    """What `forward` sends to its kernel [O, C/groups, *kernel]."""
    shape = (g.shape[1], x.shape[1] // groups, *kernel)
    way, at, live = plan(xp, g.dtype, x.shape, shape, g.shape[2:], stride, padding, dilation, groups)
    if way == "columns":
        found = conv_columns.weight_grad(xp, g, x, at.kernel, stride, at.padding, dilation, groups)
    elif way == "winograd":
        found = conv_winograd.weight_grad(xp, g, x, at.padding)
    elif way == "last":
        found = conv_last.weight_grad(xp, g, x, at.kernel, stride, at.padding, dilation)
    elif way == "point":
        found = conv_point.weight_grad(xp, g, x, stride)
    elif way == "depthwise":
        found = conv_depthwise.weight_grad(g, x, at.kernel, at.padding, dilation)
    else:
        return xp.zeros(shape, g.dtype)
    if live is None:
        return found
    whole = xp.zeros(shape, g.dtype)
    whole[live] = found
    return whole
