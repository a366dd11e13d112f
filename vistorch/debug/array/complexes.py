"""Complex numbers: magnitude and phase, each a layer; both of a block are of the same entry.

Invariant: a number with a NaN in either part is NaN in both layers.
"""

from __future__ import annotations

from math import prod

import numpy as np

from .blocks import grid_of
from .measure import Measured, measure


def measure_complex(data: np.ndarray, block: tuple[int, ...]) -> list[tuple[str, Measured]]:
    """Measure both layers; which entry a block shows is decided by magnitude."""
    with np.errstate(all="ignore"):
        sizes, angles = np.asarray(np.abs(data)), np.asarray(np.angle(data))
        # abs() of inf and NaN is inf: but nobody knows where such a number is
        lost = np.isnan(data)
        np.copyto(sizes, np.nan, where=lost)
        np.copyto(angles, np.nan, where=lost)
    magnitude = measure(sizes, block)
    phase = measure(angles, (1,) * data.ndim) if max(block, default=1) == 1 else measure(angles, block)
    if max(block, default=1) > 1:
        phase.ends = None  # of one entry, as its magnitude: there is no other end
        phase.cells = same_entries(sizes, angles, block, magnitude.cells)
    return [("magnitude", magnitude), ("phase", phase)]


def same_entries(
    sizes: np.ndarray, angles: np.ndarray, block: tuple[int, ...], shown: np.ndarray
) -> np.ndarray:
    """The angle of the entry of each block that its magnitude is shown of."""
    grid = grid_of(sizes.shape, block)
    out = np.empty(prod(grid), angles.dtype)
    flat = shown.reshape(-1)
    for i, where in enumerate(np.ndindex(*grid)):
        part = tuple([slice(w * k, (w + 1) * k) for w, k in zip(where, block, strict=True)])
        entries = sizes[part].reshape(-1)
        value = flat[i]
        hit = np.isnan(entries) if np.isnan(value) else entries == value
        out[i] = angles[part].reshape(-1)[hit.argmax()]
    return out.reshape(grid)
