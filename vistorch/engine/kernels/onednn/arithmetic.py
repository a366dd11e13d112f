"""Sums, products and quotients of long arrays, with one rounding or two, on several threads.

One call of numpy keeps one core busy, and two threads of Python that make short calls wait for the interpreter's lock.
Here OpenMP shares out each call. A second operand may be a number, which is read when the call runs.
Invariant: operands are dense float32 arrays of one size and memory order; the result may be one of them.
"""

from __future__ import annotations

import ctypes as C
from typing import Any

import numpy as np

from ..threads import share
from .primitives import (
    DST,
    F4,
    SRC,
    TRAINING,
    Call,
    Refused,
    address,
    cached,
    described,
    good,
    lib,
    plain,
)

ADD, MUL, DIV, SUB = 0x1FFF0, 0x1FFF1, 0x1FFF4, 0x1FFF5
_SQRT = 0x25
_OTHER = 2  # the second operand of a binary primitive
_NANOSECONDS = 0.3  # of an element


class Added:
    """What makes a primitive add its result to what lies there already."""

    def __init__(self) -> None:
        self._ops = lib.made("post_ops_create")
        self.at = lib.made("primitive_attr_create")
        if lib.c.dnnl_post_ops_append_sum(self._ops, 1.0, 0, 0) or lib.c.dnnl_primitive_attr_set_post_ops(
            self.at, self._ops
        ):
            raise Refused("post_ops")


_added: Any = None


def _adding() -> int:
    global _added
    if _added is None:
        _added = Added()
    return _added.at


@cached
def _binary(threads, alg, n, number, adds):
    x, y = plain((n,)), plain((1,) if number else (n,))
    pd = good(described("binary", alg, x, y, x, C.c_void_p(_adding()) if adds else None))
    return Call(pd, ((SRC, x), (_OTHER, y)), ((DST, x),), threads, fixed=True)


@cached
def _root(threads, n):
    x = plain((n,))
    pd = good(described("eltwise_forward", TRAINING, _SQRT, x, x, 0.0, 0.0, None))
    return Call(pd, ((SRC, x),), ((DST, x),), threads, fixed=True)


def binary(alg: int, x: Any, y: Any, out: Any, adds: bool = False) -> bool:
    """`out = x (op) y`, or with `adds` `out += x (op) y`; whether it was done.

    Args:
        alg: `ADD`, `SUB`, `MUL` or `DIV`.
        x: an array.
        y: an array, or a number.
        out: where the result goes.
        adds: whether it is added.
    """
    number = y.__class__ is not np.ndarray
    n = x.size
    call = _binary(share(n * _NANOSECONDS), alg, n, number, adds)
    if call is None:
        return False
    if number:
        y = np.array((y,), F4)
    call(address(x), address(y), address(out))
    return True


def root(x: Any, out: Any) -> bool:
    """`out = sqrt(x)`; whether it was done."""
    call = _root(share(x.size * _NANOSECONDS), x.size)
    if call is None:
        return False
    call(address(x), address(out))
    return True
