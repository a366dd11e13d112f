"""Where a grid points to: from coordinates in [-1, 1] to elements and their weights.

A point is given in as many coordinates as the input has spatial dims, the fastest dim first. Invariant: the rows here
are differentiated with respect to the grid only; which elements are read is piecewise constant and has no gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.op_factory import op

# PyTorch's numbers for them
BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)

# which elements are read, counted from the one at the floor
_TAPS = {BILINEAR: (0, 1), NEAREST: (0,), BICUBIC: (-1, 0, 1, 2)}
_A = -0.75
# one row per tap: the coefficients of its weight in the distance from the tap at the floor, the constant term first
_POLYNOMIALS = {
    BILINEAR: np.array([[1.0, -1.0], [0.0, 1.0]]),
    NEAREST: np.array([[1.0]]),
    BICUBIC: np.array(
        [
            [0, _A, -2 * _A, _A],
            [1, 0, -(_A + 3), _A + 2],
            [0, -_A, 2 * _A + 3, -(_A + 2)],
            [0, 0, _A, -_A],
        ]
    ),
}


def taps(mode: int) -> int:
    """How many elements are read along each dim."""
    return len(_TAPS[mode])


def _ends(xp: Any, sizes: tuple, align: bool, dtype: Any) -> tuple[Any, Any]:
    """Between which points a reflected coordinate stays."""
    n = xp.asarray(np.array(sizes, np.float64).astype(dtype))
    return (n * 0, n - 1) if align else (n * 0 - dtype.type(0.5), n - dtype.type(0.5))


def _reflected(xp: Any, x: Any, sizes: tuple, align: bool) -> tuple[Any, Any]:
    """Coordinates reflected at the ends as often as it takes, and the sign of their slope."""
    low, high = _ends(xp, sizes, align, x.dtype)
    span = high - low
    point = span == 0
    span = xp.where(point, x.dtype.type(1), span)
    away = x - low
    sign = xp.where(away < 0, x.dtype.type(-1), x.dtype.type(1))
    away = xp.abs(away)
    turns = xp.floor(away / span)
    rest = away - turns * span
    odd = turns % 2 == 1
    out = xp.where(odd, span - rest, rest) + low
    return xp.where(point, x.dtype.type(0), out), xp.where(point, 0, xp.where(odd, -sign, sign))


def _at(xp: Any, grid: Any, sizes: tuple, align: bool) -> Any:
    """Coordinates counted in elements, those along one dim in one piece."""
    found = []
    for d, size in enumerate(sizes):
        n, x = grid.dtype.type(size), grid[..., d] + grid.dtype.type(1)
        if align:
            x /= grid.dtype.type(2)
            x *= n - grid.dtype.type(1)
        else:
            x *= n
            x -= grid.dtype.type(1)
            x /= grid.dtype.type(2)
        found.append(x)
    return _joined(xp, found)


def _place(xp, grid, sizes, mode, padding, align):
    x = _at(xp, grid, sizes, align)
    if mode == BICUBIC or padding == ZEROS:
        return x
    if padding == REFLECTION:
        x, _ = _reflected(xp, x, sizes, align)
    last = _last(xp, x, sizes)
    if (
        len(sizes) == 3
    ):  # what is no number is the last element in three dims and the first in two, in PyTorch too
        return xp.maximum(xp.fmin(x, last), x.dtype.type(0))
    return xp.minimum(xp.fmax(x, x.dtype.type(0)), last)


def _last(xp: Any, x: Any, sizes: tuple) -> Any:
    return xp.asarray(np.array(sizes, np.float64).astype(x.dtype)) - 1


def _slope(xp, grid, sizes, mode, padding, align):
    scale = xp.asarray(np.array([n - 1 if align else n for n in sizes], np.float64).astype(grid.dtype)) / 2
    x = _at(xp, grid, sizes, align)
    out = xp.broadcast_to(scale, x.shape)
    if mode == BICUBIC or padding == ZEROS:
        return xp.array(out)
    if padding == REFLECTION:
        x, sign = _reflected(xp, x, sizes, align)
        out = out * sign
    # PyTorch takes the ends themselves for outside
    return xp.where((x > 0) & (x < _last(xp, x, sizes)), out, 0).astype(grid.dtype)


def _index(xp, at, sizes, mode, padding, align, into=None):
    total, stride = 1, 1
    for n in sizes:
        total *= n
    found: list = []  # for each tap: the number of its element, or one from `total` on where it is outside
    first = xp.rint(at) if mode == NEAREST else xp.floor(at)
    if first.dtype.itemsize < 4:
        first = first.astype(np.float32)  # the largest half may be inside
    moved = mode == BICUBIC and padding != ZEROS
    for d, n in enumerate(sizes):
        taps = []
        x = first[..., d]
        if moved:
            # what is no number, or too far away to count, is like a place just before the input
            x = xp.where(xp.abs(at[..., d]) < 2**31, x, x.dtype.type(-100))
        else:
            # no tap of what is no number, or too far away to count, is inside
            x = xp.fmin(xp.fmax(x, x.dtype.type(-3)), x.dtype.type(2 * n + 1)).astype(np.int64)
        for tap in _TAPS[mode]:
            i = x + (x.dtype.type(tap) if moved else tap)
            if moved:
                if padding == REFLECTION:
                    i = _reflected(xp, i[..., None], (n,), align)[0][..., 0]
                i = xp.clip(i, 0, n - 1).astype(np.int64)
            away = i.view(np.uint64) >= np.uint64(n)  # also those below 0
            i *= stride
            if xp is np:
                np.copyto(i, total, where=away)
            else:
                i = xp.where(away, total, i)
            taps.append(i)
        found = [i + flat for i in taps for flat in found] if found else taps
        stride *= n
    if into is None:
        into = xp.empty((len(found), *at.shape[:-1]), np.int64)
    for one, flat in zip(into, found, strict=True):
        xp.minimum(flat, total, out=one)
    return xp.moveaxis(into, 0, -1)


def _joined(xp: Any, taps: list) -> Any:
    """Arrays as the last dim of one, each of them in one piece."""
    return xp.moveaxis(xp.stack(taps), 0, -1)


def _weights(xp, at, mode, orders):
    t = at - xp.floor(at)
    if mode == NEAREST or len(orders) == 3:  # in two dims PyTorch's weights of what is no number are none
        t = xp.where(xp.isfinite(t), t, t.dtype.type(0))
    found: list = []
    for d, order in enumerate(orders):
        table = _POLYNOMIALS[mode]
        for _ in range(order):
            table = table[:, 1:] * np.arange(1, table.shape[1])
        x, taps = xp.ascontiguousarray(t[..., d]), []
        for tap in table.astype(x.dtype):
            if len(tap) < 2:
                value = xp.zeros_like(x) * x + tap.sum()  # what is no number stays none
            else:
                value = x * tap[-1] + tap[-2]
                for c in tap[-3::-1]:
                    value *= x
                    value += c
            taps.append(value)
        found = [one * other for one in taps for other in found] if found else taps
    return _joined(xp, found)


def raised(orders: tuple, d: int) -> tuple:
    """One more derivative along dim d."""
    return (*orders[:d], orders[d] + 1, *orders[d + 1 :])


def _of_place(F: Any, g: Any, at: Any, mode: int, orders: tuple) -> Any:
    out = None
    for d in range(len(orders)):
        one = F.sum_to(g * F.grid_weights(at, mode, raised(orders, d)), (*at.shape[:-1], 1))
        one = F.slice_backward(one, tuple(at.shape), at.ndim - 1, d, d + 1, 1)
        out = one if out is None else out + one
    return out


place = op(
    "grid_place",
    _place,
    name_in_graph="GridPlaceBackward0",
    formula=r"\bar x = \bar y \odot y'(x)",
    grid=lambda F, g, grid, sizes, mode, padding, align: g * F.grid_slope(grid, sizes, mode, padding, align),
)
op("grid_slope", _slope)
weights = op(
    "grid_weights",
    _weights,
    name_in_graph="GridWeightsBackward0",
    formula=r"\bar x_d = \sum_k \bar y_k\, \partial_d w_k(x)",
    at=_of_place,
)
