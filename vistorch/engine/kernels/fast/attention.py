"""Attention in float32 by oneDNN: each product and each softmax over many heads at once, shared out among threads.

Threads of Python that walk over heads, some short calls of numpy for each, wait for the interpreter's lock: four of
them took longer than one. Invariant: what is computed here has no row of weights without a key that is seen, and no
nan: None is returned for those, and the plain kernel computes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import threads
from .switch import onednn

F4 = np.dtype("f4")
BLOCK = 1 << 16  # scores at a time, for each thread: they are still in its cache at the next step
ROWS = 256  # of a long matrix of scores at a time
LEAST = 1 << 14  # scores from which on this is faster
Index = tuple[slice, slice]


def _ready(*arrays: Any) -> bool:
    for a in arrays:
        if a.dtype != F4 or a.strides[-1] != 4 or min(a.strides) < 4 or not a.size:
            return False
    many, each, rows, _ = arrays[0].shape
    return many * each * rows * arrays[1].shape[2] >= LEAST and (onednn.on or onednn.ready())


def _pieces(shape: tuple[int, ...]) -> Iterator[Index]:
    """Pieces of (batch, heads)."""
    many, each, rows, columns = shape
    block = BLOCK * min(threads.count(), 8) // (rows * columns)  # matrices at a time
    if block >= each:
        for b in range(0, many, block // each):
            yield slice(b, b + block // each), slice(None)
        return
    step = max(block, 1)
    for b in range(many):
        for h in range(0, each, step):
            yield slice(b, b + 1), slice(h, h + step)


def _cuts(rows: int, columns: int, causal: bool, keep: bool) -> list[tuple[int, int, int]]:
    """Rows from and to, and up to which column they see anything.

    Weights that are kept have to be copied into their place if rows are cut: with several threads it takes longer
    than to compute what nobody sees.
    """
    copied = keep and threads.count() > 1 and not threads.state.deterministic
    step = ROWS if causal and rows > ROWS and not copied else rows
    cuts = [(start, min(start + step, rows)) for start in range(0, rows, step)]
    return [(a, e, min(e, columns) if causal else columns) for a, e in cuts]


def _hidden(start: int, stop: int, columns: int) -> Any:
    """What to add to scores so that a row sees no later column."""
    later = np.arange(columns) > np.arange(start, stop)[:, None]
    return np.where(later, F4.type(-np.inf), F4.type(0))[None, None]


def attend(
    query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, keep: bool
) -> tuple[Any, Any] | None:
    """The result in the memory order of `query`, and the weights (no element of them without `keep`)."""
    if not _ready(query, key, value) or (mask is not None and mask.dtype != F4):
        return None
    rows, columns = shape = query.shape[2], key.shape[2]
    shape = (*query.shape[:2], *shape)
    out = np.empty_like(query)
    if out.strides[-1] != 4:
        return None
    cuts = _cuts(rows, columns, causal, keep)
    weights = (np.zeros if len(cuts) > 1 else np.empty)(shape if keep else (0,), F4)
    hidden = [_hidden(*cut) if causal else None for cut in cuts]
    if mask is not None:
        mask = np.broadcast_to(mask, shape)
    products, p = onednn.products, onednn.pointwise
    for i in _pieces(shape):
        q, k, v, result = query[i], key[i].swapaxes(-1, -2), value[i], out[i]
        for (a, e, last), unseen in zip(cuts, hidden, strict=True):
            into = weights[i] if keep and len(cuts) == 1 else None
            s = products.batched(q[..., a:e, :], k[..., :last], into, scale)
            if s is None:
                return None
            if unseen is not None and not onednn.arithmetic.add_to_each(s, unseen):
                s += unseen
            if mask is not None:
                s += mask[i][..., a:e, :last]
            if p.softmax(p.SOFTMAX, s, s, False) is None:
                return None
            if products.batched(s, v[..., :last, :], result[..., a:e, :]) is None:
                return None
            if keep and into is None:
                weights[i][..., a:e, :last] = s
    return None if np.isnan(out.max()) else (out, weights)


def gradients(
    g: Any, query: Any, key: Any, value: Any, weights: Any, causal: bool, scale: float
) -> tuple[Any, Any, Any] | None:
    """The gradients of query, key and value."""
    if not _ready(query, key, value) or g.dtype != F4 or weights.dtype != F4:
        return None
    cuts = _cuts(weights.shape[2], weights.shape[3], causal, True)
    whole = len(cuts) == 1
    make = np.empty_like if whole else np.zeros_like
    dq, dk, dv = np.empty_like(query), make(key), make(value)
    if dq.strides[-1] != 4 or dk.strides[-1] != 4 or dv.strides[-1] != 4:
        return None
    product, p = onednn.products.batched, onednn.pointwise
    for i in _pieces(weights.shape):
        q, k, v = query[i], key[i], value[i].swapaxes(-1, -2)
        for a, e, last in cuts:
            gi, w = g[i][..., a:e, :], np.ascontiguousarray(weights[i][..., a:e, :last])
            d = product(gi, v[..., :last])
            if d is None or p.softmax_back(p.SOFTMAX, d, w, d) is None:
                return None
            turned, rows = d.swapaxes(-1, -2), q[..., a:e, :]
            made = [
                product(d, k[..., :last, :], dq[i][..., a:e, :], scale),
                product(turned, rows, dk[i] if whole else None, scale),
                product(w.swapaxes(-1, -2), gi, dv[i] if whole else None),
            ]
            if any(m is None for m in made):
                return None
            if not whole:
                dk[i][..., :last, :] += made[1]
                dv[i][..., :last, :] += made[2]
    return dq, dk, dv
