"""Sums, products and quotients of long arrays, several of them in one pass over memory, on several threads.

One call of numpy keeps one core busy, and two threads of Python that make short calls wait for the interpreter's lock.
Here OpenMP shares out each call. A number among the operands is read when the call runs.
Invariant: operands are dense float32 arrays of one size and memory order; the result may be one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..addresses import address
from ..threads import LONG, share
from .chains import ADD, BAKED, DIV, EXP, MAX, MIN, MUL, OTHER, OTHER_THAN, SQRT, SQUARE, SUB, SUM, Then
from .primitives import DST, F4, SRC, Call, Refused, cached, described, good, plain

__all__ = [
    "ADD",
    "DIV",
    "EXP",
    "MAX",
    "MIN",
    "MUL",
    "OTHER_THAN",
    "SQRT",
    "SQUARE",
    "SUB",
    "SUM",
    "add_to_each",
    "broadcast",
    "chain",
]


@cached
def _chain(threads, alg, n, second, then):
    x, y = plain((n,)), plain((second,))
    with Then(then) as after:
        pd = good(described("binary", alg, x, y, x, after.attribute))
    return Call(pd, ((SRC, x), (OTHER, y), *after.inputs), ((DST, x),), threads, fixed=True)


@cached
def _each(threads, alg, xs, ys, function):
    x, y = plain(xs), plain(ys)
    with Then(((function, 0),) if function else ()) as after:
        pd = good(described("binary", alg, x, y, x, after.attribute))
    return Call(pd, ((SRC, x), (OTHER, y)), ((DST, x),), threads, fixed=True)


def chain(alg: int, x: Any, y: Any, out: Any, then: tuple[tuple[int, Any], ...] = ()) -> bool:
    """`out = x (op) y`, and what follows on each element before it is written; whether it was done.

    Args:
        alg: `ADD`, `SUB`, `MUL`, `DIV`, `OTHER_THAN`, `MAX` or `MIN`; of the last two the result is y
            where x or y is nan.
        x: an array.
        y: an array, or a number.
        out: where the result goes.
        then: operations that follow, each with its other operand: (`MUL`, 0.5), (`ADD`, array), (`SQRT`, 0), or
            (`SUM`, 0.9) for `0.9 * out` as it was. Each other factor of `SUM` makes another primitive.
    """
    n = x.size
    key = tuple([(op, b if op in BAKED else (b.size if b.__class__ is np.ndarray else 1,)) for op, b in then])
    call = _chain(share(n * LONG), alg, n, n if y.__class__ is np.ndarray else 1, key)
    if call is None:
        return False
    given = [y, *[b for op, b in then if op not in BAKED]]
    numbers = np.array([0 if b.__class__ is np.ndarray else b for b in given], F4)
    at = address(numbers)
    places = [address(b) if b.__class__ is np.ndarray else at + 4 * i for i, b in enumerate(given)]
    try:
        call(address(x), *places, address(out))
    except Refused:  # a library that counts its arguments otherwise
        return False
    return True


def broadcast(alg: int, x: Any, y: Any, out: Any, xs: tuple, ys: tuple, function: int = 0) -> bool:
    """`out = x (op) y`, where y has 1 for some of the dims of x, and a function of that; whether it was done.

    Args:
        alg: `ADD`, `SUB`, `MUL` or `DIV`.
        x: an array.
        y: an array.
        out: where the result goes, which may be `x`.
        xs: the shape to take x for.
        ys: the same of y, with as many dims.
        function: `EXP`, `SQUARE` or `SQRT`.
    """
    call = _each(share(x.size * LONG), alg, xs, ys, function)
    if call is None:
        return False
    call(address(x), address(y), address(out))
    return True


def add_to_each(x: Any, y: Any) -> bool:
    """`x += y`, where y has as many dims and 1 for some of those in front; whether it was done."""
    return broadcast(ADD, x, y, x, x.shape, y.shape)
