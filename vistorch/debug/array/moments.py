"""Mean, standard deviation and extremes, and the types they are computed in.

Invariant: means and squares are of finite elements only, in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SHRINK = 2.0**-520  # brings sums of the largest doubles back into range


def shrink_for(least: Any, most: Any) -> float:
    """A power of two that brings squares into range, or 1 where they are in it already."""
    largest = 0.0 if least is None else max(abs(float(least)), abs(float(most)))
    if largest == 0 or 1e-100 < largest < 1e140:
        return 1.0
    return 2.0 ** -max(-1000, min(1000, math.frexp(largest)[1]))


def widened(dtype: np.dtype) -> np.dtype:
    """The type in which elements are compared exactly: halves and the like are not quick to compute with."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind == "V" or (dtype.kind == "f" and dtype.itemsize < 4):
        return np.dtype(np.float32)
    return dtype if dtype.kind in "iu" or dtype.itemsize <= 8 else np.dtype(np.float64)


def rounded(dtype: np.dtype) -> np.dtype:
    """The floating type in which sums over blocks and equal steps are computed."""
    wide = widened(dtype)
    return np.dtype(np.float32 if wide.itemsize < 3 or wide == np.float32 else np.float64)


class Moments:
    """Mean and squared differences from it, joined piece by piece without cancellation; extremes."""

    def __init__(self, shrink: float) -> None:
        self.shrink = shrink
        self.n, self.mean, self.squares = 0, 0.0, 0.0
        self.least: Any = None
        self.most: Any = None

    def add(self, exact: np.ndarray, d: np.ndarray) -> None:
        """Take in one piece, twice: as it is, and as float64 that may be overwritten."""
        if exact.dtype.kind == "f":
            # NaN comes through, infinities are one of the two
            least, most = exact.min(), exact.max()
            if not (least > -np.inf and most < np.inf):
                keep = np.isfinite(exact)
                exact, d = exact[keep], d[keep]
                if not d.size:
                    return
                least, most = exact.min(), exact.max()
        else:
            least, most = exact.min(), exact.max()
        self.least = least if self.least is None else min(self.least, least)
        self.most = most if self.most is None else max(self.most, most)
        if self.shrink != 1:
            d *= self.shrink
        n = d.size
        mean = d.sum() / n
        d -= mean
        apart, both = mean - self.mean, self.n + n
        squares = float(np.square(d, out=d).sum())  # BLAS would wake its threads for each piece
        self.squares += squares + apart * apart * (self.n / both * n)
        self.mean += apart * (n / both)
        self.n = both

    def std(self, copies: int) -> float | None:
        """Divided by n - 1, as if each element had occurred `copies` times."""
        n = self.n * copies
        return float(np.sqrt(self.squares * copies / (n - 1)) / self.shrink) if n > 1 else None
