"""How values are spread: quantiles, and counts between any two borders.

All answers are counts of elements, never estimates. Three ways to have them, one interface: `Sorted` (up to 131,072
values: borders are where they are asked for), `Table` (types of at most 16 bits: a count for each value), and for the
rest `Patterns`: counts by the leading 16 bits of the float32 pattern, 128 steps an octave, and by 16,384 equal steps.
Its borders are those of the steps, and it says where they are.

Invariant: `below(edges)` gives borders e and for each exactly how many finite elements are smaller than e.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .histogram import Histogram

MANY = 1 << 17  # values up to here are sorted


class Spread(Protocol):
    """What is known of the finite elements of an array."""

    n: int

    def quantile(self, q: float) -> float:
        """The element below which about `q` of all are; the lower of two."""
        ...

    def size(self, q: float) -> float:
        """The same for absolute values, rounded up to a border of what is counted."""
        ...

    def positive(self) -> float | None:
        """The least positive element, rounded down to a border."""
        ...

    def below(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many elements are smaller than each border, and the borders where that was counted."""
        ...

    def beyond(self, lo: float, hi: float) -> tuple[int, int]:
        """How many elements are smaller than `lo`, and larger than `hi`."""
        ...


def rank(n: int, q: float) -> int:
    """Which of n elements in order is the quantile: the lower of the two it falls between."""
    return max(0, min(n - 1, int(np.ceil(q * n)) - 1))


