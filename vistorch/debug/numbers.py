"""What one array amounts to: its norm, its extremes, what in it is not finite.

Every function takes an array of any library and type and gives plain numbers; a sum of squares that overflows is
taken again in double precision. Invariant: the array is only read.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.base.numpy_warnings import hushed
from .source import is_torch, named


def host(d: Any) -> Any:
    """The array behind a tensor of either library, an array of a GPU or a scalar, on the CPU."""
    if is_torch(d):
        return named("torch").host(d)
    d = getattr(d, "_data", d)
    return np.asarray(d.get() if hasattr(d, "get") else d)


def plain(d: Any) -> Any:
    """The same in a type that numpy knows: half types in single precision."""
    if d.dtype.kind in "fciub" and d.dtype.itemsize != 2:
        return d
    return d.astype(np.float32) if d.dtype.kind not in "iub" else d


def norm_of(d: Any) -> float:
    """The root of the sum of squares; NaN or infinite if the array holds such."""
    if d.dtype.kind not in "fc" or d.dtype.itemsize == 2:
        d = d.astype(np.float64 if d.dtype.kind in "iub" else np.float32)
    flat = d.reshape(-1)
    if flat.dtype.kind == "c":
        flat = hushed(abs, flat)
    total = float(hushed(flat.dot, flat))
    if 1e-30 < total < math.inf:
        return math.sqrt(total)
    if total == 0.0 and not flat.any():
        return 0.0
    # a sum of squares of very small or large numbers leaves the range; NaN and infinity come out as they are
    wide = flat.astype(np.float64)
    top = float(abs(wide).max())
    return top * math.sqrt(float(((wide / top) ** 2).sum())) if math.isfinite(top) else top


def finite(d: Any) -> bool:
    """Whether every element is finite."""
    if d.dtype.kind in "iub":
        return True
    if d.dtype.kind == "f" and d.dtype.itemsize != 2:
        flat = d.reshape(-1)
        if math.isfinite(
            float(hushed(flat.dot, flat))
        ):  # one pass, no temporary; only large numbers overflow
            return True
    return bool(np_of(d).isfinite(plain(d)).all())


def np_of(d: Any) -> Any:
    """The array library of an array."""
    if isinstance(d, (np.ndarray, np.generic)):
        return np
    import cupy  # pyright: ignore[reportMissingImports]

    return cupy


def bad_counts(d: Any) -> tuple[int, int, int]:
    """How many elements are NaN, plus and minus infinity."""
    if finite(d):
        return 0, 0, 0
    d, xp = plain(d), np_of(d)
    nan = int(xp.isnan(d).sum())
    if d.dtype.kind == "c":
        return nan, int((xp.isinf(d) & ~xp.isnan(d)).sum()), 0
    return nan, int((d == np.inf).sum()), int((d == -np.inf).sum())
