"""Accumulation at places that may come twice: add, multiply, maximum, minimum, on either array library.

Invariant: the places of one target are combined in the order they are given, so the result is the same every time
(except addition on a GPU, which is atomic there as it is in PyTorch).
"""

from __future__ import annotations

from typing import Any

import numpy as np

F4 = np.dtype("f4")


def add_at(xp: Any, out: Any, index: Any, values: Any) -> None:
    """`out[index[i]] += values[i]` along the first dimension, each i in turn; `out` is contiguous."""
    if xp is not np:
        _add_on_device(xp, out, index, values)
        return
    if out.ndim == 1 or values.size < 128:
        np.add.at(out, index, values)
        return
    rows = out.shape[0]
    if index.shape[0] <= rows and out.dtype.kind in "fc":
        # no place twice: one assignment instead of one addition per element
        count = np.bincount(index % rows if index.min() < 0 else index, minlength=rows)
        if count.max() <= 1:
            out[index] += values
            return
    flat = out.reshape(-1)
    width = flat.shape[0] // rows
    # one dimension is numpy's fast path, three to eight times faster than rows
    places = (index[:, None] * width + np.arange(width)).reshape(-1)
    np.add.at(flat, places, values.reshape(-1))
    if flat.base is None:
        out[...] = flat.reshape(out.shape)


ATOMIC = frozenset(("float32", "float64", "complex64", "complex128", "int32"))  # what cupy adds in place


def _add_on_device(xp: Any, out: Any, index: Any, values: Any) -> None:
    from ...kernels.cuda import places

    if index.__class__ is not tuple and places.add_rows(xp, out, index, values, "index_add"):
        return
    if out.dtype.name in ATOMIC:
        xp.add.at(out, index, values)
    elif out.dtype.name == "int64":  # two's complement: the same bits add up to the same bits
        xp.add.at(out.view("u8"), index, values.view("u8"))
    else:
        wide = np.int32 if out.dtype.kind in "iub" else np.float32
        sums = out.astype(wide)
        xp.add.at(sums, index, values.astype(wide))
        out[...] = sums.astype(out.dtype)


def combine_at(xp: Any, ufunc: str, out: Any, index: Any, values: Any) -> None:
    """`out[index[i]] = ufunc(out[index[i]], values[i])` along the first dimension, each i in turn."""
    if xp is np:
        getattr(np, ufunc).at(out, index, values)
        return
    # in rounds: the first of each place's values, then the second, ...
    order = xp.argsort(index)
    placed = index[order]
    new = xp.ones(placed.shape, bool)
    new[1:] = placed[1:] != placed[:-1]
    start = xp.nonzero(new)[0]
    count = xp.diff(xp.append(start, placed.shape[0]))
    where = placed[start]
    fn = getattr(xp, ufunc)
    for k in range(int(count.max()) if count.size else 0):
        more = count > k
        here = where[more]
        out[here] = fn(out[here], values[order[start[more] + k]])


def flat_places(xp: Any, index: Any, dim: int, shape: tuple) -> Any:
    """Where `index` (a position along `dim` for each of its places) points in a flat array of `shape`."""
    stride = 1
    strides = [0] * len(shape)
    for d in range(len(shape) - 1, -1, -1):
        strides[d] = stride
        stride *= shape[d]
    places = index.astype(np.int64) * strides[dim] if len(shape) > 1 else index
    for d, n in enumerate(index.shape):
        if d != dim and n > 1:
            ahead = (1,) * d + (n,) + (1,) * (len(shape) - d - 1)
            places += (xp.arange(n) * strides[d]).reshape(ahead)
    return places.reshape(-1)
