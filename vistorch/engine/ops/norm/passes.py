"""The walks over memory that every normalisation is made of, on a matrix: moments, sums, scale and shift.

What depends on more than one pass over the same numbers is done block by block, so that the second pass finds them in
the cache. A coefficient has the shape (rows, 1), (1, columns) or (rows, columns).
Where a mean is near, next to the deviation, it is taken off a sum rather than off every element: see `near`.
Invariant: half types are read and written, never computed in; sums of blocks are added in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...kernels import totals
from ...kernels.fast import spread

_BYTES = 1 << 18  # of one block: several of them fit the second-level cache
SHORT = 40  # rows below this length are not worth numpy's loop over each
F4, F8 = np.dtype("f4"), np.dtype("f8")


def wide(dtype: Any) -> Any:
    """The type that a normalisation of `dtype` computes in."""
    return F8 if dtype == F8 else F4


def contiguous(xp: Any, x: Any, rows: int, columns: int) -> Any:
    """The elements as a matrix."""
    return xp.ascontiguousarray(x).reshape(rows, columns)


def blocks(xp: Any, x: Any) -> Iterator[slice]:
    """Slices of rows, each about as large as the cache likes; all rows at once on a device."""
    rows, columns = x.shape
    step = max(_BYTES // max(columns * 4, 1), 1) if xp is np else max(rows, 1)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def scratch(xp: Any, x: Any, dtype: Any) -> Any:
    """Memory for what is computed on the way in a block of x: fresh memory for each block would cost more."""
    rows, columns = x.shape
    return xp.empty((min(rows, max(_BYTES // max(columns * 4, 1), 1)) if xp is np else rows, columns), dtype)


def each(xp: Any, x: Any, run: Any, elementwise: bool = False) -> None:
    """`run(slice of rows)` for each block of x; blocks of large arrays are shared out among threads.

    Not where OpenMP's threads are awake: they wait in a loop, and Python's would have to take turns with them. Then
    elementwise arithmetic is done on all of x at once.
    """
    if xp is not np or spread.awake(x):
        for at in (slice(0, len(x)),) if elementwise else blocks(xp, x):
            run(at)
        return
    rows, columns = x.shape
    step = max(_BYTES // max(columns * 4, 1), 1)
    spread.blocks(lambda start, stop: run(slice(start, stop)), rows, step, 4 * x.size)


def part(c: Any, block: slice) -> Any:
    """The rows of a coefficient that belong to a block."""
    return c[block] if c.shape[0] != 1 else c


_vecdot: Any = getattr(np, "vecdot", None) or (lambda a, b: np.einsum("ij,ij->i", a, b))


def dots(xp: Any, a: Any, b: Any) -> Any:
    """The sum of products along each row."""
    if xp is not np:
        return (a * b).sum(1)
    return _vecdot(a, b)


class Outer:
    """Sums of outer products a[:, None] * b with the same b again and again, one or two at a time.

    On the processor this is one product of two thin matrices: numpy's broadcasting starts its loop anew for each row.
    """

    __slots__ = ("left", "right", "xp")

    def __init__(self, xp: Any, rows: int, *b: Any) -> None:
        self.xp = xp
        # two of each, for a single column would not be given to the matrix product
        self.left, self.right = xp.zeros((rows, 2), b[0].dtype), xp.zeros((2, len(b[0])), b[0].dtype)
        for row, part in enumerate(b):
            self.right[row] = part

    def __call__(self, out: Any, *a: Any) -> Any:
        """Write the sum into the first rows of `out`, and return those."""
        rows = a[0].shape[0]
        out, left = out[:rows], self.left[:rows]
        for column, part in enumerate(a):
            left[:, column] = part
        return self.xp.matmul(left, self.right, out=out)


def near(xp: Any, mean: Any, variance: Any) -> bool:
    """Whether all means are so near zero that taking them off sums costs no more than a few roundings.

    A device is not asked: waiting for its answer costs more than what it saves.
    """
    return xp is np and bool((mean * mean <= 4 * variance).all())


def moments(xp: Any, x: Any) -> tuple:
    """The mean of each row, and the sum of squares around it."""
    rows, columns = x.shape
    dtype = wide(x.dtype)
    mean, square = xp.empty(rows, F8), xp.empty(rows, F8)

    def block(at: slice) -> None:
        b = x[at].astype(dtype, copy=False)
        m = totals.total(xp, b, (1,)).astype(F8) / columns
        s = dots(xp, b, b) - columns * m * m
        if not near(xp, m, s / columns):
            away = b - m.astype(dtype)[:, None]
            s = dots(xp, away, away)
        mean[at], square[at] = m, s

    each(xp, x, block)
    return mean, square


def column_moments(xp: Any, x: Any) -> tuple:
    """The mean of each column, and the sum of squares around it."""
    x = x.astype(wide(x.dtype), copy=False)
    mean = totals.total(xp, x, (0,)) / x.dtype.type(x.shape[0])
    away = x - mean
    return mean.astype(F8), totals.squares(xp, away, (0,)).astype(F8)


def pooled(mean: Any, square: Any, each: int, axis: int) -> tuple:
    """The moments of groups of the same size, joined along an axis: (mean, mean square around it)."""
    count = mean.shape[axis]
    if count == 1:
        return mean.squeeze(axis), square.squeeze(axis) / max(each, 1)
    middle = mean.sum(axis, keepdims=True) / max(count, 1)
    apart = mean - middle
    total = square.sum(axis) + each * (apart * apart).sum(axis)
    return middle.squeeze(axis), total / max(each * count, 1)


def scaled(xp: Any, x: Any, scale: Any, shift: Any, shape: tuple) -> Any:
    """`x * scale + shift`, in the type of x and of a given shape."""
    dtype = wide(x.dtype)
    made = xp.empty(shape, x.dtype)  # no view: who holds it alone may keep it
    out = made.reshape(x.shape)

    def block(at: slice) -> None:
        if dtype == x.dtype:
            o = spread.apply(xp.multiply, x[at], part(scale, at), out[at])
            spread.apply(xp.add, o, part(shift, at), o)
            return
        o = x[at].astype(dtype) * part(scale, at)
        o += part(shift, at)
        out[at] = o

    each(xp, x, block, True)
    return made


def sums(xp: Any, g: Any, x: Any, mean: Any, close: bool) -> tuple:
    """For each row: the sum of g, and of g times x around its mean (rows, 1); `close`: that the means are `near`."""
    rows = x.shape[0]
    plain, along = xp.empty(rows, F8), xp.empty(rows, F8)

    def block(at: slice) -> None:
        b = g[at]
        plain[at] = totals.total(xp, b, (1,))
        along[at] = dots(xp, b, x[at] if close else x[at] - mean[at])

    each(xp, x, block)
    if close:
        along -= mean[:, 0] * plain
    return plain, along


def column_sums(xp: Any, g: Any, x: Any, mean: Any) -> tuple:
    """For each column: the sum of g, and of g times x around its mean (1, columns)."""
    plain = totals.total(xp, g, (0,))
    return plain.astype(F8), totals.total(xp, g * (x - mean), (0,)).astype(F8)


def combined(
    xp: Any, g: Any, x: Any, mean: Any, of_g: Any, of_x: Any, shift: Any, close: bool, shape: tuple
) -> Any:
    """`g * of_g + (x - mean) * of_x + shift`, of a given shape; `close`: that the means are `near`."""
    made = xp.empty(shape, g.dtype)
    out = made.reshape(g.shape)
    if close:
        shift = shift - mean * of_x

    def block(at: slice) -> None:
        o = out[at]
        if close:
            spread.apply(xp.multiply, x[at], part(of_x, at), o)
        else:
            spread.apply(xp.subtract, x[at], part(mean, at), o)
            spread.apply(xp.multiply, o, part(of_x, at), o)
        spread.apply(xp.add, o, part(shift, at), o)
        other = spread.apply(xp.multiply, g[at], part(of_g, at), xp.empty_like(o))
        spread.apply(xp.add, o, other, o)

    each(xp, g, block, True)
    return made
