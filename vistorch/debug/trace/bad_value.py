"""What is kept of a bad value at the moment it is found: where it is, and the values around it.

Invariant: facts hold copies of small parts; nothing of what was computed is kept alive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..numbers import host, plain

WINDOW = 6  # rows and columns that are shown
MOST = 64  # indices that are kept


@dataclass
class Table:
    """A part of an array: `lead` are the indices of the axes before the last two, `start` where the part begins."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    lead: tuple[int, ...]
    start: tuple[int, int]
    values: np.ndarray
    bad: np.ndarray

    @property
    def whole(self) -> bool:
        """Whether it is all of the array."""
        return self.values.size == int(np.prod(self.shape))

    def wire(self) -> dict[str, Any]:
        """As it travels."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "lead": list(self.lead),
            "start": list(self.start),
            "values": self.values,
            "bad": self.bad,
            "whole": self.whole,
        }


LARGE = 1e4  # from here on a result that is infinite is put down to growth


@dataclass
class BadValue:
    """One origin: `at` are the first bad places of the output, `which` 0 NaN, 1 +inf, 2 -inf, 3 beyond the bound."""

    at: np.ndarray
    which: np.ndarray
    count: int
    size: int
    inputs: list[Table] = field(default_factory=list)
    outputs: list[Table] = field(default_factory=list)
    how: str = ""

    @property
    def large(self) -> bool:
        """Whether finite numbers that had grown large went in."""
        sizes = [np.abs(t.values[np.isfinite(t.values)]).max(initial=0) for t in self.inputs]
        return max(sizes, default=0) >= LARGE

    @property
    def overflowed(self) -> bool:
        """Whether finite numbers that had grown large gave an infinite one."""
        return bool((self.which == 1).any() or (self.which == 2).any()) and self.large


def bad_mask(d: Any, bound: float | None) -> np.ndarray:
    """Where an array is bad."""
    d = plain(host(d))
    if d.dtype.kind in "iub":
        return np.zeros(d.shape, bool) if bound is None else np.abs(d) > bound
    with np.errstate(all="ignore"):
        mask = ~np.isfinite(d)
        return mask if bound is None else mask | (np.abs(d) > bound)


def counts(d: Any, bound: float | None) -> tuple[int, int, int, int]:
    """How many elements are NaN, +inf, -inf, beyond the bound."""
    d = plain(host(d))
    if d.dtype.kind == "c":
        nan = np.isnan(d)
        return int(nan.sum()), int((np.isinf(d) & ~nan).sum()), 0, 0
    if d.dtype.kind in "iub":
        return 0, 0, 0, int(bad_mask(d, bound).sum())
    nan, plus, minus = (int(m.sum()) for m in (np.isnan(d), d == np.inf, d == -np.inf))
    return nan, plus, minus, int(bad_mask(d, bound).sum()) - nan - plus - minus


def places(d: Any, bound: float | None) -> tuple[np.ndarray, np.ndarray]:
    """The first bad places as rows of indices, and which kind each is."""
    d = plain(host(d))
    at = np.argwhere(bad_mask(d, bound))[:MOST]
    found = d[tuple(at.T)]
    which = np.full(len(at), 3, np.uint8)
    with np.errstate(all="ignore"):
        real = found if found.dtype.kind != "c" else found.real
        which[real == np.inf] = 1
        which[real == -np.inf] = 2
        which[np.isnan(found)] = 0
    return at.astype(np.int32), which


def table(name: str, d: Any, at: tuple[int, ...], bound: float | None) -> Table:
    """The part of an array around a place."""
    raw = host(d)
    kind = raw.dtype.name
    d = plain(raw)
    shape = d.shape
    lead = tuple(int(i) for i in at[:-2]) if len(shape) > 2 else ()
    flat = d[lead] if d.size else d.reshape(0, 0)
    flat = flat.reshape(1, -1) if flat.ndim < 2 else flat
    place = (0, *at[-1:]) if len(shape) < 2 else tuple(at[-2:])
    place = place if len(place) == 2 else (0, 0)
    start = tuple(
        int(max(0, min(i - WINDOW // 2, n - WINDOW))) for i, n in zip(place, flat.shape, strict=True)
    )
    part = flat[start[0] : start[0] + WINDOW, start[1] : start[1] + WINDOW]
    bad = bad_mask(part, bound).astype(np.uint8)
    if part.dtype.kind == "c":
        part = np.abs(part)
    return Table(name, tuple(shape), kind, lead, (start[0], start[1]), part.astype(np.float64), bad)


def matching(at: tuple[int, ...], to: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The place in an input that a place of the output was computed from, where the input is broadcast to it."""
    lead = len(to) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, to[lead:], strict=True)):
        return None
    return tuple(0 if n == 1 else int(i) for n, i in zip(shape, at[lead:], strict=True))


def largest(d: Any) -> tuple[int, ...]:
    """The place of the largest absolute value, where no single place explains a result."""
    d = plain(host(d))
    if not d.size:
        return (0,) * d.ndim
    with np.errstate(all="ignore"):
        sizes = np.abs(d)
        bad = ~np.isfinite(sizes)
        flat = int(np.flatnonzero(bad)[0]) if bad.any() else int(np.argmax(sizes))
    return tuple(int(i) for i in np.unravel_index(flat, d.shape))
