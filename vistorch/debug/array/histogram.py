"""Counting by equal steps, so that afterwards it is known exactly which elements each step holds.

A step is found by arithmetic that rounds, but rounds the same way for equal numbers and never swaps two of them: so
the elements from some number on are in step j or a later one, and that number, `border(j)`, is found by bisection.
Invariant: every finite element v with border(j) <= v < border(j + 1) was counted in step j, and no other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

STEPS = 1 << 14


def histogram_for(lo: float, hi: float, kind: Any) -> Histogram | None:
    """A histogram of equal bins from lo to hi; None where the arithmetic would leave the range of floating point.

    Args:
        lo: where the first step begins.
        hi: where the last ends.
        kind: float32 or float64, the type the elements are counted in.
    """
    kind = np.dtype(kind)
    for k in (kind, np.dtype(np.float64)):
        limits = np.finfo(k)
        wide = max(abs(lo), abs(hi), hi - lo)
        if math.isfinite(wide) and wide < float(limits.max) / 4 and hi - lo > float(limits.tiny) * STEPS * 4:
            return Histogram(lo, hi, k)
    return None


class Histogram:
    """Equal steps between two numbers, with one before for what is smaller and one behind for what is not."""

    def __init__(self, lo: float, hi: float, kind: np.dtype) -> None:
        self.lo, self.hi, self.kind = lo, hi, kind
        self.step = (hi - lo) / STEPS
        self.base, self.per = kind.type(lo - self.step), kind.type(1 / self.step)
        self.counts = np.zeros(STEPS + 2, np.int64)
        self.upto = self.counts

    def steps_of(self, values: np.ndarray, out: np.ndarray | None = None, nan: bool = False) -> np.ndarray:
        """The step of each value, from 0 (and for NaN) to STEPS + 1, still as floating point."""
        t = np.subtract(values, self.base, out=out)
        np.multiply(t, self.per, out=t)
        (np.fmax if nan else np.maximum)(t, 0, out=t)
        return np.minimum(t, STEPS + 1, out=t)

    def done(self, nan: int, posinf: int, neginf: int) -> None:
        """All was counted; take out what is not finite."""
        self.counts[0] -= nan + neginf
        self.counts[-1] -= posinf
        self.upto = np.concatenate([[0], np.cumsum(self.counts)])

    def below(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest borders, and how many elements are below each."""
        j = np.clip(np.rint((edges - self.lo) / self.step), 0, STEPS).astype(np.int64) + 1
        return self.border(j), self.upto[j]

    def border(self, j: np.ndarray) -> np.ndarray:
        """The least number in step j or a later one."""
        low = self._ordered(np.array([self.lo - 4 * self.step, self.hi + 4 * self.step], self.kind))
        left, right = np.full(j.shape, low[0]), np.full(j.shape, low[1])
        while (left + 1 < right).any():  # their difference may overflow
            middle = (left >> 1) + (right >> 1) + (left & right & 1)
            reached = self.steps_of(self._number(middle)) >= j
            right = np.where(reached, middle, right)
            left = np.where(reached, left, middle)
        return self._number(right).astype(np.float64)

    def _ordered(self, values: np.ndarray) -> np.ndarray:
        """Integers in the order of floating-point numbers."""
        i = values.view(f"i{self.kind.itemsize}").astype(np.int64)
        return np.where(i < 0, -(i & np.int64(2 ** (8 * self.kind.itemsize - 1) - 1)), i)

    def _number(self, ordered: np.ndarray) -> np.ndarray:
        """And back."""
        size = np.abs(ordered).astype(f"i{self.kind.itemsize}").view(self.kind)
        return np.where(ordered < 0, -size, size)
