"""Convolution and its two gradients, of one, two or three dims, in groups, with any stride, padding and dilation.

Geometry comes as in `kernels.conv`: tuples of one int for each dim. The result lies as numpy's would. Each function
gives None where oneDNN has no kernel of its own.
Invariant: nothing is written to an argument.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

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
    address,
    cached,
    described,
    free,
    good,
    plain,
)

_DIRECT = 1
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


def _forward_of(xs: tuple, ws: tuple, out: tuple, bias: bool, rest: tuple) -> Any:
    """The description of the forward pass, which those of the gradients ask for as well."""
    b = plain(ws[:1]) if bias else None
    x, w, y = free(xs), free(_grouped(ws, rest[3])), free((xs[0], ws[0], *out))
    return described(
        "convolution_forward", TRAINING, _DIRECT, x, w, b, y, *_geometry(xs, ws, out, *rest[:3]), None
    )


@cached
def _forward(threads, xs, ws, out, bias, *rest):
    pd = good(_forward_of(xs, ws, out, bias, rest))
    ins = [(SRC, plain(xs)), (WEIGHTS, plain(_grouped(ws, rest[3])))] + ([(BIAS, plain(ws[:1]))] * bias)
    return Call(pd, tuple(ins), ((DST, plain((xs[0], ws[0], *out))),), threads)


@cached
def _input_grad(threads, xs, ws, out, *rest):
    hint = _forward_of(xs, ws, out, False, rest)
    w, ys = _grouped(ws, rest[3]), (xs[0], ws[0], *out)
    g = _geometry(xs, ws, out, *rest[:3])
    pd = good(described("convolution_backward_data", _DIRECT, free(xs), free(w), free(ys), *g, hint, None))
    return Call(pd, ((D_DST, plain(ys)), (WEIGHTS, plain(w))), ((D_SRC, plain(xs)),), threads)


@cached
def _weight_grad(threads, xs, ws, out, *rest):
    hint = _forward_of(xs, ws, out, False, rest)
    w, ys = _grouped(ws, rest[3]), (xs[0], ws[0], *out)
    g = _geometry(xs, ws, out, *rest[:3])
    pd = good(
        described("convolution_backward_weights", _DIRECT, free(xs), free(w), None, free(ys), *g, hint, None)
    )
    return Call(pd, ((SRC, plain(xs)), (D_DST, plain(ys))), ((D_WEIGHTS, plain(w)),), threads)


def _work(ys: tuple, ws: tuple) -> float:
    """About how many nanoseconds one thread takes."""
    return prod(ys) * prod(ws[1:]) * _FLOPS


def forward(x: Any, w: Any, bias: Any, out: tuple, *rest: Any) -> Any:
    """The convolution of [N, C, *size] with [O, C/groups, *kernel], plus [O] (or None); `out`: its spatial shape."""
    ys = (x.shape[0], w.shape[0], *out)
    call = _forward(share(_work(ys, w.shape)), x.shape, w.shape, out, bias is not None, *rest)
    if call is None:
        return None
    x, w, y = np.ascontiguousarray(x), np.ascontiguousarray(w), np.empty(ys, F4)
    if bias is None:
        call(address(x), address(w), address(y))
    else:
        bias = np.ascontiguousarray(bias)
        call(address(x), address(w), address(bias), address(y))
    return y


def input_grad(g: Any, w: Any, size: tuple, *rest: Any) -> Any:
    """What `forward` sends to its input of spatial shape `size`, from the gradient [N, O, *out]."""
    xs = (g.shape[0], w.shape[1] * rest[3], *size)
    call = _input_grad(share(_work(g.shape, w.shape)), xs, w.shape, g.shape[2:], *rest)
    if call is None:
        return None
    g, w, x = np.ascontiguousarray(g), np.ascontiguousarray(w), np.empty(xs, F4)
    call(address(g), address(w), address(x))
    return x


def weight_grad(g: Any, x: Any, kernel: tuple, *rest: Any) -> Any:
    """What `forward` sends to its kernel [O, C/groups, *kernel]; its rounding depends on the number of threads."""
    ws = (g.shape[1], x.shape[1] // rest[3], *kernel)
    call = _weight_grad(steady(_work(g.shape, ws)), x.shape, ws, g.shape[2:], *rest)
    if call is None:
        return None
    g, x, w = np.ascontiguousarray(g), np.ascontiguousarray(x), np.empty(ws, F4)
    call(address(x), address(g), address(w))
    return w