class Table:
    """Values in ascending order and how often each occurs."""

    def __init__(self, values: np.ndarray, counts: np.ndarray) -> None:
        self.values, self.counts = values, counts
        self.upto = np.cumsum(counts)
        self.n = int(self.upto[-1]) if counts.size else 0

    def quantile(self, q: float) -> Any:
        """The element itself."""
        return self.values[np.searchsorted(self.upto, rank(self.n, q), "right")].item()

    def size(self, q: float) -> Any:
        """The absolute value itself."""
        sizes = np.abs(self.values.astype(np.float64))
        order = np.argsort(sizes, kind="stable")
        at = np.searchsorted(np.cumsum(self.counts[order]), rank(self.n, q), "right")
        return sizes[order[at]].item()

    def positive(self) -> float | None:
        """The element itself."""
        at = np.searchsorted(self.values, 0, "right")
        return self.values[at].item() if at < self.values.size else None

    def below(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Counted where it was asked for."""
        at = np.searchsorted(self.values, edges, "left")
        return np.concatenate([[0], self.upto])[at], edges

    def beyond(self, lo: float, hi: float) -> tuple[int, int]:
        """Counted there."""
        ends = np.concatenate([[0], self.upto])
        under = ends[np.searchsorted(self.values, lo, "left")]
        return int(under), int(self.n - ends[np.searchsorted(self.values, hi, "right")])


class Sorted:
    """All finite elements in ascending order."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.n = values.size

    def quantile(self, q: float) -> Any:
        """The element itself."""
        return self.values[rank(self.n, q)].item()

    def size(self, q: float) -> Any:
        """The absolute value itself."""
        sizes = np.abs(self.values.astype(np.float64))
        at = rank(self.n, q)
        return np.partition(sizes, at)[at].item()

    def positive(self) -> float | None:
        """The element itself."""
        at = np.searchsorted(self.values, 0, "right")
        return self.values[at].item() if at < self.n else None

    def below(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Counted where it was asked for."""
        return np.searchsorted(self.values, edges, "left"), edges

    def beyond(self, lo: float, hi: float) -> tuple[int, int]:
        """Counted there."""
        under = np.searchsorted(self.values, lo, "left")
        return int(under), int(self.n - np.searchsorted(self.values, hi, "right"))


class Patterns:
    """Counts by leading bits of the pattern: bin m of the magnitudes holds [start(m), start(m + 1)).

    Args:
        counts: by the leading bits as they stand: sign, exponent, mantissa.
        shift: how many bits follow them.
        kind: float32, or float64 where the values leave its range.
        cast: the values are float64 and were rounded to float32 for this: then a bin begins half a step earlier.
        ends: the smallest and the largest element, known otherwise.
    """

    def __init__(
        self, counts: np.ndarray, shift: int, kind: Any, cast: bool, ends: tuple[float, float]
    ) -> None:
        self.shift, self.kind, self.cast = shift, np.dtype(kind), cast
        self.bits = np.dtype(f"u{self.kind.itemsize}")
        half = counts.size // 2
        self.half, self.ends = half, ends
        self.end = int(np.array(np.inf, kind).view(self.bits) >> shift)  # infinities and NaN begin here
        positive, negative = counts[: self.end], counts[half : half + self.end]
        self.magnitudes = positive + negative
        # in ascending order of values: -end ... -1, 0 ... end - 1; bin -1 - m is that of magnitude m below zero
        self.upto = np.concatenate([[0], np.cumsum(np.concatenate([negative[::-1], positive]))])
        self.n = int(self.upto[-1])
        self.median: float | None = None
        self.histograms: list[Histogram] = []

    def start(self, m: Any) -> np.ndarray:
        """The border at which the bin of magnitude m begins, among the values as they were given."""
        m = np.asarray(m)
        exact = (m.astype(self.bits) << self.shift).view(self.kind)
        if not self.cast:
            return exact.astype(np.float64)
        before = np.nextafter(exact, self.kind.type(0))
        middle = (exact.astype(np.float64) + before.astype(np.float64)) / 2
        return np.where(m == 0, 0.0, middle)  # ties are rounded to the bin's start, which is even

    def bin_of(self, values: np.ndarray) -> np.ndarray:
        """In which magnitude's bin a value is."""
        with np.errstate(over="ignore"):
            kept = np.abs(values).astype(self.kind)
        return np.minimum(kept.view(self.bits) >> self.shift, self.end - 1).astype(np.int64)

    def next(self, values: Any) -> Any:
        """The next larger value of the type the elements have."""
        kind = np.float64 if self.cast else self.kind.type
        return np.nextafter(np.asarray(values, kind), kind(np.inf)).astype(np.float64)

    def border(self, o: np.ndarray) -> np.ndarray:
        """The least value of ascending bin o, which is negative below zero."""
        with np.errstate(over="ignore"):
            return np.where(o >= 0, self.start(np.maximum(o, 0)), self.next(-self.start(np.maximum(-o, 0))))

    def nearest(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nearest borders of bins, how many elements are below, and how far apart borders are there."""
        m = self.bin_of(edges)
        o = np.where(edges < 0, -1 - m, m)
        near = np.stack([o, o + 1])
        near = np.where(near == 0, np.stack([o * 0 - 1, o * 0 + 1]), near)  # -0.0 and 0.0 share a bin
        near = np.clip(near, -self.end, self.end - 1)
        borders = self.border(near)
        which = np.abs(borders - edges).argmin(0)
        pick = np.arange(edges.size)
        return borders[which, pick], self.upto[near[which, pick] + self.end], np.abs(borders[1] - borders[0])

    def quantile(self, q: float) -> float:
        """The middle of the bin it is in: within 0.4 %; the median exactly (float64: rounded to float32)."""
        if q == 0.5 and self.median is not None:
            return self.median
        o = int(np.searchsorted(self.upto[1:], rank(self.n, q), "right")) - self.end
        m = o if o >= 0 else -1 - o
        middle = float(self.start(m) + self.start(m + 1)) / 2 if m + 1 < self.end else float(self.start(m))
        return middle if o >= 0 else -middle

    def size(self, q: float) -> float:
        """The largest value of its bin: nothing else of the bin is beyond."""
        m = int(np.searchsorted(np.cumsum(self.magnitudes), rank(self.n, q), "right"))
        with np.errstate(over="ignore"):
            return (
                -float(self.next(-self.start(m + 1))) if m + 1 < self.end else float(np.finfo(self.kind).max)
            )

    def positive(self) -> float | None:
        """The start of its bin."""
        above = np.flatnonzero(np.diff(self.upto)[self.end + 1 :])
        return float(self.start(int(above[0]) + 1)) if above.size else None

    def below(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Counted at the nearest border of the finest steps there are at each place."""
        borders, counts, apart = self.nearest(edges)
        for histogram in self.histograms:
            inside = (edges > histogram.lo) & (edges < histogram.hi) & (histogram.step < apart)
            if inside.any():
                borders[inside], counts[inside] = histogram.below(edges[inside])
                apart[inside] = histogram.step
        before, behind = edges <= self.ends[0], edges > self.ends[1]
        borders = np.where(before | behind, edges, borders)
        return np.where(before, 0, np.where(behind, self.n, counts)), borders

    def beyond(self, lo: float, hi: float) -> tuple[int, int]:
        """Exact for ends that are borders, as those of `size` are, and for ends outside of all elements."""
        under, upto = self.nearest(np.array([lo, float(self.next(hi))]))[1]
        return 0 if lo <= self.ends[0] else int(under), 0 if hi >= self.ends[1] else int(self.n - upto)

    def locate(self, r: int) -> tuple[int, int]:
        """The leading bits of the element of rank r, and its rank among those that share them."""
        o = int(np.searchsorted(self.upto[1:], r, "right")) - self.end
        return (o if o >= 0 else self.half - 1 - o), r - int(self.upto[o + self.end])

    def settle_median(self, low: np.ndarray, copies: int, whole: bool) -> None:
        """Find the median among the elements of its bin, which were counted by their last bits.

        Args:
            low: those counts.
            copies: how often each of them occurs.
            whole: the elements are integers.
        """
        key, inside = self.locate(rank(self.n, 0.5))
        negative = key >= self.half
        upto = np.cumsum(low[::-1] if negative else low) * copies
        at = int(np.searchsorted(upto, inside, "right"))
        bits = (key << self.shift) | (low.size - 1 - at if negative else at)
        found = np.array(bits, self.bits).view(self.kind).item()
        self.median = int(found) if whole else found
