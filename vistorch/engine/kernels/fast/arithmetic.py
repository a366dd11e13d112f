"""numpy's arithmetic on long flat float32 arrays, shared out among threads by oneDNN: `add(x, y, out)` and the like.

It stands where a namespace of numpy's functions stands; what is not named here is numpy's own.
Invariant: what oneDNN refuses is computed by numpy, and which of them it is does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .switch import onednn

abs, maximum, minimum, negative, sign = np.abs, np.maximum, np.minimum, np.negative, np.sign
empty, empty_like = np.empty, np.empty_like


def ready() -> bool:
    """Whether oneDNN is there."""
    return onednn.on or onednn.ready()


def add(x: Any, y: Any, out: Any) -> Any:
    """`x + y`, where y may be a number."""
    a = onednn.arithmetic
    if not a.binary(a.ADD, x, y, out):
        np.add(x, y, out)
    return out


def subtract(x: Any, y: Any, out: Any) -> Any:
    """`x - y`, where y may be a number."""
    a = onednn.arithmetic
    if not a.binary(a.SUB, x, y, out):
        np.subtract(x, y, out)
    return out


def multiply(x: Any, y: Any, out: Any) -> Any:
    """`x * y`, where y may be a number."""
    a = onednn.arithmetic
    if not a.binary(a.MUL, x, y, out):
        np.multiply(x, y, out)
    return out


def divide(x: Any, y: Any, out: Any) -> Any:
    """`x / y`, where y may be a number."""
    a = onednn.arithmetic
    if not a.binary(a.DIV, x, y, out):
        np.divide(x, y, out)
    return out


def sqrt(x: Any, out: Any) -> Any:
    """The square root."""
    if not onednn.arithmetic.root(x, out):
        np.sqrt(x, out)
    return out


def add_product(x: Any, y: Any, z: Any) -> None:
    """`x += y * z` in one pass, where z may be a number."""
    a = onednn.arithmetic
    if not a.binary(a.MUL, y, z, x, True):
        x += y * z
