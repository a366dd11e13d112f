"""Layer and RMS normalisation of the rows of a matrix, with a weight and a bias for each column.

Invariant: a row's mean is zero where it is not `centred`; statistics come as vectors in the type computed in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .passes import F8, Outer, blocks, dots, near, scratch, wide

_SMALL = 1 << 12  # elements, below which the calls cost more than the passes


def _few(x, weight, bias, n, eps, out, mean, inverse):
    """Write what `normalised` gives, in as few calls as it takes."""
    np.add.reduce(x, 1, None, mean)
    mean /= n
    np.subtract(x, mean[:, None], out=out)
    variance = dots(np, out, out)
    variance /= n
    if not near(np, mean, variance):
        rest = np.add.reduce(out, 1)  # what the rounding of the mean left
        rest /= n
        out -= rest[:, None]
        mean += rest
        variance = dots(np, out, out)
        variance /= n
    variance += eps
    np.divide(1, np.sqrt(variance, out=variance), out=inverse)
    out *= inverse[:, None]
    out *= weight
    out += bias


def normalised(xp: Any, x: Any, weight: Any, bias: Any, eps: float, centred: bool, shape: tuple) -> tuple:
    """(out, mean, 1 / deviation); None for a weight or a bias that is not there."""
    rows, columns = x.shape
    dtype = wide(x.dtype)
    n, eps = dtype.type(max(columns, 1)), dtype.type(eps)
    ones = xp.ones(columns, dtype)
    weight = ones if weight is None else weight.astype(dtype, copy=False)
    bias = xp.zeros(columns, dtype) if bias is None else bias.astype(dtype, copy=False)
    made = xp.empty(shape, x.dtype)  # no view: who holds it alone may keep it
    out = made.reshape(x.shape)
    mean, inverse = xp.zeros(rows, dtype), xp.empty(rows, dtype)
    if 0 < x.size <= _SMALL and centred and dtype == x.dtype and xp is np:
        _few(x, weight, bias, n, eps, out, mean, inverse)
        return made, mean, inverse
    aside = scratch(xp, x, dtype)
    scale, shift = Outer(xp, len(aside), weight), Outer(xp, len(aside), weight, bias)
    for at in blocks(xp, x):
        b = x[at].astype(dtype, copy=False)
        square, m = dots(xp, b, b) / n, None
        if centred:
            mean[at] = m = b @ ones / n
            variance = square - m * m
            if not near(xp, m, variance):
                b = b - m[:, None]
                # what the rounding of the mean left
                rest = b @ ones / n
                square = dots(xp, b, b) / n
                mean[at] += rest
                m, variance = rest, square - rest * rest
            square = variance
        inverse[at] = r = 1 / xp.sqrt(square + eps)
        o = xp.multiply(b, scale(aside, r), out=out[at] if dtype == x.dtype else None)
        if m is not None:
            o += shift(aside, -m * r, 1)
        if dtype != x.dtype:
            out[at] = o
    return made, mean, inverse


def gradients(
    xp: Any, g: Any, x: Any, weight: Any, mean: Any, inverse: Any, centred: bool, wants: tuple, shape: tuple
) -> tuple:
    """The gradients of x (of a given shape), weight and bias; `wants`: which of them."""
    _rows, columns = x.shape
    dtype = g.dtype
    want_x, want_w, want_b = wants
    n = dtype.type(max(columns, 1))
    made = xp.empty(shape, dtype) if want_x else None
    out = None if made is None else made.reshape(x.shape)
    of_w, of_b = xp.zeros(columns, F8), xp.zeros(columns, F8)
    ones = xp.ones(columns, dtype)
    weight = ones if weight is None else weight.astype(dtype, copy=False)
    aside = scratch(xp, x, dtype)
    scaled, spread = Outer(xp, len(aside), weight), Outer(xp, len(aside), ones)
    both = xp.ones((2, len(aside)), dtype)
    for at in blocks(xp, x):
        b, gb, r, m = x[at], g[at], inverse[at], mean[at]
        if centred and not near(xp, m, 1 / (r * r)):
            b = b - m[:, None]
            m = xp.zeros_like(m)
        if want_w:
            of_w += r @ xp.multiply(gb, b, out=aside[: b.shape[0]])
        if want_b or (want_w and centred):
            pair = both[:, : len(r)]
            pair[1] = r * m
            total, along = pair @ gb
            of_b += total
            of_w -= along
        if out is None:
            continue
        o = xp.multiply(gb, scaled(aside, r), out=out[at])
        along, plain = dots(xp, o, b), None
        if centred:
            plain = o @ ones
            along -= m * plain
        k = r * r * along / -n
        p = spread(aside, k)
        p *= b
        o += p
        if plain is not None:
            o += spread(aside, plain / -n - m * k)
    return made, of_w.astype(dtype) if want_w else None, of_b.astype(dtype) if want_b else None
