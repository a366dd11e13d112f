"""The incomplete gamma function and how a gamma number moves with its shape.

With D(t) = t^(a-1) exp(-t) the two are integrals of D and of D * log t, over [0, x] or over [x, inf), whichever side
is the smaller. Near the origin a series takes the place of the integral. Invariant: the parts here are relative to
D(x) * x, which may underflow where they do not.
"""

import math

from vistorch.engine.kernels.gamma import digamma, lgamma
from vistorch.engine.kernels.quadrature import DEPTH, chosen, end_of, in_blocks, integrals

TERMS = 64
# Below, the series is short and loses at most exp(SMALL) of the precision.
SMALL = 8.0
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def _below(xp, a, x):
    """For x <= a and a >= SMALL: the integral over [0, x] by t = x exp(-v), and the mean of v times it."""

    def exponent(v):
        return -a[:, None] * v - x[:, None] * xp.expm1(-v)

    def steep(v):
        return -a * v - x * xp.expm1(-v), -a + x * xp.exp(-v)

    near = xp.sqrt(3 * DEPTH / xp.maximum(x, 1e-300))
    end = end_of(steep, xp.where(near < 1, near, (DEPTH + x) / a))
    return integrals(xp, exponent, lambda v: v, end)


def _above(xp, a, x):
    """For x > a and x >= SMALL: the integral over [x, inf) by t = x + u, over x, and with log(t / x)."""

    def exponent(v):
        return (a[:, None] - 1) * xp.log1p(v / x[:, None]) - v

    def steep(v):
        return (a - 1) * xp.log1p(v / x) - v, (a - 1) / (x + v) - 1

    k = 2 * DEPTH / x
    far = x * (k + xp.sqrt(k * k + 4 * k)) / 2
    end = xp.where(a > 1, end_of(steep, far), DEPTH)
    whole, logs = integrals(xp, exponent, lambda v: xp.log1p(v / x[:, None]), end)
    return whole / x, logs / x


def _series(xp, a, x):
    """For small numbers: the integral over [0, x] term by term, and the sum with digamma(a + n + 1)."""
    steps = a[:, None] + xp.arange(TERMS)
    terms = xp.cumprod(x[:, None] / steps, axis=1)
    grown = digamma(xp, a)[:, None] + xp.cumsum(1 / steps, axis=1)
    return terms.sum(1) / x, (terms * grown).sum(1) / x


def _regions(a, x):
    inside = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
    below = inside & (x <= a) & (a >= SMALL)
    above = inside & (x > a) & (x >= SMALL)
    return below, above, inside & ~below & ~above


def _peak(xp, a, x):
    """x^a exp(-x) / gamma(a)."""
    large = a >= 32
    off = (x - a) / a
    inverse = 1 / xp.where(large, a, 32.0)
    square = inverse * inverse
    rest = xp.zeros_like(a)
    for c in _STIRLING[::-1]:
        rest = rest * square + c
    # What is left when a * log(a) cancels.
    wide = a * (xp.log1p(off) - off) + 0.5 * xp.log(a / (2 * math.pi)) - rest * inverse
    return xp.exp(xp.where(large, wide, a * xp.log(x) - x - lgamma(xp, a)))


def _tails(xp, a, x, upper):
    below, above, small = _regions(a, x)

    def tail(part, is_upper):
        return part if is_upper == upper else 1 - part

    pieces = [
        (below, lambda a, x: tail(_peak(xp, a, x) * _below(xp, a, x)[0], False)),
        (above, lambda a, x: tail(_peak(xp, a, x) * _above(xp, a, x)[0], True)),
        (small, lambda a, x: tail(_peak(xp, a, x) * _series(xp, a, x)[0], False)),
        ((x == 0) & ~(a <= 0), lambda a, x: xp.full_like(a, float(upper))),
        ((a == 0) & (x > 0), lambda a, x: xp.full_like(a, float(not upper))),
        ((a == math.inf) & ~(x < 0) & ~(x == math.inf), lambda a, x: xp.full_like(a, float(upper))),
        ((x == math.inf) & ~(a < 0) & ~(a == math.inf), lambda a, x: xp.full_like(a, float(not upper))),
    ]
    return chosen(xp, (a, x), pieces)


def igamma(xp, input, other):
    """Return the part of gamma(a)'s integral that lies below x."""
    return in_blocks(xp, lambda xp, a, x: _tails(xp, a, x, False), input, other)


def igammac(xp, input, other):
    """Return the part of gamma(a)'s integral that lies above x."""
    return in_blocks(xp, lambda xp, a, x: _tails(xp, a, x, True), input, other)


def _slope(xp, a, x):
    def below(a, x):
        whole, logs = _below(xp, a, x)
        return x * ((digamma(xp, a) - xp.log(x)) * whole + logs)

    def above(a, x):
        whole, logs = _above(xp, a, x)
        return x * ((xp.log(x) - digamma(xp, a)) * whole + logs)

    def small(a, x):
        whole, logs = _series(xp, a, x)
        return x * (logs - xp.log(x) * whole)

    below_at, above_at, small_at = _regions(a, x)
    pieces = [(below_at, below), (above_at, above), (small_at, small), (x == 0, lambda a, x: x)]
    return chosen(xp, (a, x), pieces)


def gamma_slope(xp, a, x):
    """Return how fast a gamma number x of shape a grows with a, its place in the distribution held."""
    return in_blocks(xp, _slope, a, x)
