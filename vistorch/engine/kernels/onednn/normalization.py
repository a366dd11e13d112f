"""Layer normalisation of the rows of a matrix, and batch normalisation of images whose channels lie last.

Variances come and go as the reciprocal of the deviation, which is what the engine keeps.
Invariant: nothing is written to an argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..addresses import address
from ..threads import share, steady
from .primitives import (
    BACKWARD,
    BACKWARD_DATA,
    D_DST,
    D_SCALE,
    D_SHIFT,
    D_SRC,
    DST,
    F4,
    INFERENCE,
    MEAN,
    SCALE,
    SHIFT,
    SRC,
    TRAINING,
    VARIANCE,
    Call,
    cached,
    described,
    good,
    inputs_of,
    last_strides,
    new,
    ordered,
    plain,
)

_GLOBAL, _SCALE, _SHIFT = 1, 2, 4
_NANOSECONDS = 0.6  # of an element


def _forward_of(n: int, c: int, eps: float, flags: int) -> Any:
    x = plain((n, c))
    return good(described("layer_normalization_forward", TRAINING, x, x, plain((n,)), eps, flags, None))


@cached
def _forward(threads, n, c, eps, flags):
    x, s, w = plain((n, c)), plain((n,)), plain((c,))
    ins = [(SRC, x), *[(k, w) for k, bit in ((SCALE, _SCALE), (SHIFT, _SHIFT)) if flags & bit]]
    return Call(
        _forward_of(n, c, eps, flags),
        tuple(ins),
        ((DST, x), (MEAN, s), (VARIANCE, s)),
        threads,
        fixed=True,
    )


@cached
def _backward(threads, n, c, flags):
    """The call, and whether it asks for the shift, which versions up to 3.6 do."""
    x, s, w = plain((n, c)), plain((n,)), plain((c,))
    kind = BACKWARD if flags else BACKWARD_DATA
    hint = _forward_of(n, c, 0.0, flags)
    pd = good(described("layer_normalization_backward", kind, x, x, x, s, 0.0, flags, hint, None))
    ins = [(SRC, x), (D_DST, x), (MEAN, s), (VARIANCE, s)]
    outs = [(D_SRC, x)]
    asks = False
    if flags & _SCALE:
        ins.append((SCALE, w))
        outs.append((D_SCALE, w))
    if flags & _SHIFT:
        asks = inputs_of(pd) > len(ins)
        if asks:
            ins.append((SHIFT, w))
        outs.append((D_SHIFT, w))
    return Call(pd, tuple(ins), tuple(outs), threads, fixed=True), asks


def _flags(weight: Any, bias: Any) -> int:
    return (0 if weight is None else _SCALE) | (0 if bias is None else _SHIFT)


def forward(x: Any, weight: Any, bias: Any, eps: float) -> Any:
    """(out, mean, 1 / deviation) of the rows of a dense matrix; weight and bias are vectors or None."""
    n, c = x.shape
    call = _forward(share(x.size * _NANOSECONDS), n, c, eps, _flags(weight, bias))
    if call is None:
        return None
    out, mean, inverse = np.empty((n, c), F4), np.empty(n, F4), np.empty(n, F4)
    given = [address(t) for t in (weight, bias) if t is not None]
    call(address(x), *given, address(out), address(mean), address(inverse))
    inverse += F4.type(eps)
    np.sqrt(inverse, inverse)
    np.divide(1, inverse, inverse)
    return out, mean, inverse


def backward(g: Any, x: Any, weight: Any, bias: bool, mean: Any, inverse: Any) -> Any:
    """The gradients of x, weight and bias (None where there is none); the last two depend on the number of threads."""
    n, c = x.shape
    found = _backward(steady(x.size * _NANOSECONDS), n, c, _flags(weight, True if bias else None))
    if found is None:
        return None
    call, asks = found
    variance = inverse * inverse
    np.divide(1, variance, variance)
    out = np.empty((n, c), F4)
    of_w = None if weight is None else np.empty(c, F4)
    of_b = np.empty(c, F4) if bias else None
    args = [address(t) for t in (x, g, mean, variance)]
    shift = np.zeros(c, F4) if asks else None
    args += [address(t) for t in (weight, shift, out, of_w, of_b) if t is not None]
    call(*args)
    return out, of_w, of_b


# ---- batch normalisation --------------------------------------------------------------------------------------------
def _batch_of(kind: int, xs: tuple, eps: float, flags: int) -> Any:
    x = plain(xs, last_strides(xs))
    return good(described("batch_normalization_forward", kind, x, x, eps, flags, None))


def _weights(flags: int, c: int) -> list:
    return [(k, plain((c,))) for k, bit in ((SCALE, _SCALE), (SHIFT, _SHIFT)) if flags & bit]


@cached
def _batch_forward(threads, xs, eps, flags):
    x, w = plain(xs, last_strides(xs)), plain(xs[1:2])
    ins = ((SRC, x), *_weights(flags, xs[1]))
    outs = ((DST, x), (MEAN, w), (VARIANCE, w))
    return Call(_batch_of(TRAINING, xs, eps, flags), ins, outs, threads, fixed=True)


@cached
def _batch_applied(threads, xs, eps, flags):
    x, w = plain(xs, last_strides(xs)), plain(xs[1:2])
    ins = ((SRC, x), (MEAN, w), (VARIANCE, w), *_weights(flags, xs[1]))
    return Call(_batch_of(INFERENCE, xs, eps, flags | _GLOBAL), ins, ((DST, x),), threads, fixed=True)


@cached
def _batch_backward(threads, xs, eps, flags):
    x, w = plain(xs, last_strides(xs)), plain(xs[1:2])
    hint = _batch_of(TRAINING, xs, eps, flags)
    kind = BACKWARD if flags else BACKWARD_DATA
    pd = good(described("batch_normalization_backward", kind, x, x, x, eps, flags, hint, None))
    ins, outs = [(SRC, x), (D_DST, x), (MEAN, w), (VARIANCE, w)], [(D_SRC, x)]
    if flags:
        ins.append((SCALE, w))
        outs += [(D_SCALE, w), (D_SHIFT, w)]
    return Call(pd, tuple(ins), tuple(outs), threads, fixed=True)


def batch_forward(x: Any, weight: Any, bias: Any, eps: float) -> Any:
    """(out, mean, 1 / deviation, variance) of each channel; the first lies as the input."""
    flags = _flags(weight, bias)
    call = _batch_forward(share(x.size * _NANOSECONDS), x.shape, eps, flags)
    if call is None:
        return None
    c = x.shape[1]
    out, mean, variance = new(x.shape, True), np.empty(c, F4), np.empty(c, F4)
    given = [address(t) for t in (weight, bias) if t is not None]
    call(address(x), *given, address(out), address(mean), address(variance))
    wide = variance.astype("f8")
    return out, mean, (1 / np.sqrt(wide + eps)).astype(F4), wide


def batch_applied(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float) -> Any:
    """The same with statistics that are given."""
    call = _batch_applied(share(x.size * _NANOSECONDS), x.shape, eps, _flags(weight, bias))
    if call is None:
        return None
    out = new(x.shape, True)
    wide = variance.astype("f8")
    mean, variance = [np.ascontiguousarray(t, F4) for t in (mean, variance)]
    given = [address(t) for t in (weight, bias) if t is not None]
    call(address(x), address(mean), address(variance), *given, address(out))
    return out, mean, (1 / np.sqrt(wide + eps)).astype(F4), wide


def batch_backward(g: Any, x: Any, weight: Any, mean: Any, inverse: Any) -> Any:
    """The gradients of x, weight and bias; the last two depend on the number of threads."""
    c = x.shape[1]
    call = _batch_backward(steady(2 * x.size * _NANOSECONDS), x.shape, 0.0, _SCALE | _SHIFT)
    if call is None:
        return None
    variance = inverse.astype("f8")
    variance = (1 / (variance * variance)).astype(F4)
    scale = np.ones(c, F4) if weight is None else weight
    out, of_w, of_b = new(x.shape, True), np.empty(c, F4), np.empty(c, F4)
    g = ordered(g, True)  # held until the call is over
    call(*[address(t) for t in (x, g, mean, variance, scale, out, of_w, of_b)])
    return out, of_w, of_b
