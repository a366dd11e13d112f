"""Which element of a window was the largest: flat indices, and gradients that go there.

Where no nan is about, the gradient finds its element without indices: it goes back one dim at a time to the first
element that equals the maximum. Invariant: the element is the first of equals in row-major order, and of several nans
the last, as in PyTorch; indices count within the last dims of one channel.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...core.op_factory import op
from .windows import BLOCK, EVERY, Dim, at, folds, in_blocks, part

BITS = {2: np.dtype("i2"), 4: np.dtype("i4"), 8: np.dtype("i8")}


def lowest(dtype: Any) -> Any:
    """The maximum of nothing."""
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def largest(xp: Any, a: Any, dims: list[Dim]) -> Any:
    """The maximum of each window."""
    if xp is np and a.size > 4 * BLOCK and a.flags.c_contiguous:
        return in_blocks(_largest, dims, (*a.shape[: a.ndim - len(dims)], *[dim.outputs for dim in dims]), a)
    return _largest(xp, a, dims)


def _largest(xp: Any, a: Any, dims: list[Dim]) -> Any:
    out = folds(xp, xp.maximum, a, dims, lowest(a.dtype))[-1]
    return a.copy() if out is a else out


def find(xp: Any, a: Any, out: Any, dims: list[Dim]) -> Any:
    """The flat index of each window's maximum `out`."""
    k, ndim = len(dims), a.ndim
    lead = ndim - k
    sizes = a.shape[lead:]
    index = xp.zeros(out.shape, np.int64)
    free = xp.ones(out.shape, bool)
    odd = bool((out != out).any())
    for parts in product(*[dim.pieces for dim in dims]):
        piece, place = a, 0
        for i, (_, into, _) in enumerate(parts):
            piece = part(xp, piece, lead + i, into)
            where = np.arange(sizes[i])[into].reshape((-1,) + (1,) * (k - 1 - i))
            place = place + where * prod(sizes[i + 1 :])
        keys = [to for to, _, _ in parts]
        if any(key.__class__ is not slice for key in keys):
            open_ = np.ix_(*[np.arange(dim.outputs)[key] for dim, key in zip(dims, keys, strict=True)])
            keys = [xp.asarray(key) for key in open_]
        to = (EVERY,) * lead + tuple(keys)
        hit = (piece == out[to]) & free[to]
        if odd:
            nan = piece != piece
            index[to] = xp.where(nan, 0, index[to])  # a later nan takes the place of an earlier one
            hit |= nan
        index[to] += xp.asarray(place) * hit
        free[to] &= ~hit
    return index


def back(xp: Any, g: Any, a: Any, dims: list[Dim]) -> Any:
    """Each output's gradient at its window's maximum, zeros elsewhere."""
    if xp is np and a.size > 4 * BLOCK and a.flags.c_contiguous:
        return in_blocks(_back, dims, a.shape, g, a)
    return _back(xp, g, a, dims)


def _back(xp: Any, g: Any, a: Any, dims: list[Dim]) -> Any:
    steps = folds(xp, xp.maximum, a, dims, lowest(a.dtype))
    out = steps[-1]
    if not all(dim.regular for dim in dims) or (out != out).any():
        return scatter(xp, g, find(xp, a, out, dims), a.shape[a.ndim - len(dims) :])
    for i, dim in enumerate(dims):
        g = _first(xp, g, steps[len(dims) - 1 - i], steps[len(dims) - i], a.ndim - len(dims) + i, dim)
    return g


def _first(xp: Any, g: Any, big: Any, small: Any, axis: int, dim: Dim) -> Any:
    """One dim of `back`: from the maxima `small` to the first of the elements `big` that equals each."""
    if dim.same:
        return g
    whole = BITS[g.dtype.itemsize]
    out = (xp.empty if dim.disjoint and dim.covers else xp.zeros)(big.shape, g.dtype)
    # as bits, because 0 * inf would be nan; what an element took is gone from `rest`, so later equals find nothing
    bits, rest = out.view(whole), xp.array(g, order="C").view(whole)
    copied = xp is np and axis == g.ndim - 1
    for to, into, full in dim.pieces:
        to, key = at(axis, to), at(axis, into)
        if full and into == dim.pieces[-1][1]:
            took = rest
        else:
            element = big[key]
            if copied:
                element = element.copy()  # numpy compares two dense arrays ten times as fast
            took = rest[to] * (element == small[to])
            rest[to] ^= took
        if dim.disjoint:
            bits[key] = took
        else:
            out[key] += took.view(g.dtype)
    return out


# ---- gradients by indices ----------------------------------------------------------------------------------------
def flat(xp: Any, index: Any, k: int, plane: int) -> Any:
    """Indices within a channel as indices within the whole flattened tensor."""
    planes = prod(index.shape[: index.ndim - k])
    return (
        index.reshape(planes, prod(index.shape[index.ndim - k :])) + xp.arange(planes)[:, None] * plane
    ).reshape(-1)


def scatter(xp: Any, g: Any, index: Any, sizes: tuple) -> Any:
    """Zeros with values added at indices within the last dims, whose sizes are given."""
    lead = g.shape[: g.ndim - len(sizes)]
    out = xp.zeros(prod(lead) * prod(sizes), g.dtype)
    xp.add.at(out, flat(xp, index, len(sizes), prod(sizes)), g.reshape(-1))
    return out.reshape(lead + tuple(sizes))


def gather(xp: Any, input: Any, index: Any, k: int) -> Any:
    """The elements at indices within the last `k` dims."""
    plane = prod(input.shape[input.ndim - k :])
    if not plane:
        return xp.zeros(index.shape, input.dtype)
    return input.reshape(-1)[flat(xp, index, k, plane)].reshape(index.shape)


op(
    "pool_scatter",
    scatter,
    inputs="g index",
    name_in_graph="MaxPoolBackwardBackward0",
    formula=r"\bar x_k = \bar y_{i_k}",
    g=lambda F, g, index, sizes: F.pool_gather(g, index, len(sizes)),
)
op(
    "pool_gather",
    gather,
    inputs="input index",
    widen=False,
    name_in_graph="GatherBackward0",
    formula=r"\bar x_{i_k} \mathrel{+}= \bar y_k",
    input=lambda F, g, input_shape, index, k: F.pool_scatter(g, index, input_shape[len(input_shape) - k :]),
)
