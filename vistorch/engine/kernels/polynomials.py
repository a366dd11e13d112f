"""Orthogonal polynomials of a real x and a degree that may differ from element to element, by their recurrences.

Invariant: computed in float64; a degree is cut to a whole number, and below 0 the value is 0.
"""

import functools

import numpy as np


def _degrees(xp, n):
    """Whole numbers, -1 where there is none."""
    return xp.where(xp.isfinite(n), xp.trunc(n), -1.0)


def _walk(xp, x, n, first, step):
    """The value of each element's own degree: P(0) = 1, P(1) = `first`, P(k + 1) = step(k, P(k), P(k - 1))."""
    before, now = xp.ones_like(x), first
    out = xp.where(n < 0, 0.0, xp.where(n == 0, before, now))
    highest = float(n.max()) if n.size else 0.0
    k = 1
    while k < highest:
        before, now = now, step(k, now, before)
        k += 1
        out = xp.where(n >= k, now, out)
    return out


def _polynomial(first, step, ends=None, most=None):
    """A kernel.

    Args:
        first: (x, n) -> the polynomial of degree 1.
        step: (x, k, now, before) -> the one of degree k + 1.
        ends: (xp, x, n) -> (where, value): where the value is known.
        most: dtype -> the highest degree that has a value.
    """

    def kernel(xp, x, n):
        kind = xp.result_type(x, n)
        x, n = xp.broadcast_arrays(xp.asarray(x, dtype="f8"), _degrees(xp, xp.asarray(n, dtype="f8")))
        unknown = xp.zeros(x.shape, bool)
        if most is not None:
            unknown = n > most(kind)
            n = xp.where(unknown, 0.0, n)
        out = _walk(xp, x, n, first(x), functools.partial(step, x))
        if ends is not None:
            for where, value in ends(xp, x, n):
                out = xp.where(where & (n >= 0), value, out)
        return xp.where(unknown, xp.nan, out).astype(kind)

    return kernel


def _twice(x, k, now, before):
    return 2 * x * now - before


def _shifted(x, k, now, before):
    return (4 * x - 2) * now - before


def _sign(xp, n):
    return xp.where(n % 2 == 0, 1.0, -1.0)


# The recurrence is exact at the ends up to rounding, which grows with the degree; these are exact.
chebyshev_t = _polynomial(lambda x: x, _twice, lambda xp, x, n: [(x == 1, 1.0), (x == -1, _sign(xp, n))])
chebyshev_u = _polynomial(
    lambda x: 2 * x, _twice, lambda xp, x, n: [(x == 1, n + 1), (x == -1, _sign(xp, n) * (n + 1))]
)
chebyshev_v = _polynomial(
    lambda x: 2 * x - 1, _twice, lambda xp, x, n: [(x == 1, 1.0), (x == -1, _sign(xp, n) * (2 * n + 1))]
)
chebyshev_w = _polynomial(
    lambda x: 2 * x + 1, _twice, lambda xp, x, n: [(x == 1, 2 * n + 1), (x == -1, _sign(xp, n))]
)
shifted_chebyshev_t = _polynomial(
    lambda x: 2 * x - 1, _shifted, lambda xp, x, n: [(x == 1, 1.0), (x == 0, _sign(xp, n))]
)
shifted_chebyshev_u = _polynomial(
    lambda x: 4 * x - 2, _shifted, lambda xp, x, n: [(x == 1, n + 1), (x == 0, _sign(xp, n) * (n + 1))]
)
shifted_chebyshev_v = _polynomial(
    lambda x: 4 * x - 3, _shifted, lambda xp, x, n: [(x == 1, 1.0), (x == 0, _sign(xp, n) * (2 * n + 1))]
)
shifted_chebyshev_w = _polynomial(
    lambda x: 4 * x - 1, _shifted, lambda xp, x, n: [(x == 1, 2 * n + 1), (x == 0, _sign(xp, n))]
)


def _most(dtype):
    return 512 if dtype == np.float64 else 128


hermite_h = _polynomial(lambda x: 2 * x, lambda x, k, now, before: 2 * x * now - 2 * k * before, most=_most)
hermite_he = _polynomial(lambda x: x, lambda x, k, now, before: x * now - k * before, most=_most)
laguerre_l = _polynomial(
    lambda x: 1 - x,
    lambda x, k, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1),
    lambda xp, x, n: [(x == 0, 1.0)],
)
legendre_p = _polynomial(
    lambda x: x,
    lambda x, k, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1),
    lambda xp, x, n: [(x == 1, 1.0), (x == -1, _sign(xp, n))],
)
