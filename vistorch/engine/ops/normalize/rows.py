"""Layer and RMS normalisation of the rows of a matrix, with a weight and a bias for each column.

Invariant: a row's mean is zero where it is not `centred`; statistics come as vectors in the type computed in.
"""

from __future__ import annotations

from typing import Any

from .passes import F8, blocks, dots, near, outer, scratch, wide


def normalised(xp: Any, x: Any, weight: Any, bias: Any, eps: float, centred: bool) -> tuple:
    """(out, mean, 1 / deviation); None for a weight or a bias that is not there."""
    rows, columns = x.shape
    dtype = wide(x.dtype)
    n, eps = dtype.type(max(columns, 1)), dtype.type(eps)
    ones = xp.ones(columns, dtype)
    weight = ones if weight is None else weight.astype(dtype, copy=False)
    bias = xp.zeros(columns, dtype) if bias is None else bias.astype(dtype, copy=False)
    out = xp.empty(x.shape, x.dtype)
    mean, inverse = xp.zeros(rows, dtype), xp.empty(rows, dtype)
    aside = scratch(xp, x, dtype)
    for at in blocks(xp, x):
        b = x[at].astype(dtype, copy=False)
        square = dots(xp, b, b) / n
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
        o = xp.multiply(b, outer(xp, aside, r, weight), out=out[at] if dtype == x.dtype else None)
        if centred:
            o += outer(xp, aside, -m * r, weight, xp.ones_like(r), bias)
        if dtype != x.dtype:
            out[at] = o
    return out, mean, inverse


def gradients(
    xp: Any, g: Any, x: Any, weight: Any, mean: Any, inverse: Any, centred: bool, wants: tuple
) -> tuple:
    """The gradients of x, weight and bias; `wants`: which of them."""
    _rows, columns = x.shape
    dtype = g.dtype
    want_x, want_w, want_b = wants
    n = dtype.type(max(columns, 1))
    out = xp.empty(x.shape, dtype) if want_x else None
    of_w, of_b = xp.zeros(columns, F8), xp.zeros(columns, F8)
    ones = xp.ones(columns, dtype)
    weight = ones if weight is None else weight.astype(dtype, copy=False)
    aside = scratch(xp, x, dtype)
    for at in blocks(xp, x):
        b, gb, r, m = x[at], g[at], inverse[at], mean[at]
        if centred and not near(xp, m, 1 / (r * r)):
            b = b - m[:, None]
            m = xp.zeros_like(m)
        if want_w:
            of_w += r @ xp.multiply(gb, b, out=aside[: b.shape[0]])
        if want_b or (want_w and centred):
            total, along = xp.stack((xp.ones_like(r), r * m)) @ gb
            of_b += total
            of_w -= along
        if out is None:
            continue
        o = xp.multiply(gb, outer(xp, aside, r, weight), out=out[at])
        along, plain = dots(xp, o, b), None
        if centred:
            plain = o @ ones
            along -= m * plain
        k = r * r * along / -n
        p = outer(xp, aside, k, ones)
        p *= b
        o += p
        if plain is not None:
            o += outer(xp, aside, plain / -n - m * k, ones)
    return out, of_w.astype(dtype) if want_w else None, of_b.astype(dtype) if want_b else None
