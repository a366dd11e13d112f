"""float16 in float32 and back by whole numbers and sums of numpy's, which the processor does by eights or sixteens.

numpy's own cast takes one number after the other. An array goes some numbers at a time, so that what is made on the
way stays in the cache. Blocks with a nan, an infinity, or what becomes one, are numpy's own.
Invariant: the bits are those of `astype`, subnormal numbers and the sign of 0 included.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

F2, F4 = np.dtype("f2"), np.dtype("f4")
BLOCK = 1 << 16  # elements


def _whole(value: int, kind: str = "u4") -> Any:
    return np.array(value, kind)


def _real(value: float) -> Any:
    return np.array(value, F4)


# float16 has 10 bits after the point and float32 has 23; their exponents count from 15 and from 127.
_BITS, _SIGNED_BITS = _whole(13), _whole(13, "i4")
_KEPT = _whole(-0x70002000, "i4")  # the sign, and what came from the exponent and the fraction
_UP, _DOWN = _real(2.0**112), _real(2.0**-112)
_EXPONENT, _HIGH, _SIGN = _whole(0x7F800000), _whole(16), _whole(0x8000)
_SMALLEST = 2.0**-14  # of float16's normal numbers; those below lie as far apart as those next above
_SUM = _real(1.5 * 2**13)  # times a power of two: float32 has no bits left there for what float16 cannot hold
_END = 65536.0  # what an exponent of ones would be as a number
_LAST = 65520.0  # becomes infinite


class _Scratch(threading.local):
    """Arrays of a block's length that a thread keeps."""

    def __init__(self) -> None:
        self.size = 0

    def least(self, n: int) -> tuple:
        """(smallest exponents, whole numbers, the same memory as floats, twice)."""
        if self.size < n:
            self.size = n
            self.smallest = np.full(n, _SMALLEST, F4)
            self.whole = np.empty((2, n), "u4")
        a, b = self.whole
        return self.smallest[:n], a[:n], a[:n].view(F4), b[:n], b[:n].view(F4)


_scratch = _Scratch()


def cast(a: Any, out: Any) -> None:
    """Write a flat dense array of float16 into one of float32, or the other way."""
    step = _up if a.dtype == F2 else _down
    for start in range(0, a.size, BLOCK):
        x, y = a[start : start + BLOCK], out[start : start + BLOCK]
        if not step(x, y):
            y[...] = x


def _up(x: Any, y: Any) -> bool:
    bits = y.view("i4")
    bits[...] = x.view("i2")
    np.left_shift(bits, _SIGNED_BITS, bits)
    np.bitwise_and(bits, _KEPT, bits)
    np.multiply(y, _UP, y)
    return bool(y.max() < _END and y.min() > -_END)


def _down(x: Any, y: Any) -> bool:
    if not (x.max() < _LAST and x.min() > -_LAST):
        return False
    smallest, sign, power, bits, number = _scratch.least(x.size)
    given = x.view("u4")
    np.bitwise_and(given, _EXPONENT, sign)
    np.maximum(power, smallest, out=power)
    np.multiply(power, _SUM, power)
    np.add(x, power, number)
    np.subtract(number, power, number)  # rounded to the nearest even
    np.multiply(number, _DOWN, number)
    np.right_shift(bits, _BITS, bits)
    np.right_shift(given, _HIGH, sign)
    np.bitwise_and(sign, _SIGN, sign)
    np.bitwise_or(bits, sign, bits)
    y.view("u2")[...] = bits
    return True
