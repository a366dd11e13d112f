"""One array of many at a glance: its numbers without median or histogram, and a picture of a hundred blocks at most.

Min, max, mean, deviation, zeros, what is not finite and the blocks come from one walk; nothing is sorted or counted by
value, so a network of gigabytes is looked through in seconds. Invariant: at most one piece is copied at a time.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .blocks import Layout, lay_out, pieces
from .measure import Measured, assemble, measure, pools_for
from .moments import Moments, rounded, widened
from .where import not_finite

CELLS = 96  # blocks of one small picture
LEVELS = 16  # different values in it
LISTED = 16  # positions of what is not finite


class Ends:
    """All that is known of the values between the smallest and the largest: how many there are."""

    def __init__(self, n: int) -> None:
        self.n = n

    def quantile(self, q: float) -> Any:
        """Not known."""
        return None

    def size(self, q: float) -> float:
        """Not known: no scale is chosen by it."""
        return 0.0

    def positive(self) -> float | None:
        """Not known."""
        return None

    def below(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Not counted."""
        return np.zeros(len(edges), np.int64), edges

    def beyond(self, lo: float, hi: float) -> tuple[int, int]:
        """Nothing is beyond the ends."""
        return 0, 0


def glance(array: np.ndarray, block: tuple[int, ...]) -> Measured:
    """Look through a real array once.

    Args:
        array: any real type, any strides.
        block: how many elements along each axis become one value.

    Example:
        >>> import numpy as np
        >>> from vistorch.debug.array.glance import glance
        >>> found = glance(np.arange(12.0).reshape(3, 4), (3, 2))
        >>> found.stats.min, found.stats.mean, found.stats.median, found.cells
        (0.0, 5.5, None, array([[ 9., 11.]]))
    """
    source = lay_out(array)
    view = source.array
    exact, summed = widened(view.dtype), rounded(view.dtype)
    moments, zeros = Moments(1.0), 0
    with np.errstate(all="ignore"):
        pools = pools_for(source, block, exact, summed)
        for where in pieces(view.shape, source.inner(block)):
            piece = np.ascontiguousarray(view[where], exact)
            flat = piece.reshape(-1)
            if pools is not None:
                pools.add(where, piece, piece.astype(summed))
            moments.add(flat, flat.astype(np.float64))
            zeros += flat.size - int(np.count_nonzero(flat))
        bad = prod(view.shape) - moments.n
        if _overflowed(moments):
            return measure(array, block)  # so large that their squares are not: rare
        nan, above, under = _which(source) if bad else (0, 0, 0)
        at, which = not_finite(source) if bad else (np.empty(0, np.int64), np.empty(0, np.uint8))
        places = 0, 0, at[:LISTED], which[:LISTED]
        spread: Any = Ends(moments.n * source.copies)
        found = assemble(
            source, block, None, moments, spread, (nan, above, under, zeros), pools, None, places
        )
    found.stats.argmin = found.stats.argmax = None
    return found


def _overflowed(moments: Moments) -> bool:
    return bool(moments.n) and not np.isfinite(moments.squares)


def _which(source: Layout) -> tuple[int, int, int]:
    """How many NaN, +inf and -inf are stored."""
    view, nan, above, under = source.array, 0, 0, 0
    for where in pieces(view.shape, (1,) * view.ndim):
        piece = view[where]
        piece = piece[~np.isfinite(piece)].astype(np.float64)
        nan += int(np.isnan(piece).sum())
        above += int((piece > 0).sum())
        under += int((piece < 0).sum())
    return nan, above, under
