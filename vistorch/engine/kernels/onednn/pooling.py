"""Max and average pooling of two or three dims, with the places of the maxima kept for the gradient.

Windows come as in `ops.pool.windows`: (size, stride, padding, dilation, outputs) for each dim.
Invariant: nothing is written to an argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..addresses import address
from ..threads import share
from .primitives import (
    D_DST,
    D_SRC,
    DST,
    SRC,
    TRAINING,
    WORKSPACE,
    Call,
    cached,
    described,
    good,
    last_strides,
    new,
    order_of,
    ordered,
    plain,
    size,
    wants,
)

MAX, MEAN_OF_ALL, MEAN = 0x1FF, 0x2FF, 0x3FF
_NANOSECONDS = 0.3  # of an element of the input


def _geometry(xs: tuple, windows: tuple) -> tuple:
    right = tuple(
        [(w[4] - 1) * w[1] + w[3] * (w[0] - 1) + 1 - n - w[2] for n, w in zip(xs[2:], windows, strict=True)]
    )
    sizes, strides, paddings, dilations, _ = zip(*windows, strict=True)
    return strides, sizes, tuple([d - 1 for d in dilations]), paddings, right


def _shapes(xs: tuple, windows: tuple) -> tuple:
    return xs, (*xs[:2], *[w[4] for w in windows])


def _descriptions(xs: tuple, windows: tuple, last: bool) -> list:
    """Of the input and of the result."""
    return [plain(s, last_strides(s) if last else None) for s in _shapes(xs, windows)]


def _forward_of(alg: int, xs: tuple, windows: tuple, last: bool) -> Any:
    x, y = _descriptions(xs, windows, last)
    return good(described("pooling_forward", TRAINING, alg, x, y, *_geometry(xs, windows), None))


@cached
def _forward(threads, alg, xs, windows, last):
    """The call and how long its workspace is."""
    pd = _forward_of(alg, xs, windows, last)
    x, y = _descriptions(xs, windows, last)
    outs, n = [(DST, y)], 0
    if alg == MAX:
        space = wants(pd, WORKSPACE)
        outs.append((WORKSPACE, space))
        n = size(space)
    return Call(pd, ((SRC, x),), tuple(outs), threads, fixed=True), n


@cached
def _backward(threads, alg, xs, windows, last):
    hint = _forward_of(alg, xs, windows, last)
    x, y = _descriptions(xs, windows, last)
    pd = good(described("pooling_backward", alg, x, y, *_geometry(xs, windows), hint, None))
    ins = [(D_DST, y)] + ([(WORKSPACE, wants(hint, WORKSPACE))] if alg == MAX else [])
    return Call(pd, tuple(ins), ((D_SRC, x),), threads, fixed=True)


def forward(alg: int, x: Any, windows: tuple) -> Any:
    """The pooled array and, for maxima, the workspace that says where they were (else None); it lies as the input."""
    x, last = order_of(x)
    found = _forward(share(x.size * _NANOSECONDS), alg, x.shape, windows, last)
    if found is None:
        return None
    call, n = found
    y = new(_shapes(x.shape, windows)[1], last)
    if alg != MAX:
        call(address(x), address(y))
        return y, None
    space = np.empty(n, np.uint8)
    call(address(x), address(y), address(space))
    return y, space


def backward(alg: int, g: Any, space: Any, shape: tuple, windows: tuple, last: bool = False) -> Any:
    """The gradient of an input of that shape; `last`: which lay with its channels last."""
    out = new(shape, last)
    call = _backward(share(out.size * _NANOSECONDS), alg, shape, windows, last)
    if call is None:
        return None
    g = ordered(g, last)
    if space is None:
        call(address(g), address(out))
    else:
        call(address(g), address(space), address(out))
    return out
