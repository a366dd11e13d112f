"""Rows added up by the place they belong to: the gradient of reading rows of a table.

numpy adds at places that come twice one element at a time. Here rows are put in the order of their places; eight rows
of one place at a time are added as a block, and what is left, seven at most for a place, in as many assignments.
Invariant: the order of additions depends on the places alone, so a result is the same every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_FOLD = 8
_SMALL = 48  # so few places are cheaper as a product with a matrix of ones and zeros
_CHAIN = 256  # rows added in their own type before they are added in double precision
_BYTES = 1 << 22


def added_rows(places: np.ndarray, values: np.ndarray, rows: int, taken: Any = None) -> np.ndarray:
    """A (rows, width) array whose row p is the sum of `values[places == p]`.

    Args:
        places: which row each belongs to, none of them negative.
        values: (len(places), width).
        rows: how many rows there are.
        taken: which of the values stands for each place; in their order where not given.
    """
    count = len(places)
    if rows <= _SMALL and count > 4 * rows and values.dtype.kind == "f":
        return _by_product(places, values if taken is None else values[taken], rows)
    out = np.zeros((rows, values.shape[1]), values.dtype)
    if count:
        order = np.argsort(places, kind="stable")
        _add(out, places[order], values, order if taken is None else taken[order], True)
    return out


def _by_product(places: np.ndarray, values: np.ndarray, rows: int) -> np.ndarray:
    total = np.zeros((rows, values.shape[1]))
    here = np.arange(rows)[:, None]
    for start in range(0, len(places), _CHAIN):
        part = slice(start, start + _CHAIN)
        total += (here == places[part]).astype(values.dtype) @ values[part]
    return total.astype(values.dtype)


def _add(out: np.ndarray, placed: np.ndarray, values: np.ndarray, order: Any, fresh: bool) -> None:
    """Add `values[order]`, whose places `placed` are sorted; `fresh`: nothing has been added yet."""
    new = np.empty(len(placed), bool)
    new[0] = True
    np.not_equal(placed[1:], placed[:-1], out=new[1:])
    start = np.flatnonzero(new)
    count = np.diff(start, append=len(placed))
    place = placed[start]
    blocks = count // _FOLD
    if blocks.any():
        first = np.repeat(start - _FOLD * (np.cumsum(blocks) - blocks), blocks) + _FOLD * np.arange(
            blocks.sum()
        )
        _add(out, np.repeat(place, blocks), _folded(values, order, first), None, fresh)
        left = count - _FOLD * blocks
        start = start + _FOLD * blocks
        more = left > 0
        # a place that had a block has its sum already
        begun = (blocks > 0)[more]
        start, count, place = start[more], left[more], place[more]
    else:
        begun = None
    at = 0
    while start.size:
        taken = start + at
        rows = values[taken if order is None else order[taken]]
        if at or not fresh:
            out[place] += rows
        elif begun is None:
            out[place] = rows
        else:
            out[place[begun]] += rows[begun]
            out[place[~begun]] = rows[~begun]
        at += 1
        more = count > at
        start, count, place = start[more], count[more], place[more]


def _folded(values: np.ndarray, order: Any, first: np.ndarray) -> np.ndarray:
    """The sums of eight rows each, from `first` on."""
    out = np.empty((len(first), values.shape[1]), values.dtype)
    step = max(_BYTES // (_FOLD * max(values.shape[1], 1) * 4), 1)
    eight = np.arange(_FOLD)
    for at in range(0, len(first), step):
        taken = first[at : at + step, None] + eight
        np.add.reduce(values[taken if order is None else order[taken]], 1, out=out[at : at + step])
    return out
