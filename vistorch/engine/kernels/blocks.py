"""How the special functions are evaluated: in blocks that fit the cache, piece by piece, by Horner's rule.

Invariant: nothing here writes to its input.
"""

import numpy

from .fast.spread import blocks

# Long enough to hide the cost of a call, short enough for a dozen temporaries in the second-level cache.
_BLOCK = 1 << 13


def blocked(xp, function, x, dtype="float64"):
    """Return function(xp, block) over all blocks of x, evaluated in `dtype`, in the shape and dtype of x."""
    flat = x.reshape(-1)
    # Only a processor has a cache to fit; an accelerator wants the whole array at once.
    step = _BLOCK if xp is numpy else max(flat.size, 1)
    out = xp.empty(flat.size, dtype=x.dtype)

    def piece(start, stop):
        out[start:stop] = function(xp, flat[start:stop].astype(dtype, copy=False))

    if xp is numpy:
        blocks(piece, flat.size, step, 8 * flat.size, joined=True)  # a special function takes long
    else:
        piece(0, flat.size)
    return out.reshape(x.shape)


def piecewise(xp, x, pieces, default=float("nan")):
    """Return function(x[mask]) at each mask of the (mask, function) pieces, and default elsewhere."""
    out = xp.full_like(x, default)
    for mask, function in pieces:
        part = x[mask]
        if part.size:
            out[mask] = function(part)
    return out


def horner(coefficients, x):
    """Return the polynomial whose coefficients are given from the constant term up."""
    out = x * coefficients[-1]
    for c in coefficients[-2:0:-1]:
        out += c
        out *= x
    out += coefficients[0]
    return out


def ratio(pair, x):
    """Return the quotient of two polynomials."""
    out = horner(pair[0], x)
    out /= horner(pair[1], x)
    return out
