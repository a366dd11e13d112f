"""The walk through a large array: what is counted piece by piece, in buffers that stay in the cache.

Types of at most 16 bits are counted by value. Others by the first 16 bits of their float32 pattern, in the same pass
that finds the moments and pools the blocks; a second pass counts equal steps and finds the median within its bin.
Doubles that float32 cannot tell apart from zero or infinity are counted once more by 20 bits of their own pattern.
Invariant: no buffer is longer than the longest piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .blocks import Layout, pieces
from .histogram import Histogram, histogram_for
from .moments import SHRINK, Moments, rounded, shrink_for, widened
from .pool import Pools
from .spread import Patterns, Spread, Table, rank

LEADING = 16  # bits of a float32 that are counted
OWN = 20  # and of a float64
TAIL = 20  # a range this many times narrower than all gets equal steps of its own


class Buffers:
    """Memory for one piece at a time, one block for each use."""

    def __init__(self) -> None:
        self.held: dict[str, np.ndarray] = {}

    def get(self, use: str, size: int, dtype: Any) -> np.ndarray:
        """A flat array of this size, uninitialised."""
        kept = self.held.get(use)
        if kept is None or kept.size < size:
            kept = self.held[use] = np.empty(size, dtype)
        return kept[:size]

    def copy(self, use: str, piece: np.ndarray, dtype: Any) -> np.ndarray:
        """A piece in another type, contiguous."""
        out = self.get(use, piece.size, dtype).reshape(piece.shape)
        np.copyto(out, piece, casting="unsafe")
        return out


class Counting:
    """Everything about one large array that is found by walking it.

    Args:
        source: the array in the order of its memory.
        pools: fills these too, in the same walk.
    """

    def __init__(self, source: Layout, pools: Pools | None) -> None:
        self.source, self.pools, self.view = source, pools, source.array
        self.exact, self.rounded = widened(self.view.dtype), rounded(self.view.dtype)
        self.buffers = Buffers()
        self.moments: Any = Moments(1.0)
        self.spread: Spread
        self.nan = self.posinf = self.neginf = self.zeros = 0

    @property
    def counted(self) -> tuple[int, int, int, int]:
        """NaN, +inf, -inf and zeros among the stored elements."""
        return self.nan, self.posinf, self.neginf, self.zeros

    @property
    def summable(self) -> bool:
        """Whether no sum over a block can have left the range of its type."""
        m = self.moments
        if not m.n:
            return True
        largest = max(abs(float(m.least)), abs(float(m.most)))
        return largest < float(np.finfo(self.rounded).max) / self.view.size

    def run(self) -> None:
        """Walk."""
        if self.view.dtype.itemsize <= 2:
            self._by_value()
        else:
            self._by_pattern()

    def walk(self, pool: bool) -> Any:
        """Each piece: contiguous, in the type of exact values, and in floating point; pooled if asked for."""
        pools = self.pools
        block = (1,) * self.view.ndim if pools is None else pools.block
        same = self.exact == self.rounded
        for where in pieces(self.view.shape, block):
            raw = self.view[where]
            piece = raw
            if piece.dtype != self.exact or not piece.flags.c_contiguous:
                piece = self.buffers.copy("exact", piece, self.exact)
            floating = piece if same else self.buffers.copy("rounded", piece, self.rounded)
            if pool and pools is not None:
                pools.add(where, piece, floating)
            yield raw, piece.reshape(-1), floating.reshape(-1)

    def pool_again(self, pools: Any) -> None:
        """Pool once more where sums overflowed: in float64 and of shrunk values."""
        self.pools = pools
        for where in pieces(self.view.shape, pools.block):
            piece = self.buffers.copy("exact", self.view[where], self.exact)
            wide = self.buffers.copy("wide", piece, np.float64)
            wide *= SHRINK
            pools.add(where, piece, wide)
        pools.shrink = SHRINK

    # ---- at most 16 bits ------------------------------------------------------------------------------------------
    def _by_value(self) -> None:
        kind, bits = self.view.dtype.kind, 8 * self.view.dtype.itemsize
        pattern = np.dtype(f"u{self.view.dtype.itemsize}")
        counts = np.zeros(1 << bits, np.int64)
        for raw, _, _ in self.walk(pool=True):
            keys = self.buffers.copy("keys", raw.view(pattern), np.intp).reshape(-1)
            counts += np.bincount(keys, minlength=counts.size)
        values = np.arange(counts.size, dtype=pattern).view(np.uint8 if kind == "b" else self.view.dtype)
        values = values.astype(self.exact)
        if self.exact.kind == "f":
            self.nan = int(counts[np.isnan(values)].sum())
            self.posinf = int(counts[values == np.inf].sum())
            self.neginf = int(counts[values == -np.inf].sum())
            counts = np.where(np.isfinite(values), counts, 0)
        self.zeros = int(counts[values == 0].sum())
        values, counts = values[counts > 0], counts[counts > 0]
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        m = self.moments
        m.n = int(counts.sum())
        if m.n:
            wide = values.astype(np.float64)
            m.least, m.most = values[0], values[-1]
            m.mean = float(wide @ counts / m.n)
            m.squares = float(np.square(wide - m.mean) @ counts)
        self.spread = Table(values, counts * self.source.copies)

    # ---- more -----------------------------------------------------------------------------------------------------
    def _by_pattern(self) -> None:
        counts = np.zeros(1 << LEADING, np.int64)
        for _, piece, floating in self.walk(pool=True):
            found = np.bincount(self._keys(floating), minlength=counts.size)
            if found[0] or found[counts.size // 2]:
                self.zeros += int(np.count_nonzero(piece == 0))
            counts += found
            self._note(piece)
        shrink = shrink_for(self.moments.least, self.moments.most)
        if shrink != 1:
            self.moments, self.nan, self.posinf, self.neginf = Moments(shrink), 0, 0, 0
            for _, piece, _ in self.walk(pool=False):
                self._note(piece)
        cast = self.exact != np.float32
        tiny = counts[: 1 << 7].sum() + counts[1 << 15 : (1 << 15) + (1 << 7)].sum()
        infinite = counts[0x7F80] + counts[0xFF80] + (counts[0x7F81:0x8000].sum() + counts[0xFF81:].sum())
        if cast and (tiny != self.zeros or infinite != self.nan + self.posinf + self.neginf):
            self._by_own_pattern()
            return
        copies = self.source.copies
        spread = Patterns(counts * copies, 32 - LEADING, np.float32, cast, self._ends())
        self.spread = spread
        self._refine(spread, copies)

    def _ends(self) -> tuple[float, float]:
        m = self.moments
        return (float(m.least), float(m.most)) if m.n else (0.0, 0.0)

    def _by_own_pattern(self) -> None:
        counts = np.zeros(1 << OWN, np.int64)
        for _, _, floating in self.walk(pool=False):
            np.add.at(counts, floating.view(np.uint64) >> np.uint64(64 - OWN), 1)
        copies = self.source.copies
        self.spread = Patterns(counts * copies, 64 - OWN, np.float64, False, self._ends())

    def _keys(self, floating: np.ndarray) -> np.ndarray:
        """The leading bits of the float32 pattern."""
        single = floating
        if floating.dtype != np.float32:
            single = self.buffers.copy("single", floating, np.float32)
        return self.buffers.copy("keys", self._leading(single), np.intp)

    def _leading(self, single: np.ndarray) -> np.ndarray:
        bits = self.buffers.get("leading", single.size, np.uint32)
        return np.right_shift(single.view(np.uint32), 32 - LEADING, out=bits)

    def _note(self, piece: np.ndarray) -> None:
        """Extremes and moments of a piece, and what in it is not finite."""
        before = self.moments.n
        self.moments.add(piece, self.buffers.copy("wide", piece, np.float64))
        bad = piece.size - (self.moments.n - before)
        if bad:
            nan = int(np.count_nonzero(np.isnan(piece)))
            posinf = int(np.count_nonzero(piece == np.inf))
            self.nan += nan
            self.posinf += posinf
            self.neginf += bad - nan - posinf

    def _refine(self, spread: Patterns, copies: int) -> None:
        """The second walk: equal steps, and the median."""
        if not spread.n:
            return
        histograms = self._histograms(spread)
        nan = self.nan > 0
        key = spread.locate(rank(spread.n, 0.5))[0]
        low = np.zeros(1 << (32 - LEADING), np.int64)
        for _, _, floating in self.walk(pool=False):
            t = self.buffers.get("steps", floating.size, np.float64)
            for histogram in histograms:
                if histogram.kind == np.float64:
                    out = t
                else:
                    out = self.buffers.get("single steps", floating.size, np.float32)
                keys = self.buffers.copy("keys", histogram.steps_of(floating, out, nan), np.intp)
                histogram.counts += np.bincount(keys, minlength=histogram.counts.size)
            single = floating
            if floating.dtype != np.float32:
                single = self.buffers.copy("single", floating, np.float32)
            mask = self.buffers.get("mask", single.size, np.bool_)
            hit = single.view(np.uint32)[np.equal(self._leading(single), key, out=mask)]
            if hit.size:
                low += np.bincount(hit & 0xFFFF, minlength=low.size)
        for histogram in histograms:
            histogram.done(self.nan, self.posinf, self.neginf)
            histogram.upto = histogram.upto * copies
        spread.histograms = histograms
        spread.settle_median(low, copies, self.exact.kind in "iu")

    def _histograms(self, spread: Patterns) -> list[Histogram]:
        """Equal steps over all, and over what is left when 1 % at the ends is clipped, if that is much less."""
        lo, hi = self._ends()
        ranges = [(lo, hi)]
        clip = spread.size(0.99)
        inner = max(lo, -clip), min(hi, clip)
        if inner[1] > inner[0] and hi / TAIL - lo / TAIL > inner[1] - inner[0]:
            ranges.append(inner)
        made = [histogram_for(a, b, self.rounded) for a, b in ranges if b > a]
        return [histogram for histogram in made if histogram is not None]
