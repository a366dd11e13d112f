"""Pooling: of each block one value, or its two ends, so that no extreme and nothing bad is averaged away.

A block shows NaN if it has one, else +inf or -inf, else its entry that is furthest from the mean of its entries. Where
the other end of its range is at least half as far from the mean, neither speaks for the block: it has both. The
smallest and the largest finite element of the whole array are shown even where their blocks' mean would say otherwise,
unless worse is in the same block, or both are in one. Pictures show the mean in place of the furthest entry.

Invariant: every shown value but a mean is an element of its block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .blocks import Layout, grid_of

HALF = 0.5  # of the way of the further end: from here on the other end is shown beside it
FEW = 16  # up to this many entries, striding along the last axis beats numpy's reduction of short rows


def fold(how: Any, a: Any, axis: int, k: int) -> Any:
    """Reduce blocks of `k` along an axis; the last block may be shorter."""
    n = a.shape[axis]
    if k == 1:
        return a
    if k >= n:
        return how.reduce(a, axis=axis, keepdims=True)
    m = n // k
    lead, rest = a.shape[:axis], a.shape[axis + 1 :]
    before = (slice(None),) * axis
    main = a[(*before, slice(0, m * k))].reshape(*lead, m, k, *rest)
    if not rest and k <= FEW:
        out = how(main[..., 0], main[..., 1])
        for j in range(2, k):
            how(out, main[..., j], out=out)
    else:
        out = how.reduce(main, axis=axis + 1)
    if m * k == n:
        return out
    tail = how.reduce(a[(*before, slice(m * k, n))], axis=axis, keepdims=True)
    return np.concatenate([out, tail], axis=axis)


def fold_all(how: Any, a: Any, block: tuple[int, ...]) -> Any:
    """Reduce blocks along every axis, the one with the longest stride first: its rows are the longest."""
    for axis, k in enumerate(block):
        if k != 1:
            a = fold(how, a, axis, k)
    return a


def members(shape: tuple[int, ...], block: tuple[int, ...]) -> np.ndarray:
    """How many elements each block has."""
    out = np.ones((), np.float64)
    for n, k in zip(shape, block, strict=True):
        m = -(-n // k)
        along = np.full(m, float(k))
        if m:
            along[-1] = n - (m - 1) * k
        out = np.multiply.outer(out, along)
    return out


class Pools:
    """Least, greatest and sum of each block, filled piece by piece; `shape` and `block` are in walking order."""

    def __init__(
        self, shape: tuple[int, ...], block: tuple[int, ...], native: Any, summed: Any, xp: Any = np
    ) -> None:
        grid = grid_of(shape, block)
        self.shape, self.block = shape, block
        self.least, self.most = xp.empty(grid, native), xp.empty(grid, native)
        self.sums = xp.empty(grid, summed)
        self.ways: tuple[Any, Any, Any] = (np.minimum, np.maximum, np.add)
        self.shrink = 1.0

    def add(self, where: tuple[slice, ...], exact: Any, rounded: Any) -> None:
        """Pool one piece: extremes of its exact values, sums of those in floating point."""
        block = self.block
        to = tuple([slice(s.start // k, -(-s.stop // k)) for s, k in zip(where, block, strict=True)])
        least, most, add = self.ways
        self.least[to] = fold_all(least, exact, block)
        self.most[to] = fold_all(most, exact, block)
        self.sums[to] = fold_all(add, rounded, block)

    def means(self) -> np.ndarray:
        """The mean of each block."""
        return self.sums.astype(np.float64) / members(self.shape, self.block) / self.shrink

    def chosen(self, low: Any, high: Any, mean: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """One value a block, and the other end where a block has both; the same value again where it has not.

        Args:
            low: the smallest finite element of all, None if there is none.
            high: the largest.
            mean: show means.
        """
        least, most = self.least, self.most
        if mean:
            return bad_first(self.means(), least, most), None
        out, ends = furthest(least, most, self.means())
        if low is not None:
            keep(out, ends, least, low, high)
            keep(out, ends, most, high, low)
        return out, ends


def furthest(least: Any, most: Any, mean: Any) -> tuple[np.ndarray, np.ndarray]:
    """The end of each block's range that is further from its mean, and the other where it is half as far or more.

    Blocks with something that is not finite show it, and have no other end.
    """
    above, below = most.astype(np.float64) - mean, mean - least.astype(np.float64)
    up = above >= below
    out = np.where(up, most, least)
    both = np.minimum(above, below) >= HALF * np.maximum(above, below)
    ends = np.where(both, np.where(up, least, most), out)
    return bad_first(out, least, most), bad_first(ends, least, most)


def bad_first(out: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Put NaN, +inf, -inf over the value of a block that has one; NaN is both least and most of its block."""
    if least.dtype.kind != "f":
        return out
    np.copyto(out, -np.inf, where=least == -np.inf)
    np.copyto(out, np.inf, where=most == np.inf)
    np.copyto(out, np.nan, where=np.isnan(least))
    return out


def keep(out: np.ndarray, ends: np.ndarray, own: np.ndarray, extreme: Any, other: Any) -> None:
    """Let an extreme of all elements be shown in one of its blocks, if the other one stays seen.

    A block that has both ends shows them already: it is never changed.
    """
    if (out == extreme).any() or (ends == extreme).any():
        return
    places = np.flatnonzero(own == extreme)
    flat, beside = out.reshape(-1), ends.reshape(-1)  # both are fresh and contiguous: views
    places = places[np.isfinite(flat[places])] if out.dtype.kind == "f" else places
    free = places[flat[places] != other]
    if free.size:
        flat[free[0]] = beside[free[0]] = extreme
    elif places.size and np.count_nonzero((flat == other) | (beside == other)) > 1:
        flat[places[0]] = beside[places[0]] = extreme


def restore(cells: np.ndarray, layout: Layout, block: tuple[int, ...]) -> np.ndarray:
    """Cells in walking order as the original array has its axes, repeated where it repeats memory."""
    order = layout.order
    cells = cells.transpose(sorted(range(len(order)), key=order.__getitem__))
    grid = grid_of(layout.shape, block)
    return np.ascontiguousarray(np.broadcast_to(cells, grid)).reshape(grid)
