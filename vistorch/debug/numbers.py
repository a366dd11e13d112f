"""What one array amounts to: its norm, its extremes, what in it is not finite.

Every function takes an array of any library and type and gives plain numbers; a sum of squares that overflows is
taken again in double precision. Invariant: the array is only read.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.base.numpy_warnings import hushed
from .device_reads import Answer, Batch, brought_copy
from .source import is_torch, named


def host(d: Any) -> Any:
    """The array behind a tensor of either library, an array of a GPU or a scalar, on the CPU.

    Within `device_reads.brought` what was brought answers, and nothing is fetched twice.
    """
    torch = is_torch(d)
    d = d if torch else getattr(d, "_data", d)
    if isinstance(d, np.ndarray):
        return d
    found = brought_copy(d)
    if found is not None:
        return found
    if torch:
        return named("torch").host(d)
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


def ask_norm(batch: Batch, d: Any) -> Answer:
    """The same of an array of cupy, computed on its device, as part of a batch.

    Args:
        batch: what brings it.
        d: the array, on the current device.
    """
    if d.dtype.kind not in "fc" or d.dtype.itemsize <= 2:
        d = d.astype(np.float64 if d.dtype.kind in "iub" else np.float32)
    flat = d.reshape(-1)
    flat = abs(flat) if flat.dtype.kind == "c" else flat
    xp = np_of(d)
    with np.errstate(all="ignore"):
        wide = flat.astype(np.float64)
        top = abs(wide).max() if flat.size else xp.zeros(())
        rest = ((wide / xp.where(top > 0, top, 1)) ** 2).sum()
    numbers = xp.stack([one.astype(np.float64).reshape(()) for one in (flat.dot(flat), top, rest)])

    def read(parts: list) -> float:
        total, top, rest = (float(v) for v in parts[0])
        if 1e-30 < total < math.inf:
            return math.sqrt(total)
        return top * math.sqrt(rest) if math.isfinite(top) else top

    return batch.ask(d, [numbers], read)


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
