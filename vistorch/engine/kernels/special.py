"""Every special function under one roof, and the short ones themselves: sinc and log1pexp.

Invariant: a function f(xp, x) here takes float32 or float64 and returns an array of the shape and dtype of x.
"""

import math

from vistorch.engine.kernels.bessel import i0, i0e, i1, i1e
from vistorch.engine.kernels.erf import erf, erfc, erfcx, erfinv, log_ndtr, ndtr, ndtri
from vistorch.engine.kernels.gamma import digamma, lgamma, polygamma

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "lgamma",
    "log1pexp",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "polygamma",
    "sinc",
]


def sinc(xp, x):
    """Return sin(pi x) / (pi x), 1 at 0."""
    turned = x * math.pi
    return xp.asarray(xp.where(x == 0, x.dtype.type(1), xp.sin(turned) / turned))


def log1pexp(xp, x):
    """Return log(1 + exp(x)), which is softplus, without overflow."""
    return xp.asarray(xp.logaddexp(x, x.dtype.type(0)))
