"""Where elements are: flat C-order positions of those that are not finite, and of one that has a given value.

Invariant: a position is that of the original array, whatever the order of its memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from .blocks import Layout, pieces

LISTED = 512
HELD = 1 << 16  # positions that are held before those that cannot be among the first are dropped


def find(source: Layout, value: object) -> int | None:
    """The position of an element that has this value; None if there is none."""
    for where, piece in _rows(source):
        mask = piece == value
        if mask.any():
            return int(_near(where, mask, source)[0])
    return None


def not_finite(source: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Where the first elements are that are not finite, and which: 0 for NaN, 1 for +inf, 2 for -inf."""
    in_order = source.order == tuple(range(len(source.order))) and not source.repeats
    found, which, total = [np.empty(0, np.int64)], [np.empty(0, np.uint8)], 0
    for where, piece in _rows(source):
        mask = ~np.isfinite(piece)
        if not mask.any():
            continue
        values = piece[mask].astype(np.float64)
        found.append(_near(where, mask, source))
        which.append(np.where(np.isnan(values), 0, np.where(values > 0, 1, 2)).astype(np.uint8))
        total += found[-1].size
        if in_order and total >= LISTED:
            break
        if total > HELD:
            found, which = _first(found, which)
            total = found[0].size
    (flat,), (kinds,) = _first(found, which)
    return spread_out(flat, kinds, source)


def spread_out(near: np.ndarray, kinds: np.ndarray, source: Layout) -> tuple[np.ndarray, np.ndarray]:
    """The first of all copies of these elements, of which the positions of the first copies are given."""
    if not source.repeats or not near.size:
        return near, kinds
    flat = _copies(near, source)
    return flat, kinds[np.searchsorted(near, _first_copy(flat, source))]


def everywhere(stored: np.ndarray, source: Layout) -> np.ndarray:
    """Positions in the array from those among the stored elements, in the array's order of axes."""
    if not source.repeats:
        return stored
    shape = tuple([1 if a in source.repeats else n for a, n in enumerate(source.shape)])
    return np.ravel_multi_index(np.unravel_index(stored, shape), source.shape).astype(np.int64)


def _rows(source: Layout) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
    """Pieces of the stored elements in walking order, each with its place."""
    view = source.array
    for where in pieces(view.shape, (1,) * view.ndim):
        yield where, view[where]


def _near(where: tuple[slice, ...], mask: np.ndarray, source: Layout) -> np.ndarray:
    """Positions of a piece's marked elements, in the first of all copies."""
    out = np.zeros(np.count_nonzero(mask), np.int64)
    if mask.ndim:
        for axis, along, s in zip(source.order, np.nonzero(mask), where, strict=True):
            out += (along + s.start) * prod(source.shape[axis + 1 :])
    return out


def _first(found: list[np.ndarray], which: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    at = np.concatenate(found)
    order = np.argsort(at, kind="stable")[:LISTED]
    return [at[order]], [np.concatenate(which)[order]]


def _copies(flat: np.ndarray, source: Layout) -> np.ndarray:
    """The first positions of all copies: the smallest of all sums are among the sums of the smallest."""
    for axis, n in source.repeats.items():
        step = prod(source.shape[axis + 1 :])
        flat = np.sort((flat[:, None] + np.arange(min(n, LISTED)) * step).reshape(-1))[:LISTED]
    return flat


def _first_copy(flat: np.ndarray, source: Layout) -> np.ndarray:
    """The position of the first copy of each."""
    where = list(np.unravel_index(flat, source.shape))
    for axis in source.repeats:
        where[axis] = np.zeros_like(where[axis])
    return np.ravel_multi_index(tuple(where), source.shape)
