"""Attention on a device in tiles: no matrix of scores is ever kept, forward or backward.

In place of the weights a row keeps the logarithm of each query's sum of exponentials, three dims of it. Where weights
are dropped at random it keeps no mask either: each kernel draws the numbers again.
Invariant: what does not fit (depths above 256 or the shared memory, other types) goes to the plain kernel, whose
weights have four dims or no elements, and its gradient there too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import launch

Kernel = Any
TILE, DEEPEST = 32, 256
WARPS = 4
ALL = (0, 0, 0, 1.0)  # no dropout: where the random words are, and the share of weights that stay
ROOM = 48 << 10  # bytes of shared memory that every device gives without being asked


def _bytes(depth: int, width: int, wide: int, own: int) -> int:
    return (TILE * (depth + 1) + TILE * (width + 1) + WARPS * own) * wide


def _fits(query: Any, key: Any, value: Any) -> bool:
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4:
        return False
    depth, width = query.shape[3], value.shape[3]
    wide = 8 if query.dtype.itemsize == 8 else 4
    return (
        launch.known(query, key, value)
        and query.shape[:2] == key.shape[:2] == value.shape[:2]
        and query.size > 0
        and key.size > 0
        and value.size > 0
        and max(depth, width) <= DEEPEST
        and _bytes(depth, width, wide, depth + width) <= ROOM
    )


def _masked(xp: Any, mask: Any, shape: tuple, dtype: Any) -> tuple:
    """The mask, where it is, and its strides along batch, head, row and column; zeros where there is none.

    It travels as an address because it is read by its strides: it may have gaps, as nothing else that is given.
    """
    if mask is None:
        return None, 0, (0, 0, 0, 0)
    mask = mask.astype(dtype, copy=False)
    wide = xp.broadcast_to(mask, shape)
    return mask, int(mask.data.ptr), tuple([int(s) // mask.dtype.itemsize for s in wide.strides])


def _sizes(query: Any, key: Any, value: Any, scale: float, causal: bool, strides: tuple) -> tuple:
    batch, heads, rows, depth = query.shape
    numbers = batch * heads, rows, key.shape[2], depth, value.shape[3]
    return (*numbers, float(scale), int(causal), heads, *strides)


def _grid(heads: int, rows: int) -> int:
    return launch.rows(heads * -(-rows // WARPS))


def _forward(
    xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, drop: tuple = ALL
) -> tuple:
    batch, heads, rows, depth = query.shape
    dtype, width = query.dtype, value.shape[3]
    wide = np.dtype("f8" if dtype.itemsize == 8 else "f4")
    query, key, value = [xp.ascontiguousarray(a) for a in (query, key, value)]
    mask, at, strides = _masked(xp, mask, (batch, heads, rows, key.shape[2]), dtype)
    out, lse = xp.empty((batch, heads, rows, width), dtype), xp.empty((batch, heads, rows), wide)
    args = (query, key, value, at, out, lse, *_sizes(query, key, value, scale, causal, strides), *drop)
    shared = _bytes(depth, width, wide.itemsize, depth)
    launch.launch("attention", "attend", dtype, _grid(batch * heads, rows), 32 * WARPS, args, shared)
    return out, lse


def _backward(xp, g, query, key, value, mask, out, lse, causal, scale, drop=ALL):
    batch, heads, rows, depth = query.shape
    dtype, width = query.dtype, value.shape[3]
    g, query, key, value, out = [xp.ascontiguousarray(a) for a in (g, query, key, value, out)]
    mask, at, strides = _masked(xp, mask, (batch, heads, rows, key.shape[2]), dtype)
    slope = xp.empty(lse.shape, lse.dtype)
    of_query, of_key, of_value = [xp.empty(a.shape, dtype) for a in (query, key, value)]
    sizes = (*_sizes(query, key, value, scale, causal, strides), *drop)
    shared = _bytes(depth, width, lse.dtype.itemsize, depth + width)
    args = (g, query, key, value, at, out, lse, slope, of_query, *sizes)
    many = batch * heads
    launch.launch("attention", "attend_rows", dtype, _grid(many, rows), 32 * WARPS, args, shared)
    args = (g, query, key, value, at, lse, slope, of_key, of_value, *sizes)
    launch.launch("attention", "attend_columns", dtype, _grid(many, key.shape[2]), 32 * WARPS, args, shared)
    return of_query, of_key, of_value


def attention(plain: Kernel, xp: Any) -> Kernel:
    """`attention`: the result and the logarithms of the sums."""

    def kernel(query: Any, key: Any, value: Any, causal: bool, scale: float, keep: bool) -> tuple:
        if not _fits(query, key, value):
            return plain(query, key, value, causal, scale, keep)
        return _forward(xp, query, key, value, None, causal, scale)

    return kernel


def masked_attention(plain: Kernel, xp: Any) -> Kernel:
    """`masked_attention`, whose mask is added to the scores."""

    def kernel(query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, keep: bool) -> tuple:
        if not _fits(query, key, value):
            return plain(query, key, value, mask, causal, scale, keep)
        return _forward(xp, query, key, value, mask, causal, scale)

    return kernel


def gradients(plain: Any) -> Any:
    """All gradients of `attention`."""

    def together(xp, g, wants, query, key, value, out, out1, causal, scale):
        if out1.ndim != 3 or not launch.known(g, query, out):
            return plain(xp, g, wants, query, key, value, out, out1, causal, scale)
        return _backward(xp, g, query, key, value, None, out, out1, causal, scale)

    return together


def masked_gradients(plain: Any) -> Any:
    """All gradients of `masked_attention`; none for the mask."""

    def together(xp, g, wants, query, key, value, mask, out, out1, causal, scale):
        if out1.ndim != 3 or not launch.known(g, query, out):
            return plain(xp, g, wants, query, key, value, mask, out, out1, causal, scale)
        return (*_backward(xp, g, query, key, value, mask, out, out1, causal, scale), None)

    return together


# ---- dropout -------------------------------------------------------------------------------------------------------
def noise(plain: Kernel, xp: Any) -> Kernel:
    """`attention_noise`: the whole of what the tiles draw."""

    def kernel(query: Any, key: Any, stream: tuple, stays: float) -> Any:
        if query.dtype.name not in launch.TYPES:
            return plain(query, key, stream, stays)
        y = xp.empty((*query.shape[:3], key.shape[2]), query.dtype)
        if y.size:
            args = (y, y.size // y.shape[3], y.shape[3], *stream, float(stays))
            launch.launch("attention", "noise", y.dtype, launch.each(y.size), launch.BLOCK, args)
        return y

    return kernel


def _there(mask: Any) -> Any:
    """A mask, or None: a row gets an array without elements for one that is not there."""
    return mask if mask.shape != (0,) else None


def dropped_attention(plain: Kernel, xp: Any) -> Kernel:
    """`dropped_attention`, whose weights are dropped at random."""

    def kernel(query, key, value, mask, causal, scale, keep, stream, stays):
        if not _fits(query, key, value):
            return plain(query, key, value, mask, causal, scale, keep, stream, stays)
        return _forward(xp, query, key, value, _there(mask), causal, scale, (*stream, float(stays)))

    return kernel


def dropped_gradients(plain: Any) -> Any:
    """All gradients of `dropped_attention`; none for the mask."""

    def together(xp, g, wants, query, key, value, mask, out, out1, causal, scale, stream, stays):
        if out1.ndim != 3 or not launch.known(g, query, out):
            given = (query, key, value, mask, out, out1, causal, scale, stream, stays)
            return plain(xp, g, wants, *given)
        drop = (*stream, float(stays))
        return (*_backward(xp, g, query, key, value, _there(mask), out, out1, causal, scale, drop), None)

    return together
