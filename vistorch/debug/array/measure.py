"""One array in numbers: exact statistics, what is not finite, how the values are spread, and a value for each block.

The array is walked in pieces that stay in the cache, at most twice: once for all but counts by equal steps, for which
the extremes must be known. No copy of the whole is made, unless it has at most 131,072 elements.
A complex array is measured as two, magnitude and phase, both of the same entry of a block; NaN in one part is NaN in
both.
Invariant: an expanded array is measured once for each stored element and multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from .blocks import Layout, grid_of, lay_out, pieces
from .counting import Counting
from .moments import Moments, rounded, shrink_for, widened
from .pool import Pools, restore
from .spread import MANY, Sorted, Spread, Table
from .state import Bad, Stats
from .where import find, not_finite, spread_out


@dataclass
class Measured:
    """What was found; `cells` has the shape of the grid, in the type of the elements or the one they widen to.

    `ends` has for each block the other end of its range where it shows both, else what `cells` has; None if no block
    can.
    """

    stats: Stats
    bad: Bad
    spread: Spread
    cells: np.ndarray
    source: Layout
    ends: np.ndarray | None = None


def measure(array: np.ndarray, block: tuple[int, ...] | None, mean: Any = None) -> Measured:
    """Measure a real array.

    Args:
        array: any real type, any strides.
        block: how many elements along each axis become one value; None if no cells are wanted.
        mean: called with the smallest and the largest element, says whether blocks show their mean.
    """
    source = lay_out(array)
    with np.errstate(all="ignore"):
        if source.array.size <= MANY:
            return _small(source, block, mean)
        return _large(source, block, mean)


def _small(source: Layout, block: tuple[int, ...] | None, mean: Any) -> Measured:
    """Everything from one contiguous copy; the values are sorted."""
    view = source.array
    exact = view.astype(widened(view.dtype), order="C")
    flat = exact.reshape(-1)
    finite, nan, posinf, neginf = flat, 0, 0, 0
    if flat.dtype.kind == "f":
        keep = np.isfinite(flat)
        if not keep.all():
            finite = flat[keep]
            nan = int(np.count_nonzero(np.isnan(flat)))
            posinf = int(np.count_nonzero(flat == np.inf))
            neginf = flat.size - finite.size - nan - posinf
    ordered = np.sort(finite)
    shrink = shrink_for(*ordered[[0, -1]]) if finite.size else 1.0
    moments = Moments(shrink)
    if finite.size:
        moments.add(finite, finite.astype(np.float64))
    pools = pools_for(source, block, exact.dtype, np.float64)
    if pools is not None:
        wide = flat.astype(np.float64).reshape(exact.shape)
        pools.shrink = shrink
        wide *= shrink
        for where in pieces(exact.shape, pools.block):
            pools.add(where, exact[where], wide[where])
    zeros = finite.size - int(np.count_nonzero(finite))
    spread: Spread = Sorted(ordered)
    if source.copies > 1:
        spread = Table(ordered, np.full(ordered.size, source.copies))
    return assemble(source, block, mean, moments, spread, (nan, posinf, neginf, zeros), pools, exact)


def pools_for(source: Layout, block: tuple[int, ...] | None, native: Any, summed: Any) -> Pools | None:
    """What pools the blocks; None where there is one element a block."""
    if block is None:
        return None
    inner = source.inner(block)
    return Pools(source.array.shape, inner, native, summed) if max(inner, default=1) > 1 else None


def _large(source: Layout, block: tuple[int, ...] | None, mean: Any) -> Measured:
    """Piece by piece."""
    view = source.array
    exact, summed = widened(view.dtype), rounded(view.dtype)
    with np.errstate(all="ignore"):
        pools = pools_for(source, block, exact, summed)
        counting = Counting(source, pools)
        counting.run()
        if pools is not None and not counting.summable:
            pools = pools_for(source, block, exact, np.float64)
            counting.pool_again(pools)
    return assemble(source, block, mean, counting.moments, counting.spread, counting.counted, pools, None)


def assemble(
    source: Layout,
    block: tuple[int, ...] | None,
    mean: Any,
    moments: Any,
    spread: Spread,
    counted: tuple[int, int, int, int],
    pools: Pools | None,
    exact: np.ndarray | None,
    places: tuple[int, int, np.ndarray, np.ndarray] | None = None,
) -> Measured:
    """Put together what was found; `places`, where they are known: of an extreme each, of what is not finite."""
    copies = source.copies
    nan, posinf, neginf, zeros = (c * copies for c in counted)
    low, high = moments.least, moments.most
    stats = Stats(count=prod(source.shape), zeros=zeros, nan=nan, posinf=posinf, neginf=neginf)
    if moments.n:
        stats.min, stats.max = low.item(), high.item()
        stats.mean = float(moments.mean / moments.shrink)
        stats.std = moments.std(copies)
        stats.median = spread.quantile(0.5)
        if places is None:
            stats.argmin, stats.argmax = (find(source, v) for v in (low, high))
        else:
            stats.argmin, stats.argmax = places[:2]
    ends = None
    averaged = bool(mean is not None and mean(stats.min, stats.max))
    if block is None:
        cells = np.empty(0)
    elif pools is not None:
        cells, ends = pools.chosen(low, high, averaged)
        cells = restore(cells, source, block)
        ends = None if ends is None else restore(ends, source, block)
    else:
        view = source.array
        cells = view.astype(widened(view.dtype), order="C") if exact is None else exact
        cells = restore(cells, source, block)
    if places is not None:
        at, which = spread_out(*places[2:], source)
    elif nan + posinf + neginf:
        at, which = not_finite(source)
    else:
        at, which = np.empty(0, np.int64), np.empty(0, np.uint8)
    bad = Bad(nan, posinf, neginf, at, which)
    return Measured(stats, bad, spread, cells, source, ends)


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
