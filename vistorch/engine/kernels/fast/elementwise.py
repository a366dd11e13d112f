"""numpy's elementwise functions of large float32 arrays, run by oneDNN on all threads.

OpenMP's threads wait for work awake: sharing out a call takes microseconds, where threads of Python have to be woken
and to get the interpreter's lock. So this pays from `sizes.each` on, the pool of Python's threads from `spread.BIG` on.
A sum, a product or a root is the same bits here and there; tanh differs by rounding, so it is oneDNN's whatever the
number of threads. exp is left to numpy: what oneDNN has is off by up to ten units in the last place.
Invariant: nan, infinity, and numbers too small to be normal are in the result what they are in numpy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..threads import LONG, share
from .switch import onednn, sizes

F4 = np.dtype("f4")
_MOST = 3e38  # beyond, a number may not be one of float32


def _exact(name: str) -> Callable:
    """`x (op) y` of an array and an array, a number, or an array with fewer dims; the bits are numpy's."""

    def run(operands: tuple, out: Any) -> Any:
        x, y = operands
        shapes = None
        if y.__class__ is float or y.__class__ is int:
            if not -_MOST < y < _MOST:
                return None
        elif y.__class__ is not np.ndarray or y.dtype != F4 or not y.flags.c_contiguous:
            return None
        elif y.shape != x.shape and (shapes := _level(x.shape, y.shape)) is None:
            return None
        # one thread of numpy is as fast, but where it starts its loop anew for each row
        if (shapes is None and share(x.size * LONG) < 2) or not onednn.ready():
            return None
        a = onednn.arithmetic
        made = np.empty(x.shape, F4) if out is None else out
        op = getattr(a, name)
        done = a.broadcast(op, x, y, made, *shapes) if shapes else a.chain(op, x, y, made)
        return made if done else None

    return run


def _level(xs: tuple, ys: tuple) -> tuple | None:
    """Both shapes with neighbouring dims joined, the second with 1 where it is repeated; None where x is not whole."""
    if len(ys) > len(xs):
        return None
    whole, part = [], []
    for n, m in zip(xs, (1,) * (len(xs) - len(ys)) + ys, strict=True):
        if m not in (1, n):
            return None
        if n == 1:
            continue
        if whole and (m == 1) == (part[-1] == 1):
            whole[-1] *= n
            part[-1] *= m
        else:
            whole.append(n)
            part.append(m)
    return (tuple(whole), tuple(part)) if 0 < len(whole) < 6 else None


def _function(name: str, exact: bool) -> Callable:
    """A function of each element that oneDNN has."""

    def run(operands: tuple, out: Any) -> Any:
        (x,) = operands
        if (exact and share(x.size * LONG) < 2) or not onednn.ready():
            return None
        p = onednn.pointwise
        return p.eltwise(getattr(p, name), x, out)

    return run


def _negative(operands: tuple, out: Any) -> Any:
    return _product((*operands, -1.0), out)


def bounded(x: Any, name: str, bound: Any, out: Any = None) -> Any:
    """The larger ("MAX") or smaller ("MIN") of each element and a number, nan where the element is; None for numpy."""
    if not -_MOST < bound < _MOST or share(x.size * LONG) < 2 or not onednn.ready():
        return None
    a = onednn.arithmetic
    made = np.empty(x.shape, F4) if out is None else out
    op = getattr(a, name)
    return made if a.chain(op, x, bound, made, ((op, x),)) else None  # again, for nan and for the sign of 0


def clamp(plain: Callable) -> Callable:
    """`(input, min, max)`, where a bound may be None."""

    def run(x, low, high):
        if _fit(x):
            y = x if low is None else bounded(x, "MAX", low)
            if y is not None and high is not None:
                y = bounded(y, "MIN", high, None if y is x else y)
            if y is not None:
                return y
        return plain(x, low, high)

    return run


