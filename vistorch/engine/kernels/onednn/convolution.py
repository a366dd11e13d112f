"""Convolution and its two gradients, of one, two or three dims, in groups, with any stride, padding and dilation.

Geometry comes as in `kernels.conv`: tuples of one int for each dim. The result lies as numpy's would. Each function
gives None where oneDNN has no kernel of its own.
Invariant: nothing is written to an argument.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..addresses import address
from ..strides import scope
from ..threads import share, steady
from .primitives import (
    BIAS,
    D_DST,
    D_SRC,
    D_WEIGHTS,
    DST,
    F4,
    SRC,
    TRAINING,
    WEIGHTS,
    Call,
    cached,
    described,
    free,
    good,
    last_strides,
    new,
    order_of,
    plain,
)

_DIRECT = 1
_PIXELS = 64  # of a result, from which kernels that work on channels last are the faster ones
_LEAST = 1 << 14  # elements of an input, from which a result with channels last pays
_FLOPS = 1 / 25  # nanoseconds of a multiplication and an addition, where the kernel is good


def _grouped(ws: tuple, groups: int) -> tuple:
    return ws if groups == 1 else (groups, ws[0] // groups, *ws[1:])


def _geometry(xs: tuple, ws: tuple, out: tuple, stride: tuple, padding: tuple, dilation: tuple) -> tuple:
    """Strides, oneDNN's dilation (0 is dense) and the padding on both sides."""
    right = tuple(
        [
            (o - 1) * s + d * (k - 1) + 1 - n - p
            for o, s, d, k, n, p in zip(out, stride, dilation, ws[2:], xs[2:], padding, strict=True)
        ]
    )
    return stride, tuple([d - 1 for d in dilation]), padding, right


def _images(shape: tuple, last: bool, out: tuple) -> Any:
    """The layout that a primitive is asked for: channels last, or what it likes; small images are faster in blocks."""
    return plain(shape, last_strides(shape)) if last and prod(out) >= _PIXELS else free(shape)


def _lies(shape: tuple, last: bool) -> Any:
    """The layout of an array."""
    return plain(shape, last_strides(shape) if last else None)


def _forward_of(xs: tuple, ws: tuple, out: tuple, bias: bool, last: bool, rest: tuple) -> Any:
    """The description of the forward pass, which those of the gradients ask for as well."""
    b = plain(ws[:1]) if bias else None
    x, w, y = _images(xs, last, out), free(_grouped(ws, rest[3])), _images((xs[0], ws[0], *out), last, out)
    return described(
        "convolution_forward", TRAINING, _DIRECT, x, w, b, y, *_geometry(xs, ws, out, *rest[:3]), None
    )


@cached
def _forward(threads, xs, ws, out, bias, last, x_last, *rest):
    pd = good(_forward_of(xs, ws, out, bias, last, rest))
    ins = [(SRC, _lies(xs, x_last)), (WEIGHTS, plain(_grouped(ws, rest[3])))] + [(BIAS, plain(ws[:1]))] * bias
    return Call(pd, tuple(ins), ((DST, _lies((xs[0], ws[0], *out), last)),), threads)


@cached
def _input_grad(threads, xs, ws, out, last, *rest):
    hint = _forward_of(xs, ws, out, False, last, rest)
    w, ys = _grouped(ws, rest[3]), (xs[0], ws[0], *out)
    x, y = _images(xs, last, out), _images(ys, last, out)
    g = _geometry(xs, ws, out, *rest[:3])
    pd = good(described("convolution_backward_data", _DIRECT, x, free(w), y, *g, hint, None))
    return Call(pd, ((D_DST, _lies(ys, last)), (WEIGHTS, plain(w))), ((D_SRC, _lies(xs, last)),), threads)


@cached
def _weight_grad(threads, xs, ws, out, x_last, g_last, *rest):
    last = x_last or g_last
    hint = _forward_of(xs, ws, out, False, last, rest)
    w, ys = _grouped(ws, rest[3]), (xs[0], ws[0], *out)
    x, y = _images(xs, last, out), _images(ys, last, out)
    g = _geometry(xs, ws, out, *rest[:3])
    pd = good(described("convolution_backward_weights", _DIRECT, x, free(w), None, y, *g, hint, None))
    ins = (SRC, _lies(xs, x_last)), (D_DST, _lies(ys, g_last))
    return Call(pd, ins, ((D_WEIGHTS, plain(w)),), threads)


def _work(ys: tuple, ws: tuple) -> float:
    """About how many nanoseconds one thread takes."""
    return prod(ys) * prod(ws[1:]) * _FLOPS


def suits(xs: tuple, ws: tuple, out: tuple, groups: int) -> bool:
    """Whether channels last were measured to be the faster order for a result."""
    return (
        len(ws) == 4
        and groups == 1
        and not ws[0] % 16
        and (not ws[1] % 16 or ws[1] < 5)
        and max(prod(xs), xs[0] * ws[0] * prod(out)) >= _LEAST
    )


def forward(x: Any, w: Any, bias: Any, out: tuple, *rest: Any) -> Any:
    """The convolution of [N, C, *size] with [O, C/groups, *kernel], plus [O] (or None); `out`: its spatial shape.

    Where channels last are the faster order, the result lies so.
    """
    ys = (x.shape[0], w.shape[0], *out)
    x, x_last = order_of(x)
    last = rest[3] == 1 and (x_last or (scope.open is True and suits(x.shape, w.shape, out, 1)))
    call = _forward(share(_work(ys, w.shape)), x.shape, w.shape, out, bias is not None, last, x_last, *rest)
    if call is None:
        return None
    w, y = np.ascontiguousarray(w), new(ys, last)
    if bias is None:
        call(address(x), address(w), address(y))
    else:
        bias = np.ascontiguousarray(bias)
        call(address(x), address(w), address(bias), address(y))
    return y


def input_grad(g: Any, w: Any, size: tuple, *rest: Any) -> Any:
    """What `forward` sends to its input of spatial shape `size`, from the gradient [N, O, *out]; it lies as that."""
    xs = (g.shape[0], w.shape[1] * rest[3], *size)
    g, last = order_of(g)
    call = _input_grad(share(_work(g.shape, w.shape)), xs, w.shape, g.shape[2:], last, *rest)
    if call is None:
        return None
    w, x = np.ascontiguousarray(w), new(xs, last)
    call(address(g), address(w), address(x))
    return x


def weight_grad(g: Any, x: Any, kernel: tuple, *rest: Any) -> Any:
    """What `forward` sends to its kernel [O, C/groups, *kernel]; its rounding depends on the number of threads."""
    ws = (g.shape[1], x.shape[1] // rest[3], *kernel)
    (g, g_last), (x, x_last) = order_of(g), order_of(x)
    call = _weight_grad(steady(_work(g.shape, ws)), x.shape, ws, g.shape[2:], x_last, g_last, *rest)
    if call is None:
        return None
    w = np.empty(ws, F4)
    call(address(x), address(g), address(w))
    return w
