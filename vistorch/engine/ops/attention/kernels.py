"""Attention on arrays: scores, softmax and the weighted sum in one walk over the heads, and its gradient likewise.

A few heads at a time, so that their scores stay in the cache from the first product to the second; under a causal
mask the part that nobody may see is not computed. Invariant: weights of a row are zero, not nan, where a query may
see no key at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from ...kernels import philox
from ...kernels.fast import attention as fast
from ...kernels.threads import split

BLOCK = 2**16  # scores at a time
_LONG = (
    2**18
)  # scores of one head from which on threads of Python do not wait for one another most of the time
_SCORE = 4.0  # nanoseconds of a score, with its part of the products
ROWS = 256  # of a long matrix of scores at a time
TAME = 16.0  # scores within +-16 need no shift: their exponentials and sums keep all their digits
Index = tuple[slice, slice]


def heads(xp: Any, shape: tuple[int, ...]) -> Iterator[Index]:
    """Pieces of (batch, heads) of scores of this shape; only a processor has a cache to fit."""
    many, each, rows, columns = shape
    if xp is not np:
        yield slice(None), slice(None)
        return
    one = max(rows * columns, 1)
    if each * one <= BLOCK:
        step = max(BLOCK // max(each * one, 1), 1)
        for b in range(0, many, step):
            yield slice(b, b + step), slice(None)
        return
    step = max(BLOCK // one, 1)
    for b in range(many):
        for h in range(0, each, step):
            yield slice(b, b + 1), slice(h, h + step)


def _each(xp: Any, shape: tuple[int, ...], run: Callable[[Index], None]) -> None:
    """`run` of each piece of the heads, on several threads where there is much to do."""
    parts = list(heads(xp, shape))

    def some(start: int, stop: int) -> None:
        for i in parts[start:stop]:
            run(i)

    work = prod(shape) * _SCORE if xp is np and shape[2] * shape[3] >= _LONG else 0
    split(some, len(parts), work, 1)


def pieces(xp: Any, rows: int, step: int) -> list[tuple[int, int]]:
    """Where the rows of a matrix of scores are cut."""
    if xp is not np:
        return [(0, rows)]
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


def future(xp: Any, rows: int, columns: int, start: int = 0) -> Any:
    """True where row `start + i` may not see column j, because j comes later."""
    return xp.arange(columns) > xp.arange(start, start + rows)[:, None]


def softmax_(xp: Any, s: Any, seen: Any = None) -> Any:
    """Scores turned into weights, in place; where `seen` is given and 0 there is no weight."""
    if not s.size:
        return s
    if xp is np and float(s.max()) < TAME and float(s.min()) > -TAME:
        xp.exp(s, out=s)
    else:
        if seen is not None:
            s[xp.broadcast_to(seen == 0, s.shape)] = -xp.inf
        top = s.max(-1, keepdims=True)
        top[top == -xp.inf] = 0
        s -= top
        xp.exp(s, out=s)
        seen = None
    if seen is not None:
        s *= seen
    total = xp.matmul(s, xp.ones((s.shape[-1], 1), s.dtype))
    total[total == 0] = 1
    s /= total
    return s


def attend(
    xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, keep: bool
) -> Any:
    """The result in the memory order of `query`, and the weights (no element of them without `keep`)."""
    if xp is np and (made := fast.attend(query, key, value, mask, causal, scale, keep)) is not None:
        return made
    shape = (*query.shape[:3], key.shape[2])
    rows, columns = shape[2:]
    out, dtype = xp.empty_like(query), query.dtype
    cut = pieces(xp, rows, ROWS // 2 if causal else ROWS)
    weights = (xp.zeros if causal and len(cut) > 1 else xp.empty)(shape if keep else (0,), dtype)
    parts: list = [(a, e, columns, None) for a, e in cut]
    if causal:
        ends = [min(e, columns) for _, e in cut]
        parts = [
            (a, e, last, (~future(xp, e - a, last, a)).astype(dtype))
            for (a, e), last in zip(cut, ends, strict=True)
        ]
    scale = dtype.type(scale)
    if mask is not None:
        mask = xp.broadcast_to(mask, shape)

    def some(i: Index) -> None:
        q, k, v, result = query[i] * scale, key[i].swapaxes(-1, -2), value[i], out[i]
        for a, e, last, seen in parts:
            s = xp.matmul(q[..., a:e, :], k[..., :last])
            if mask is not None:
                s += mask[i][..., a:e, :last]
            softmax_(xp, s, seen)
            result[..., a:e, :] = xp.matmul(s, v[..., :last, :])
            if keep:
                weights[i][..., a:e, :last] = s

    _each(xp, shape, some)
    return out, weights


def gradients(
    xp: Any, g: Any, query: Any, key: Any, value: Any, out: Any, weights: Any, causal: bool, scale: float
) -> tuple[Any, Any, Any]:
    """The gradients of query, key and value."""
    if xp is np and (made := fast.gradients(g, query, key, value, weights, causal, scale)) is not None:
        return made
    rows, columns = weights.shape[2:]
    dq, dk, dv = xp.empty_like(query), xp.zeros_like(key), xp.zeros_like(value)
    scale = query.dtype.type(scale)
    cut, ones = pieces(xp, rows, ROWS // 4 if causal else ROWS), xp.ones((query.shape[-1], 1), query.dtype)

    def some(i: Index) -> None:
        q, gi, w = query[i] * scale, g[i], weights[i]
        k, v, into_k, into_v = key[i], value[i].swapaxes(-1, -2), dk[i], dv[i]
        mean = xp.matmul(gi * out[i], ones)
        for a, e in cut:
            last = min(e, columns) if causal else columns
            p, gp = w[..., a:e, :last], gi[..., a:e, :]
            into_v[..., :last, :] += xp.matmul(p.swapaxes(-1, -2), gp)
            d = xp.matmul(gp, v[..., :last])
            d -= mean[..., a:e, :]
            d *= p
            into_k[..., :last, :] += xp.matmul(d.swapaxes(-1, -2), q[..., a:e, :])
            d *= scale
            dq[i][..., a:e, :] = xp.matmul(d, k[..., :last, :])

    _each(xp, weights.shape, some)
    return dq, dk, dv


# ---- weights that are dropped at random ----------------------------------------------------------------------------
def noise(xp: Any, shape: tuple, dtype: Any, stream: tuple, stays: float) -> Any:
    """What dropout multiplies weights by, as a device draws it: number `column` of a stream of each row."""
    _, seed, offset = stream
    lines = np.arange(prod(shape[:3]), dtype=np.uint64)
    blocks = range(-(-shape[3] // 4))
    words = [w for block in blocks for w in philox.blocks(seed, offset // 4 + block, lines)]
    units = np.stack(words[: shape[3]], 1).astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    kept = units < np.float32(stays)
    return xp.asarray((kept / stays).astype(dtype)).reshape(shape)


def dropped(
    xp: Any,
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    causal: bool,
    scale: float,
    keep: bool,
    left: Any,
) -> tuple:
    """`attend` with weights multiplied by `left`: the result, and the weights before (no element without `keep`)."""
    mask = mask if mask.shape != (0,) else None
    _, weights = attend(xp, query, key, value, mask, causal, scale, True)
    return xp.matmul(weights * left, value), weights if keep else weights[:0]


def dropped_gradients(
    xp: Any, g: Any, query: Any, key: Any, value: Any, weights: Any, scale: float, left: Any
) -> tuple:
    """The gradients of query, key and value of `dropped`."""
    back = xp.matmul(g, value.swapaxes(-1, -2)) * left
    scores = weights * (back - (back * weights).sum(-1, keepdims=True)) * query.dtype.type(scale)
    of_value = xp.matmul((weights * left).swapaxes(-1, -2), g)
    return xp.matmul(scores, key), xp.matmul(scores.swapaxes(-1, -2), query), of_value
