"""Running sums of many rows, running extrema and running log-sum-exp along one axis.

Invariant: every scan returns an array of the input's shape, and position i depends on positions 0..i only.
"""

from itertools import pairwise

import numpy as np

from . import threads

_PASS = 1 << 15  # elements that are widened, run over and narrowed before the next
_MANY = 192  # rows from which one call for each column is less than one addition after the other
_ROWS = 1000  # at a time; no power of two, for columns would then lie on top of each other in the cache
_COLUMNS, _SHARED = 64, 1024  # at a time on one thread: they stay in the cache; on several
_ELEMENT = 0.6  # nanoseconds of a copy that turns rows into columns


def along_rows(ufunc, x, wide):
    """`ufunc.accumulate` along the last axis in a wider type, rounded to that of `x` in the end.

    In `accumulate` each addition waits for the one before, and for the memory it went through. So many rows are turned,
    some columns at a time, and a column of all of them is added to the one before: the same additions in one order.
    """
    out = np.empty(x.shape, x.dtype)
    rows, made = x.reshape(-1, x.shape[-1]), out.reshape(-1, x.shape[-1])
    if len(rows) < _MANY:
        step = max(_PASS // x.shape[-1], 1)
        for start in range(0, len(rows), step):
            part = rows[start : start + step].astype(wide)
            made[start : start + step] = ufunc.accumulate(part, 1, out=part)
        return out
    for start in range(0, len(rows), _ROWS):
        _turned(ufunc, rows[start : start + _ROWS], made[start : start + _ROWS], wide)
    return out


def _turned(ufunc, x, out, wide):
    """The running values of the rows of a dense matrix, some columns at a time."""
    count, n = x.shape
    shared = threads.share(x.size * _ELEMENT / 4) > 1
    width = min(n, _SHARED if shared else _COLUMNS)
    columns = np.empty((width + 1, count), wide)  # the first is the last one of those before
    each = list(columns)
    # rows that are whole pages apart lie on top of each other in the cache: the columns are brought together first
    near = np.empty((count, width + 1 - width % 2), x.dtype) if x.strides[0] % 1024 == 0 else None
    for start in range(0, n, width):
        here = slice(start, min(start + width, n))
        used = here.stop - start
        part = columns[1 : used + 1]
        _copy_turned(part, x[:, here], near)
        for before, now in pairwise(each[0 if start else 1 : used + 1]):
            ufunc(before, now, now)
        _copy_turned_back(out[:, here], part, near)
        columns[0] = columns[used]


def _copy_turned(columns, x, near):
    """`columns[...] = x.T`."""
    if near is not None:
        near = near[:, : x.shape[1]]

    def some(start, stop):
        part = x[:, start:stop]
        if near is not None:
            near[:, start:stop] = part
            part = near[:, start:stop]
        columns[start:stop] = part.T

    threads.split(some, len(columns), x.size * _ELEMENT, 16)


def _copy_turned_back(x, columns, near):
    """`x[...] = columns.T`."""

    def some(start, stop):
        part = columns[start:stop].T
        if near is not None:
            near[:, start:stop] = part
            part = near[:, start:stop]
        x[:, start:stop] = part

    threads.split(some, len(columns), x.size * _ELEMENT, 16)


def running(xp, operation, x, axis=-1):
    """Return the running value of an associative two-argument array function along `axis`."""
    accumulate = getattr(operation, "accumulate", None)
    if accumulate is not None:
        try:
            return accumulate(x, axis=axis)
        except (NotImplementedError, TypeError):
            pass  # cupy has the method on every ufunc but carries out only sums and products
    out = xp.moveaxis(x, axis, -1).copy()
    reach = 1
    while reach < out.shape[-1]:
        # Doubling: after each round a position covers twice as many of its predecessors.
        out[..., reach:] = operation(out[..., :-reach].copy(), out[..., reach:])
        reach *= 2
    return xp.moveaxis(out, -1, axis)


def _running_extreme(xp, operation, x, axis):
    if x.ndim == 0:
        return x.copy(), xp.zeros((), dtype=xp.int64)
    if x.size == 0:
        return x.copy(), xp.zeros(x.shape, dtype=xp.int64)
    x = xp.moveaxis(x, axis, -1)
    best = running(xp, operation, x)
    # A tie moves the index on to the latest occurrence, and so does every further nan.
    record = x == best
    if x.dtype.kind == "f":
        record |= xp.isnan(x)
    places = xp.where(record, xp.arange(x.shape[-1], dtype=xp.int64), 0)
    indices = running(xp, xp.maximum, places)
    values = best
    if x.dtype.kind == "f":
        # Gathered, not `best`: 0. and -0. tie, and the value has to be the one the index names.
        values = xp.take_along_axis(x, indices, axis=-1)
    return xp.moveaxis(values, -1, axis), xp.moveaxis(indices, -1, axis)


def cummax(xp, x, axis):
    """Return the running maximum and the index of its latest occurrence; a nan stays to the end."""
    return _running_extreme(xp, xp.maximum, x, axis)


def cummin(xp, x, axis):
    """Return the running minimum and the index of its latest occurrence; a nan stays to the end."""
    return _running_extreme(xp, xp.minimum, x, axis)


def logcumsumexp(xp, x, axis):
    """Return log(cumsum(exp(x))) without leaving the range of the dtype; x is real."""
    if x.ndim == 0 or x.size == 0:
        return x.copy()
    return running(xp, xp.logaddexp, x, axis)
