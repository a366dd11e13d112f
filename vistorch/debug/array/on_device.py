"""Measuring an array where it is, on a GPU: the same numbers as `measure`, and one transfer at the end.

Nothing here waits for the device before that transfer: what one step needs of another (extremes, the bin of the median,
the share that is clipped) stays there. Only the blocks, the counts and a few numbers cross. Results that float32
patterns cannot hold (doubles beyond its range) are rare and are measured on the host instead.
Invariant: nothing here waits for the device or fetches from it: what crosses is asked of a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device_reads import Answer, Batch
from .blocks import Layout, lay_out, pieces
from .glance import Ends
from .histogram import STEPS, Histogram, histogram_for
from .measure import Measured, assemble
from .moments import Moments, rounded, shrink_for, widened
from .pool import Pools
from .spread import Patterns, Table
from .where import LISTED, everywhere

PIECE = 1 << 23  # elements: a piece has a few temporaries of eight bytes each
HALF, BINS = 1 << 15, 0x7F80  # magnitudes by the leading 16 bits, and how many are finite


class There:
    """A reduction as `pool.fold` wants it, of arrays that know their own."""

    def __init__(self, both: Any, name: str) -> None:
        self.both, self.name = both, name

    def __call__(self, a: Any, b: Any, out: Any = None) -> Any:
        """Of two arrays."""
        return self.both(a, b) if out is None else self.both(a, b, out=out)

    def reduce(self, a: Any, axis: int, keepdims: bool = False) -> Any:
        """Along one axis."""
        return getattr(a, self.name)(axis=axis, keepdims=keepdims)


def measure_there(xp: Any, array: Any, block: tuple[int, ...] | None, mean: Any = None) -> Measured | None:
    """Measure a real array of cupy; None if it has to be done on the host.

    Args:
        xp: cupy.
        array: any real type, any strides.
        block: how many elements along each axis become one value; None if no cells are wanted.
        mean: as for `measure`.
    """
    asked = ask_measure(Batch(), xp, array, block, mean)
    return None if asked is None else asked.value


def ask_measure(
    batch: Batch, xp: Any, array: Any, block: tuple[int, ...] | None, mean: Any = None, brief: bool = False
) -> Answer | None:
    """Measure a real array of cupy as part of a batch; the answer is None if it has to be done on the host.

    Args:
        batch: what brings the results.
        xp: cupy.
        array: any real type, any strides, on the current device.
        block: as for `measure_there`.
        mean: as for `measure`.
        brief: without median and histogram, as `glance` does.
    """
    source = lay_out(array)
    if not source.array.size:
        return None
    with np.errstate(all="ignore"):
        walk = _Walk(xp, source, block, brief)

    def read(parts: list) -> Measured | None:
        with np.errstate(all="ignore"):
            return _read(dict(zip(walk.named, parts, strict=True)), walk, source, block, mean)

    return batch.ask(array, list(walk.named.values()), read)


class _Walk:
    """What is computed on the device, by name, in the order it is packed."""

    def __init__(self, xp: Any, source: Layout, block: tuple[int, ...] | None, brief: bool) -> None:
        self.xp, self.source, self.brief = xp, source, brief
        view = source.array
        self.exact, self.rounded = widened(view.dtype), rounded(view.dtype)
        self.small = view.dtype.kind in "biu" and view.dtype.itemsize == 1
        self.named: dict[str, Any] = {}
        self.pools = None
        if block is not None:
            inner = source.inner(block)
            if max(inner, default=1) == 1:
                self.named["cells"] = self._typed(view)
            else:
                self.pools = self._pool(inner)
        # in the array's own order, for positions
        back = sorted(range(len(source.order)), key=source.order.__getitem__)
        self.in_order = view.transpose(back)
        self.counts = xp.zeros(256 if self.small else 0 if brief else 2 * HALF, np.uint32)
        self._first()
        if brief and not self.small:
            self.named["squares"] = self._squares()
        elif not self.small:
            self._second()

    def _typed(self, piece: Any) -> Any:
        return self.xp.ascontiguousarray(piece.astype(self.exact))

    def _pool(self, inner: tuple[int, ...]) -> Pools:
        xp, view = self.xp, self.source.array
        pools = Pools(view.shape, inner, self.exact, np.float64, xp)
        pools.ways = There(xp.minimum, "min"), There(xp.maximum, "max"), There(xp.add, "sum")
        for where in pieces(view.shape, inner, PIECE):
            piece = self._typed(view[where])
            pools.add(where, piece, piece.astype(np.float64))
        self.named.update(least_of=pools.least, most_of=pools.most, sum_of=pools.sums)
        return pools

    def _pieces(self) -> Any:
        """Flat pieces in C order, and the position of the first element of each."""
        in_order = self.in_order
        at = 0
        for where in pieces(in_order.shape, (1,) * in_order.ndim, PIECE):
            piece = self._typed(in_order[where]).reshape(-1)
            yield at, piece
            at += piece.size

    def _first(self) -> None:
        """Extremes and where they are, sums, what is not finite, counts by pattern or value."""
        xp, floats = self.xp, self.exact.kind == "f"
        limits: Any = np.finfo(self.exact) if floats else np.iinfo(self.exact)
        least, most = xp.full(1, limits.max, self.exact), xp.full(1, limits.min, self.exact)
        low_at, high_at = xp.zeros(1, np.int64), xp.zeros(1, np.int64)
        numbers = xp.zeros(6, np.float64)  # finite, NaN, +inf, -inf, zeros, sum
        listed, which = xp.zeros(LISTED + 1, np.int64), xp.zeros(LISTED + 1, np.uint8)
        seen = xp.zeros(1, np.int64)
        for at, x in self._pieces():
            finite = xp.isfinite(x) if floats else xp.full(x.shape, True)
            low, high = xp.where(finite, x, limits.max), xp.where(finite, x, limits.min)
            for values, best, place, name in ((low, least, low_at, "min"), (high, most, high_at, "max")):
                end = getattr(values, name)().reshape(1)
                better = end < best if name == "min" else end > best
                here = getattr(values, "arg" + name)().reshape(1).astype(np.int64) + at
                place[...] = xp.where(better, here, place)
                best[...] = xp.where(better, end, best)
            wide = xp.where(finite, x, 0).astype(np.float64)
            kinds = [xp.isnan(x), x == np.inf, x == -np.inf] if floats else []
            totals = [finite.sum(), *[k.sum() for k in kinds], *[finite.sum() * 0] * (3 - len(kinds))]
            totals += [(x == 0).sum(), wide.sum()]
            numbers += xp.stack([t.reshape(()).astype(np.float64) for t in totals])
            if floats:
                bad = ~finite
                order = xp.cumsum(bad.astype(np.int64)) + seen
                target = xp.where(bad & (order <= LISTED), order - 1, LISTED)
                listed[target] = xp.arange(at, at + x.size, dtype=np.int64)
                which[target] = xp.where(kinds[0], 0, xp.where(kinds[1], 1, 2)).astype(np.uint8)
                seen = seen + bad.astype(np.int64).sum()
            if self.small or not self.brief:
                xp.add.at(self.counts, self._keys(x), np.uint32(1))
        self.least, self.most, self.numbers = least, most, numbers
        self.named.update(
            least=least,
            most=most,
            low_at=low_at,
            high_at=high_at,
            numbers=numbers,
            listed=listed,
            which=which,
        )
        self.named["counts"] = self.counts

    def _keys(self, x: Any) -> Any:
        if self.small:
            return x.astype(np.int32) + (128 if self.exact.kind == "i" else 0)
        return (x.astype(np.float32).view(np.uint32) >> (HALF.bit_length())).astype(np.int32)

    def _squares(self) -> Any:
        """The sum of squares around the mean."""
        xp = self.xp
        mean, squares = self.numbers[5] / self.numbers[0], xp.zeros(1, np.float64)
        for _, x in self._pieces():
            wide = xp.where(xp.isfinite(x), x, mean).astype(np.float64) - mean
            squares += (wide * wide).sum()
        return squares

    def _second(self) -> None:
        """Squares, equal steps over all and over what is not clipped, the median's bin by its last 16 bits."""
        xp = self.xp
        counts = self.counts.astype(np.int64)
        positive, negative = counts[:BINS], counts[HALF : HALF + BINS]
        n = (positive + negative).sum()
        upto = xp.cumsum(xp.concatenate([negative[::-1], positive]))
        o = (upto <= (n + 1) // 2 - 1).sum() - BINS
        key = xp.where(o >= 0, o, HALF - 1 - o).astype(np.uint32).reshape(1)
        reach = xp.ceil(n.astype(np.float64) * 0.99).astype(np.int64) - 1
        m = (xp.cumsum(positive + negative) <= reach).sum()
        clip = ((m + 1).reshape(1).astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
        least, most = self.least.astype(np.float64), self.most.astype(np.float64)
        ends = [(least, most), (xp.maximum(least, -clip), xp.minimum(most, clip))]
        histograms = []
        for i, (lo, hi) in enumerate(ends):
            step = (hi - lo) / STEPS
            base, per = (lo - step).astype(self.rounded), (1 / step).astype(self.rounded)
            histograms.append((base, per, xp.zeros(STEPS + 2, np.uint32)))
            self.named.update(
                {
                    f"lo {i}": lo,
                    f"hi {i}": hi,
                    f"base {i}": base,
                    f"per {i}": per,
                    f"steps {i}": histograms[i][2],
                }
            )
        mean = self.numbers[5] / self.numbers[0]
        squares = xp.zeros(1, np.float64)
        low = xp.zeros(4 * HALF, np.uint32)  # the second half takes what is in other bins
        for _, x in self._pieces():
            wide = xp.where(xp.isfinite(x), x, mean).astype(np.float64) - mean
            squares += (wide * wide).sum()
            floating = x.astype(self.rounded)
            for base, per, steps in histograms:
                t = xp.minimum(xp.fmax((floating - base) * per, 0), STEPS + 1)
                xp.add.at(steps, t.astype(np.int32), np.uint32(1))
            bits = x.astype(np.float32).view(np.uint32)
            inside = (bits >> np.uint32(16)) == key
            where = (bits & np.uint32(0xFFFF)) + xp.where(inside, 0, 2 * HALF).astype(np.uint32)
            xp.add.at(low, where.astype(np.int32), np.uint32(1))
        self.named.update(squares=squares, low=low[: 2 * HALF])


def _read(
    found: dict[str, np.ndarray], walk: _Walk, source: Layout, block: tuple[int, ...] | None, mean: Any
) -> Measured | None:
    """Put together on the host what came over."""
    copies = source.copies
    n, nan, posinf, neginf, zeros = (int(v) for v in found["numbers"][:5])
    least, most = found["least"][0], found["most"][0]
    moments: Any = Moments(1.0)
    spread: Any
    if walk.small:
        low = -128 if walk.exact.kind == "i" else 0
        values = np.arange(low, low + 256).astype(walk.exact)
        counts = found["counts"].astype(np.int64)
        spread = Table(values[counts > 0], counts[counts > 0] * copies)
        wide = values.astype(np.float64)
        moments.mean = float(wide @ counts / n)
        moments.squares = float(np.square(wide - moments.mean) @ counts)
    elif walk.brief:
        spread = Ends(n * copies)
        if n and (shrink_for(least, most) != 1 or not np.isfinite(found["squares"][0])):
            return None  # so large that squares are not
        if n:
            moments.mean, moments.squares = float(found["numbers"][5] / n), float(found["squares"][0])
    else:
        patterns = _patterns(found, walk, copies, (nan, posinf, neginf, zeros), n)
        if patterns is None or (n and shrink_for(least, most) != 1):
            return None
        spread = patterns
        if n:
            moments.mean, moments.squares = float(found["numbers"][5] / n), float(found["squares"][0])
    if n:
        moments.n, moments.least, moments.most = n, least, most
    pools = walk.pools
    if pools is not None:
        pools.least, pools.most, pools.sums = (found[k] for k in ("least_of", "most_of", "sum_of"))
    total = min(nan + posinf + neginf, LISTED)
    at = everywhere(np.append(found["listed"][:total], [found["low_at"][0], found["high_at"][0]]), source)
    return assemble(
        source,
        block,
        mean,
        moments,
        spread,
        (nan, posinf, neginf, zeros),
        pools,
        found.get("cells"),
        places=(int(at[-2]), int(at[-1]), at[:-2], found["which"][:total]),
    )


def _patterns(
    found: dict[str, np.ndarray], walk: _Walk, copies: int, counted: tuple[int, int, int, int], n: int
) -> Patterns | None:
    """The counts by pattern with their histograms and the median; None where float32 cannot tell the values apart."""
    counts = found["counts"].astype(np.int64)
    nan, posinf, neginf, zeros = counted
    cast = walk.exact != np.float32
    tiny = int(counts[:128].sum() + counts[HALF : HALF + 128].sum())
    infinite = int(counts[BINS:HALF].sum() + counts[HALF + BINS :].sum())
    if cast and (tiny != zeros or infinite != nan + posinf + neginf):
        return None
    ends = (float(found["least"][0]), float(found["most"][0])) if n else (0.0, 0.0)
    out = Patterns(counts * copies, 16, np.float32, cast, ends)
    if not n:
        return out
    for i in range(2):
        histogram = _histogram(found, i, walk)
        if histogram is not None:
            histogram.done(nan, posinf, neginf)
            histogram.upto = histogram.upto * copies
            out.histograms.append(histogram)
    out.settle_median(found["low"].astype(np.int64), copies, walk.exact.kind in "iu")
    return out


def _histogram(found: dict[str, np.ndarray], i: int, walk: _Walk) -> Histogram | None:
    """The host's histogram if it is, to the bit, the one that counted."""
    lo, hi = float(found[f"lo {i}"][0]), float(found[f"hi {i}"][0])
    histogram = histogram_for(lo, hi, walk.rounded) if lo < hi else None
    if histogram is None or histogram.kind != walk.rounded:
        return None
    if histogram.base != found[f"base {i}"][0] or histogram.per != found[f"per {i}"][0]:
        return None
    histogram.counts = found[f"steps {i}"].astype(np.int64)
    return histogram
