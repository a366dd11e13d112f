"""Functions of each element, and softmax: those that oneDNN computes faster than numpy and as well.

Not among them are relu, which would give 0 for nan, and exp, which would give infinity for it.
Invariant: arguments are dense float32 arrays of one memory order, and results have theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..addresses import address
from ..threads import LONG, share
from .primitives import (
    D_DST,
    D_SRC,
    DST,
    F4,
    SRC,
    TRAINING,
    Call,
    cached,
    described,
    good,
    plain,
)
from .products import has_nan

TANH, LOGISTIC, SWISH, GELU, GELU_TANH, HARDSWISH = 0x21, 0x29, 0x2C, 0x31, 0x2B, 0x34
ABS, SQRT, SQUARE = 0x24, 0x25, 0x23
TANH_FROM_OUT, LOGISTIC_FROM_OUT = 0x101, 0x104
SOFTMAX, LOG_SOFTMAX = 0x30000, 0x30001
_NUMBERS = {SWISH: (1.0, 0.0), HARDSWISH: (1 / 6, 0.5)}  # that a function takes beside its argument
_NANOSECONDS = 0.4  # of an element
_AT_ONCE = 1 << 17  # elements for each thread


def _eltwise_of(alg: int, n: int) -> Any:
    m = plain((n,))
    return good(described("eltwise_forward", TRAINING, alg, m, m, *_NUMBERS.get(alg, (0.0, 0.0)), None))


@cached
def _eltwise(threads, alg, n):
    m = plain((n,))
    return Call(_eltwise_of(alg, n), ((SRC, m),), ((DST, m),), threads, fixed=True)


@cached
def _eltwise_back(threads, alg, n):
    m, from_out = plain((n,)), alg in (TANH_FROM_OUT, LOGISTIC_FROM_OUT)
    hint = _eltwise_of(alg, n)
    pd = good(described("eltwise_backward", alg, m, m, m, *_NUMBERS.get(alg, (0.0, 0.0)), hint, None))
    kind = DST if from_out else SRC
    return Call(pd, ((kind, m), (D_DST, m)), ((D_SRC, m),), threads, fixed=True)


def eltwise(alg: int, x: Any, y: Any = None) -> Any:
    """A function of each element; the results go to `y`, which may be `x`."""
    call = _eltwise(share(x.size * LONG), alg, x.size)
    if call is None:
        return None
    if y is None:
        y = np.empty_like(x)
    call(address(x), address(y))
    return y


def eltwise_back(alg: int, g: Any, x: Any) -> Any:
    """The gradient of its argument, from that of the result and the argument (or the result, as `alg` says)."""
    call = _eltwise_back(share(x.size * LONG), alg, x.size)
    if call is None:
        return None
    d = np.empty_like(x)
    call(address(x), address(g), address(d))
    return d


def _softmax_of(shape: tuple, axis: int, alg: int) -> Any:
    m = plain(shape)
    return good(described("softmax_forward", TRAINING, alg, m, m, axis, None))


@cached
def _softmax(threads, shape, axis, alg):
    m = plain(shape)
    return Call(_softmax_of(shape, axis, alg), ((SRC, m),), ((DST, m),), threads, fixed=True)


@cached
def _softmax_back(threads, shape, axis, alg):
    m = plain(shape)
    hint = _softmax_of(shape, axis, alg)
    pd = good(described("softmax_backward", alg, m, m, m, axis, hint, None))
    return Call(pd, ((DST, m), (D_DST, m)), ((D_SRC, m),), threads, fixed=True)


def softmax(alg: int, x: Any, y: Any = None, checked: bool = True) -> Any:
    """Shares along the last axis, or their logarithms; None too where a nan is among the results.

    oneDNN then leaves the others of its row what they are, where all of them should be nan. Long arrays go some rows at
    a time, so that they are still in the cache when they are looked through. They go to `y`, which may be `x`.
    Without `checked` it is for the caller to look for nan.
    """
    threads = share(2 * x.size * _NANOSECONDS)
    columns = x.shape[-1]
    if y is None:
        y = np.empty(x.shape, F4)
    source = x.reshape(-1, columns)
    target = y.reshape(-1, columns)
    step = max(_AT_ONCE * threads // columns, 1)
    for start in range(0, len(source), step):
        part, out = source[start : start + step], target[start : start + step]
        call = _softmax(threads, part.shape, 1, alg)
        if call is None:
            return None
        call(address(part), address(out))
        if checked and has_nan(out.reshape(-1)):
            return None
    return y


def softmax_back(alg: int, g: Any, y: Any, d: Any = None) -> Any:
    """The gradient of the argument, from that of the result and the result; it goes to `d`, which may be `g`."""
    columns = y.shape[-1]
    call = _softmax_back(share(2 * y.size * _NANOSECONDS), (y.size // columns, columns), 1, alg)
    if call is None:
        return None
    if d is None:
        d = np.empty(y.shape, F4)
    call(address(y), address(g), address(d))
    return d
