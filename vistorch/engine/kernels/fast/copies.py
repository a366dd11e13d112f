"""Copies by rows of what lies transposed: numpy writes one element after the other and misses the cache at each.

Invariant: a copy is made, whatever the order of the argument, and it holds the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import halves
from .switch import onednn

F4 = np.dtype("f4")
LEAST = 1 << 13  # elements
F2 = np.dtype("f2")
_PAIRS = (F2, F4), (F4, F2)
_CAST = 1 << 9  # elements of float16
_BY_BITS = 1 << 13  # the same, without instructions of the processor: a dozen calls of numpy


def by_rows(a: Any) -> Any:
    """`numpy.array(a, order="C")`."""
    out = turned(a)
    return np.array(a, order="C") if out is None else out


def turned(a: Any) -> Any:
    """The same of what lies transposed; None where numpy's copy is the better one."""
    if (
        a.size >= LEAST
        and a.dtype == F4
        and a.strides[-1] != 4
        and _apart(a)
        and (onednn.on or onednn.ready())
    ):
        return onednn.copies.rows(a)
    return None


def cast(a: Any, dtype: Any) -> Any:
    """`a.astype(dtype)`: numpy takes 2 to 7 ns for an element of float16, which the processor converts by sixteens."""
    if a.__class__ is np.ndarray and a.size >= _CAST and (a.dtype, dtype) in _PAIRS:
        flat = a if a.flags.c_contiguous else a.T
        if flat.flags.c_contiguous:
            out = onednn.copies.cast(flat, dtype) if onednn.on or onednn.ready() else None
            if out is None and a.size >= _BY_BITS:
                out = np.empty(flat.shape, dtype)
                halves.cast(flat.reshape(-1), out.reshape(-1))
            if out is not None:
                return out if flat is a else out.T
    return a.astype(dtype)


def _apart(a: Any) -> bool:
    """Whether some dim lies element by element, and no two elements share memory."""
    reach = 4
    for step, n in sorted(zip(a.strides, a.shape, strict=True)):
        if n == 1:
            continue
        if step < reach or step % 4 or (reach == 4 and step != 4):
            return False
        reach = step * n
    return reach > 4 and a.ndim <= 6
