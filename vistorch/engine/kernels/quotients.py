"""Whole quotients of float32, and what they leave, by way of double precision.

The C library's `fmod`, which numpy calls for each element, subtracts bit by bit. In double precision one division says
the same wherever the quotient is small beside 2^24: it is then further from a whole number than its rounding, and
both the whole number and what is left are exact.
Invariant: a result is what the slow way gives, bit by bit; None where that is not certain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import masks
from .fast.spread import blocks

F4 = np.dtype("f4")
LARGEST = 2.0**22
LEAST = 256  # elements from which this is faster
PIECE = 1 << 13
_SIGN = np.int32(-(2**31))


def known(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether both are arrays of float32 of one shape, as they lie in memory."""
    return (
        x.__class__ is np.ndarray is y.__class__
        and x.dtype == y.dtype == F4
        and x.shape == y.shape
        and x.size >= LEAST
        and x.flags.c_contiguous
        and y.flags.c_contiguous
    )


def _whole(x: np.ndarray, y: np.ndarray, rounded: np.ufunc) -> np.ndarray | None:
    with np.errstate(all="ignore"):
        q = rounded(np.divide(x, y, dtype="f8"))
        sure = q.max() < LARGEST and q.min() > -LARGEST and np.isfinite(y).all()
    return q if sure else None


def floored(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The quotient rounded down."""
    q = _whole(x, y, np.floor)
    return np.floor_divide(x, y) if q is None else q.astype(F4)


def rest(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the quotient rounded towards zero leaves: it has the sign of `x`."""
    q = _whole(x, y, np.trunc)
    if q is None:
        return np.fmod(x, y)
    q *= y
    out = np.subtract(x, q, out=q).astype(F4)
    bits = out.view("i4")
    bits |= x.view("i4") & _SIGN  # of a zero too
    return out


def floored_rest(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the quotient rounded down leaves: it has the sign of `y`, or is a zero with that of `x`."""
    return turned(np, rest(x, y), y)


def turned(xp: Any, rest: Any, y: Any) -> Any:
    """What a truncated quotient leaves, made what a floored one leaves."""
    other = (rest < 0) != (y < 0)
    other &= rest != 0
    return masks.chosen(xp, other, rest + y, rest)


def pieces(kernel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A kernel's values, piece by piece where the arrays are long."""
    if x.size <= PIECE:
        return kernel(x.reshape(-1), y.reshape(-1)).reshape(x.shape)
    out = np.empty(x.shape, F4)
    a, b, made = x.reshape(-1), y.reshape(-1), out.reshape(-1)

    def piece(start: int, stop: int) -> None:
        made[start:stop] = kernel(a[start:stop], b[start:stop])

    blocks(piece, x.size, PIECE, 4 * x.size, joined=True)
    return out
