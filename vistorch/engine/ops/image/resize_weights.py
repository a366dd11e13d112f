"""Where each element of a resized axis comes from: a small sparse matrix, as taps.

A `Taps` says for every output position which input positions it reads and with what weights; turned around, it says
the same of the gradient. Invariant: positions are computed in the precision PyTorch computes them in, float32 for
everything but doubles, so that a nearest neighbour is the same neighbour.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np


class Taps:
    """One axis: `index` and `weight`, (output size, taps); taps that do not exist have weight 0.

    Args:
        index: which elements are read.
        weight: their weights, or None where one element is taken as it is.
        size: how many elements there are to read.
    """

    def __init__(self, index: np.ndarray, weight: np.ndarray | None, size: int) -> None:
        self.index, self.weight, self.size = index, weight, size
        self.out = index.shape[0]

    def __repr__(self) -> str:
        return f"<{self.size} to {self.out} by {self.index.shape[1]} taps>"

    @cached_property
    def same(self) -> bool:
        """Whether every element stays as it is."""
        every = np.array_equal(self.index[:, 0], np.arange(self.size))
        return every and self.index.shape[1] == 1 and bool((self.weights == 1).all())

    @cached_property
    def repeats(self) -> int:
        """How often each element is repeated, if that is all there is to do; else 0."""
        times = self.out // self.size if self.size else 0
        if self.weight is not None or times * self.size != self.out:
            return 0
        return times if np.array_equal(self.index[:, 0], np.arange(self.out) // times) else 0

    @cached_property
    def sums(self) -> int:
        """How many neighbours are added up for each element, if that is all there is to do; else 0."""
        return self.turned.repeats if self.weight is not None else 0

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights, ones included."""
        return np.ones(self.index.shape) if self.weight is None else self.weight

    @cached_property
    def _dense(self) -> np.ndarray:
        full = np.zeros((self.out, self.size))
        np.add.at(full, (np.arange(self.out)[:, None], self.index), self.weights)
        return full

    @lru_cache(maxsize=4)  # noqa: B019  as long-lived as the cache of `taps` itself
    def matrix(self, dtype: Any) -> np.ndarray:
        """The whole matrix, (output size, input size)."""
        return self._dense.astype(dtype)

    @cached_property
    def short(self) -> tuple[np.ndarray, int]:
        """The weights as whole numbers of 16 bits, and how many of these are the fraction."""
        weights = self.weights.copy()
        for i in range(1, self.index.shape[1]):
            for k in range(i):  # taps beyond the edge read the same element
                same = self.index[:, i] == self.index[:, k]
                weights[same, k] += weights[same, i]
                weights[same, i] = 0
        most, bits = float(weights.max(initial=0)), 0
        while bits < 22 and int(0.5 + most * (1 << (bits + 1))) < 1 << 15:
            bits += 1
        scaled = weights * (1 << bits)
        return np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64), bits

    @cached_property
    def turned(self) -> Taps:
        """The transposed matrix."""
        rows = np.repeat(np.arange(self.out), self.index.shape[1])
        cols, weights = self.index.ravel(), self.weights.ravel()
        used = weights != 0
        order = np.argsort(cols[used], kind="stable")
        rows, cols, weights = rows[used][order], cols[used][order], weights[used][order]
        counts = np.bincount(cols, minlength=self.size)
        nth = np.arange(len(cols)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = self.size, max(int(counts.max(initial=0)), 1)
        index, weight = np.zeros(shape, np.int64), np.zeros(shape)
        index[cols, nth], weight[cols, nth] = rows, weights
        plain = counts.max(initial=0) == 1 and counts.min(initial=1) == 1 and bool((weights == 1).all())
        back = Taps(index, None if plain else weight, self.out)
        back.__dict__["turned"] = self
        return back


def _scale(kind: Any, size: int, out: int, align: bool, factor: float | None) -> Any:
    """How far apart in the input two neighbours of the output lie."""
    if align:
        return kind(size - 1) / kind(out - 1) if out > 1 else kind(0)
    return kind(1.0 / factor) if factor is not None and factor > 0 else kind(size) / kind(out)


def _nearest(kind: Any, size: int, out: int, align: bool, factor: float | None) -> Taps:
    kind = np.float32  # whatever the elements are
    at = np.floor(np.arange(out, dtype=kind) * _scale(kind, size, out, False, factor)).astype(np.int64)
    return Taps(np.minimum(at, size - 1)[:, None], None, size)


def _nearest_exact(kind: Any, size: int, out: int, align: bool, factor: float | None) -> Taps:
    kind = np.float32
    step = _scale(kind, size, out, False, factor)
    at = np.floor((np.arange(out, dtype=kind) + kind(0.5)) * step).astype(np.int64)
    return Taps(np.minimum(at, size - 1)[:, None], None, size)


def _places(kind: Any, size: int, out: int, align: bool, factor: float | None) -> np.ndarray:
    """Where the centres of the output lie in the input."""
    step, at = _scale(kind, size, out, align, factor), np.arange(out, dtype=kind)
    return at * step if align else step * (at + kind(0.5)) - kind(0.5)


def _linear(kind: Any, size: int, out: int, align: bool, factor: float | None) -> Taps:
    if out == size:
        return Taps(np.arange(out)[:, None], np.ones((out, 1)), size)
    at = np.maximum(_places(kind, size, out, align, factor), 0)
    first = np.minimum(at.astype(np.int64), size - 1)
    share = np.clip(at - first.astype(kind), 0, 1)
    index = np.stack([first, np.minimum(first + 1, size - 1)], 1)
    return Taps(index, np.stack([1 - share, share], 1), size)


def cubic(x: np.ndarray, a: float) -> np.ndarray:
    """The cubic convolution kernel at distances x."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _cubic(kind: Any, size: int, out: int, align: bool, factor: float | None) -> Taps:
    at = _places(kind, size, out, align, factor)
    first = np.floor(at)
    reach = np.arange(-1, 3)
    index = np.clip(first.astype(np.int64)[:, None] + reach, 0, size - 1)
    return Taps(index, cubic((at - first)[:, None] - reach.astype(kind), -0.75), size)


def _smooth(reach: float, shape: Callable) -> Callable:
    """A resampling that widens its kernel where it makes smaller, so that no element is passed over."""

    def make(kind: Any, size: int, out: int, align: bool, factor: float | None) -> Taps:
        step = _scale(kind, size, out, align, factor)
        wide = max(step, kind(1))
        support = kind(reach) * wide
        centre = step * (np.arange(out, dtype=kind) + kind(0.5))
        first = np.maximum((centre - support + kind(0.5)).astype(np.int64), 0)
        last = np.minimum((centre + support + kind(0.5)).astype(np.int64), size)
        index = first[:, None] + np.arange(max(int((last - first).max(initial=1)), 1))
        away = (index.astype(kind) - centre[:, None] + kind(0.5)) / wide
        weight = np.where(index < last[:, None], shape(away), 0)
        total = weight.sum(1, keepdims=True)
        weight = weight / np.where(total == 0, 1, total)
        return Taps(np.minimum(index, size - 1), weight, size)

    return make


KINDS: dict[str, Callable] = {
    "nearest": _nearest,
    "nearest-exact": _nearest_exact,
    "linear": _linear,
    "cubic": _cubic,
    "linear smooth": _smooth(1, lambda x: np.maximum(1 - np.abs(x), 0)),
    "cubic smooth": _smooth(2, lambda x: cubic(x, -0.5)),
    "lanczos smooth": _smooth(3, lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)),
}


@lru_cache(maxsize=256)
def taps(how: str, double: bool, size: int, out: int, align: bool, factor: float | None) -> Taps:
    """The taps of one axis.

    Args:
        how: a name in KINDS.
        double: whether the elements are doubles.
        size: elements of the input.
        out: elements of the output.
        align: whether the outermost elements of both fall together.
        factor: the scale the user gave, where it decides instead of the sizes.
    """
    return KINDS[how](np.float64 if double else np.float32, size, out, align, factor)