def kept(plain: Callable) -> Callable:
    """`(g, y)`: g where y is not 0, else 0; with nan or infinity among them by numpy, which does no arithmetic."""

    def run(g, y):
        if _fit(g) and _fit(y) and g.shape == y.shape and onednn.ready():
            a, made = onednn.arithmetic, np.empty(g.shape, F4)
            if a.chain(a.OTHER_THAN, y, 0, made, ((a.MUL, g), (a.ADD, 0))) and _finite(made.reshape(-1)):
                return made
        return plain(g, y)

    return run


def _finite(flat: Any) -> bool:
    """Whether no element is nan or infinite; it may also say no where their sum is not finite."""
    used = flat.size - flat.size % WIDE
    sums = row_sums(flat[:used].reshape(-1, WIDE)) if used >= sizes.each else None
    return sums is not None and math.isfinite(sums.sum() + flat[used:].sum())


def row_sums(x: Any) -> Any:
    """The sums of the rows of a dense matrix; None where numpy is to do it."""
    return onednn.products.row_sums(x, _ONES) if _fit(x) and x.shape[1] <= WIDE and onednn.ready() else None


def powers_from_largest(x: Any, top: Any, out: Any) -> bool:
    """`exp(x - top)` for a dense matrix and a finite number for each row, into `out`; False where numpy is to do it."""
    if not takes(x):
        return False
    a = onednn.arithmetic
    return a.broadcast(a.SUB, x, top, out, x.shape, (len(x), 1), a.EXP)


def powers_times(x: Any, factor: Any) -> Any:
    """`exp(x) * factor` for a dense array and a number or a column of them; None where numpy is to do it.

    That is also where a result is not finite: of nan oneDNN's exp makes infinity.
    """
    if not takes(x):
        return None
    a, out = onednn.arithmetic, np.empty(x.shape, F4)
    if factor.ndim == 0:
        done = a.chain(a.ADD, x, 0, out, ((a.EXP, 0), (a.MUL, factor)))
    else:
        done = a.chain(a.ADD, x, 0, out, ((a.EXP, 0),))
        done = done and a.broadcast(a.MUL, out, factor, out, out.shape, (len(out), 1))
    return out if done and _finite(out.reshape(-1)) else None


def column_sums(x: Any) -> Any:
    """The sum of the rows of a dense matrix of at most `WIDE` rows; None where numpy is to do it."""
    return onednn.products.column_sums(x, _ONES) if _fit(x) and len(x) <= WIDE and onednn.ready() else None


def takes(x: Any) -> bool:
    """Whether an array is one for oneDNN."""
    return _fit(x) and onednn.ready()


def _fit(x: Any) -> bool:
    return x.__class__ is np.ndarray and x.dtype == F4 and x.size >= sizes.each and x.flags.c_contiguous


WIDE = 1024  # numbers that one sum of a product adds, in sixteen lanes or more
_ONES = np.ones(WIDE, F4)
_product = _exact("MUL")
FUNCTIONS: dict[Any, Callable] = {
    np.add: _exact("ADD"),
    np.subtract: _exact("SUB"),
    np.multiply: _product,
    np.divide: _exact("DIV"),
    np.negative: _negative,
    np.absolute: _function("ABS", True),
    np.sqrt: _function("SQRT", True),
    np.square: _function("SQUARE", True),
    np.tanh: _function("TANH", False),
}


def compute(run: Any, operands: tuple, out: Any = None) -> Any:
    """`run(*operands)` by oneDNN; None where numpy is to do it.

    Args:
        run: a ufunc, or a kernel that may have a `shared`: a function of these operands and `out`.
        operands: an array, and what stands beside it.
        out: where the result goes, which may be the first operand; new memory if None.
    """
    function = FUNCTIONS.get(run) if run.__class__ is np.ufunc else getattr(run, "shared", None)
    return function(operands, out) if function is not None and _fit(operands[0]) else None
