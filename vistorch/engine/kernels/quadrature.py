"""Integrals of positive functions that fall off: where they end, and Gauss and Legendre's rule up to there.

Used for the incomplete gamma and beta functions and their derivatives with respect to the shape: as integrals these
are sums of terms of one sign, so that nothing cancels. Invariant: float64 throughout, flat arrays in and out.
"""

import functools

import numpy

# exp(-DEPTH) is below the rounding of a double: what lies beyond adds nothing.
DEPTH = 38.0
NODES = 48
# Arrays of (elements, nodes) or (elements, terms) of this many elements fit the second-level cache.
BLOCK = 512


@functools.cache
def legendre():
    """The nodes and weights of the rule on [0, 1]."""
    points, weights = numpy.polynomial.legendre.leggauss(NODES)
    return (points + 1) / 2, weights / 2


def end_of(function, start, steps=8):
    """A point where a concave, falling `function` (value, slope) is at most -DEPTH, and not much beyond it.

    Newton's steps from such a point stay on its side of the root, so that every one of them is safe.
    """
    end = start
    for _ in range(steps):
        value, slope = function(end)
        end = end - (value + DEPTH) / slope
    return end


def integrals(xp, exponent, factor, end):
    """The integrals from 0 to `end` of exp(exponent(v)) and of exp(exponent(v)) * factor(v).

    Args:
        xp: the array library.
        exponent: function of an array (elements, nodes).
        factor: another.
        end: an array (elements,).
    """
    points, weights = (xp.asarray(part) for part in legendre())
    v = end[:, None] * points
    mass = xp.exp(exponent(v)) * weights
    return mass.sum(1) * end, (mass * factor(v)).sum(1) * end


def in_blocks(xp, function, *arrays):
    """Run function(xp, *blocks) over flat blocks of arrays that broadcast, in float64."""
    shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
    kind = arrays[0].dtype
    flat = [xp.broadcast_to(a, shape).astype("float64").reshape(-1) for a in arrays]
    size = flat[0].size
    step = BLOCK if xp is numpy else max(size, 1)
    out = xp.empty(size, dtype=kind)
    for start in range(0, size, step):
        out[start : start + step] = function(xp, *(a[start : start + step] for a in flat))
    return out.reshape(shape)


def chosen(xp, arrays, pieces):
    """Return function(*parts) at each mask of the (mask, function) pieces, and nan elsewhere."""
    out = xp.full_like(arrays[0], float("nan"))
    for mask, function in pieces:
        parts = [a[mask] for a in arrays]
        if parts[0].size:
            out[mask] = function(*parts)
    return out
