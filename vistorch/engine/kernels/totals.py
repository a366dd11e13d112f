"""Sums over any axes that are as accurate as summing pairwise, whatever the memory order.

numpy sums pairwise along contiguous memory only; across rows it keeps one running sum, whose error grows with the
number of rows. Here rows are folded together sixteen at a time instead, which is also faster.
Invariant: no chain of float additions is longer than 32 outside numpy's own pairwise loop.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

_FOLD = 16
_CHAIN = 32
_add = np.add.reduce


def everything(xp: Any, input: Any) -> Any:
    """The sum of all elements; bools and integers are summed as int64."""
    if xp is not np:
        return input.sum()
    if input.dtype.kind in "fc":
        flags = input.flags
        if not (flags.c_contiguous or flags.f_contiguous):
            input = input.ravel()
        return _add(input, None)
    return _add(input, None, np.int64)


def total(xp: Any, x: Any, dims: tuple[int, ...], keepdim: bool = False) -> Any:
    """The sum over the axes `dims`; bools and integers are summed as int64."""
    if x.ndim == 0:
        dims = ()
    kind = x.dtype.kind
    if kind not in "fc":
        return x.sum(dims, dtype=xp.int64, keepdims=keepdim)
    if xp is not np:
        return x.sum(dims, keepdims=keepdim)
    if x.size < 256:
        return _add(x, dims, None, None, keepdim)
    out = everything(xp, x) if len(dims) == x.ndim else _some(x, dims)
    if keepdim:
        out = out.reshape(tuple([1 if i in dims else n for i, n in enumerate(x.shape)]))
    return out


def _some(x: np.ndarray, dims: tuple[int, ...]) -> Any:
    """The sum over some axes: walk over the memory in its own order, innermost axes first."""
    left = [i for i in range(x.ndim) if i not in dims]
    if not x.flags.c_contiguous:
        order = sorted(range(x.ndim), key=lambda i: -abs(x.strides[i]))
        turned = x.transpose(order)
        if turned.flags.c_contiguous:
            y = _runs(turned, [order.index(i) for i in dims])
            kept = [i for i in order if i not in dims]
            return np.ascontiguousarray(y.transpose([kept.index(i) for i in left]))
        x = np.ascontiguousarray(x)
    return _runs(x, list(dims))


def _runs(x: np.ndarray, dims: list[int]) -> np.ndarray:
    """The sum over axes of a contiguous array, one run of neighbouring axes at a time."""
    out_shape = [n for i, n in enumerate(x.shape) if i not in dims]
    shape, axes = list(x.shape), sorted(dims)
    while axes:
        stop = axes[-1] + 1
        start = stop - 1
        axes.pop()
        while axes and axes[-1] == start - 1:
            start = axes.pop()
        lead, n, inner = prod(shape[:start]), prod(shape[start:stop]), prod(shape[stop:])
        x = _rows(x.reshape(lead, n)) if inner == 1 else _columns(x.reshape(lead, n, inner))
        shape = shape[:start] + shape[stop:]
    return x.reshape(out_shape)


def _rows(x: np.ndarray) -> np.ndarray:
    """Sum along the contiguous axis of a matrix."""
    lead, n = x.shape
    if n <= _FOLD and lead > 4 * n and n:
        # short rows: numpy starts its inner loop anew for each
        return x @ np.ones(n, x.dtype)
    return _add(x, 1)


def _columns(x: np.ndarray) -> np.ndarray:
    """Sum over the middle axis of (lead, n, inner)."""
    lead, n, inner = x.shape
    while n > _CHAIN:
        m = n // _FOLD
        used = m * _FOLD
        folded = x[:, :used].reshape(lead, _FOLD, m * inner)
        if lead == 1:
            y = (np.ones(_FOLD, x.dtype) @ folded[0]).reshape(1, m, inner)
        else:
            y = _add(folded, 1).reshape(lead, m, inner)
        if used < n:
            y[:, -1] += _add(x[:, used:], 1)
        x, n = y, m
    return _add(x, 1)
