"""How a beta number moves with its first shape: what the gradient of a Dirichlet sample is made of.

As for the gamma function, an integral of one sign over the smaller side, or a series where that is short: x^n (or
(1 - x)^n) over rising products. Invariant: what is returned is divided by 1 - x, as the formula of the sample asks.
"""

from vistorch.engine.kernels.gamma import digamma
from vistorch.engine.kernels.quadrature import DEPTH, chosen, end_of, in_blocks, integrals

TERMS = 176
SMALL = 8.0


def _side(xp, a, b, x, y, factor):
    """The integral over [0, x] by t = x exp(-v), relative to x^a y^(b-1), and with a factor of v."""

    def exponent(v):
        a_, b_, x_, y_ = (part[:, None] for part in (a, b, x, y))
        return -a_ * v + (b_ - 1) * xp.log1p(-x_ * xp.expm1(-v) / y_)

    def steep(v):
        q = x * xp.exp(-v)
        return (
            -a * v + (b - 1) * xp.log1p(-x * xp.expm1(-v) / y),
            -a + (b - 1) * q / (y - x * xp.expm1(-v)),
        )

    pull = xp.maximum((b - 1) * x / y, 1e-300)
    near = xp.sqrt(3 * DEPTH / pull)
    start = xp.where(near < 1, near, (DEPTH + pull) / a)
    end = xp.where(b > 1, end_of(steep, start), DEPTH / a)
    return integrals(xp, exponent, factor, end)


def _slope(xp, x, a, total):
    b, y = total - a, 1 - x

    def mean_log(a, b):
        return digamma(xp, a) - digamma(xp, a + b)

    def below(x, a, b, y):
        whole, first = _side(xp, a, b, x, y, lambda v: v)
        return x / y * ((mean_log(a, b) - xp.log(x)) * whole + first)

    def above(x, a, b, y):
        whole, logs = _side(xp, b, a, y, x, lambda v: xp.log1p(-y[:, None] * xp.expm1(-v) / x[:, None]))
        return (xp.log(x) - mean_log(a, b)) * whole + logs

    def low_series(x, a, b, y):
        n = xp.arange(TERMS)
        a_, c_ = a[:, None], (a + b)[:, None]
        ratios = x[:, None] * xp.where(n == 0, 1, c_ + n - 1) / (a_ + n)
        terms = xp.cumprod(ratios, axis=1)
        lower = digamma(xp, a)[:, None] + xp.cumsum(1 / (a_ + n), axis=1)
        upper = digamma(xp, a + b)[:, None] + xp.cumsum(xp.where(n == 0, 0, 1 / (c_ + n - 1)), axis=1)
        return (terms * (lower - upper - xp.log(x)[:, None])).sum(1)

    def high_series(x, a, b, y):
        n = xp.arange(TERMS)
        b_, c_ = b[:, None], (a + b)[:, None]
        ratios = xp.where(n == 0, 1, y[:, None] * (c_ + n - 1)) / (b_ + n)
        terms = xp.cumprod(ratios, axis=1)
        upper = digamma(xp, a + b)[:, None] + xp.cumsum(xp.where(n == 0, 0, 1 / (c_ + n - 1)), axis=1)
        return x * (terms * (upper + (xp.log(x) - digamma(xp, a))[:, None])).sum(1)

    inside = (x > 0) & (x < 1) & (a > 0) & (b > 0)
    low = x * total <= a
    by_low, by_high = inside & low & (a * y >= SMALL), inside & ~low & (b * x >= SMALL)
    rest = inside & ~by_low & ~by_high
    pieces = [
        (by_low, below),
        (by_high, above),
        (rest & (x <= 0.5), low_series),
        (rest & (x > 0.5), high_series),
        (x == 0, lambda x, a, b, y: x),
    ]
    return chosen(xp, (x, a, b, y), pieces)


def beta_slope(xp, x, a, total):
    """Return how fast a beta number x of shapes a and total - a grows with a, its place held, over 1 - x."""
    return in_blocks(xp, _slope, x, a, total)
