"""numpy's arithmetic on long flat float32 arrays, shared out among threads by oneDNN: `add(x, y, out)` and the like.

It stands where a namespace of numpy's functions stands; what is not named here is numpy's own.
Invariant: what oneDNN refuses is computed by numpy, and which of them it is does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .switch import onednn

abs, maximum, minimum, negative, sign = np.abs, np.maximum, np.minimum, np.negative, np.sign
empty, empty_like = np.empty, np.empty_like


def ready() -> bool:
    """Whether oneDNN is there."""
    return onednn.on or onednn.ready()


def _code(op: Callable) -> int:
    a = onednn.arithmetic
    return {np.add: a.ADD, np.subtract: a.SUB, np.multiply: a.MUL, np.divide: a.DIV}[op]


def _binary(op: Callable) -> Callable:
    """`op(x, y, out)`, where y may be a number."""

    def run(x: Any, y: Any, out: Any) -> Any:
        if not onednn.arithmetic.chain(_code(op), x, y, out):
            op(x, y, out)
        return out

    return run


add, subtract, multiply, divide = map(_binary, (np.add, np.subtract, np.multiply, np.divide))


def into(x: Any, op: Callable, y: Any, z: Any, factor: Any = 1, keep: Any = 1) -> None:
    """`x = keep * x + factor * (y op z)` in one pass.

    Args:
        x: an array, which `y` and `z` may be as well.
        op: numpy's `add`, `subtract`, `multiply` or `divide`.
        y: an array.
        z: an array, or a number.
        factor: a number.
        keep: a number that stays the same from call to call: each other one makes another primitive.
    """
    a = onednn.arithmetic
    then = ((a.SUM, keep),) if factor == 1 else ((a.MUL, factor), (a.SUM, keep))
    if not a.chain(_code(op), y, z, x, then):
        t = op(y, z)
        t *= factor
        if keep != 1:
            x *= keep
        x += t


def scale_and_add(x: Any, keep: Any, y: Any) -> None:
    """`x = keep * x + y` in one pass, where `keep` is a number."""
    a = onednn.arithmetic
    if not a.chain(a.MUL, x, keep, x, ((a.ADD, y),)):
        x *= keep
        x += y


def root(x: Any, by: Any, plus: Any, out: Any) -> Any:
    """`sqrt(x) / by + plus` in one pass, where `by` and `plus` are numbers."""
    a = onednn.arithmetic
    then = ((a.SQRT, 0), (a.ADD, plus)) if by == 1 else ((a.SQRT, 0), (a.DIV, by), (a.ADD, plus))
    if not a.chain(a.ADD, x, 0, out, then):
        np.sqrt(x, out)
        out /= by
        out += plus
    return out


def sqrt(x: Any, out: Any) -> Any:
    """The square root."""
    a = onednn.arithmetic
    if not a.chain(a.ADD, x, 0, out, ((a.SQRT, 0),)):
        np.sqrt(x, out)
    return out
