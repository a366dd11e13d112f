"""Bessel functions beyond the modified ones of the first kind: j0, j1, y0, y1, and k0, k1 with their scaled forms.

Small arguments have power series, large ones Hankel's expansion, those between an integral that a few equally spaced
or Gaussian nodes give to rounding. Invariant: everything is computed in float64 and rounded to the input's dtype.
"""

import functools
import math

import numpy as np

from vistorch.engine.kernels.blocks import blocked, piecewise

GAMMA = 0.5772156649015329
FAR = 25.0


def _hankel(xp, n, x):
    """The amplitudes p and q of Hankel's expansion: J = sqrt(2/(pi x)) (p cos - q sin), Y = ... (p sin + q cos)."""
    p, q, term = xp.ones_like(x), xp.zeros_like(x), xp.ones_like(x)
    for k in range(1, 21):
        term = term * ((4 * n * n - (2 * k - 1) ** 2) / (8 * k)) / x
        part = -term if k % 4 in (2, 3) else term
        if k % 2:
            q = q + part
        else:
            p = p + part
    return p, q


def _waves(xp, n, x):
    """Cos and sin of x - n pi/2 - pi/4, from those of x alone, which keeps the digits of a large x."""
    c, s = xp.cos(x), xp.sin(x)
    plus, minus = (c + s) / math.sqrt(2), (s - c) / math.sqrt(2)
    return (plus, minus) if n == 0 else (minus, -plus)


def _far(xp, n, x, second):
    p, q = _hankel(xp, n, x)
    cos, sin = _waves(xp, n, x)
    out = p * sin + q * cos if second else p * cos - q * sin
    return xp.sqrt(2 / (math.pi * x)) * out


def _near(xp, n, x):
    """J of |x| < FAR: the mean of cos(n t - x sin t) over a period, exact to rounding with so many nodes."""
    out = xp.zeros_like(x)
    count = 64
    for k in range(count):
        t = 2 * math.pi * (k + 0.5) / count
        out = out + xp.cos(n * t - x * math.sin(t))
    return out / count


def _j(xp, n, x):
    a = xp.abs(x)
    pieces = [(a < FAR, lambda part: _near(xp, n, part)), (a >= FAR, lambda part: _far(xp, n, part, False))]
    out = piecewise(xp, a, pieces)
    return out if n == 0 else xp.where(x < 0, -out, out)


@functools.cache
def _gauss(count):
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return tuple(zip(((nodes + 1) / 2).tolist(), (weights / 2).tolist(), strict=True))


def _y_series(xp, n, x):
    """Y by its power series, for x up to 5."""
    square = x * x / 4
    logarithm = xp.log(x / 2) + GAMMA
    if n == 0:
        total, term, harmonic = logarithm, xp.ones_like(x), 0.0
        for k in range(1, 30):
            term = term * (-square) / (k * k)
            harmonic += 1 / k
            total = total + term * (logarithm - harmonic)
        return 2 / math.pi * total
    total, term, harmonic = xp.zeros_like(x), x / 2, 0.0
    for k in range(30):
        total = total + term * (2 * logarithm - harmonic - (harmonic + 1 / (k + 1)))
        harmonic += 1 / (k + 1)
        term = term * (-square) / ((k + 1) * (k + 2))
    return total / math.pi - 2 / (math.pi * x)


def _y_between(xp, n, x):
    """Y by its two integrals, for x from 5 to FAR."""
    turning, falling = xp.zeros_like(x), xp.zeros_like(x)
    last = 2.8  # sinh of it, times 5, is 40
    for node, weight in _gauss(64):
        t = math.pi * node
        turning = turning + weight * xp.sin(x * math.sin(t) - n * t)
        t = last * node
        growth = 2.0 if n == 0 else 2 * math.sinh(t)
        falling = falling + weight * growth * xp.exp(-x * math.sinh(t))
    return turning - falling * (last / math.pi)


def _y(xp, n, x):
    pieces = [
        ((x > 0) & (x < 5), lambda part: _y_series(xp, n, part)),
        ((x >= 5) & (x < FAR), lambda part: _y_between(xp, n, part)),
        (x >= FAR, lambda part: _far(xp, n, part, True)),
        (x == 0, lambda part: xp.full_like(part, -float("inf"))),
    ]
    return piecewise(xp, x, pieces)


def _k_series(xp, n, x, scaled):
    square = x * x / 4
    logarithm = -(xp.log(x / 2) + GAMMA)
    if n == 0:
        total, term, harmonic = logarithm, xp.ones_like(x), 0.0
        for k in range(1, 20):
            term = term * square / (k * k)
            harmonic += 1 / k
            total = total + term * (logarithm + harmonic)
    else:
        total, term, harmonic = 1 / x, x / 2, 0.0
        for k in range(20):
            total = total - term * (logarithm + (2 * harmonic + 1 / (k + 1)) / 2)
            harmonic += 1 / (k + 1)
            term = term * square / ((k + 1) * (k + 2))
    return total * xp.exp(x) if scaled else total


def _k_integral(xp, n, x, scaled):
    """e^x K: equally spaced nodes, closer the larger x is, give the integral of exp(-x (cosh t - 1)) cosh(n t)."""
    width = 0.45 / xp.sqrt(x)
    total = xp.full_like(x, 0.5)
    for k in range(1, 30):
        t = k * width
        total = total + xp.exp(-2 * x * xp.sinh(t / 2) ** 2) * (xp.cosh(t) if n else 1.0)
    total = xp.where(xp.isinf(x), 0.0, total * width)
    return total if scaled else total * xp.exp(-x)


def _k(xp, n, scaled, x):
    pieces = [
        ((x > 0) & (x <= 2), lambda part: _k_series(xp, n, part, scaled)),
        (x > 2, lambda part: _k_integral(xp, n, part, scaled)),
        (x == 0, lambda part: xp.full_like(part, float("inf"))),
    ]
    return piecewise(xp, x, pieces)


def bessel_j0(xp, x):
    """Return the Bessel function of the first kind, of order 0."""
    return blocked(xp, lambda xp, part: _j(xp, 0, part), x)


def bessel_j1(xp, x):
    """Return the Bessel function of the first kind, of order 1."""
    return blocked(xp, lambda xp, part: _j(xp, 1, part), x)


def bessel_y0(xp, x):
    """Return the Bessel function of the second kind, of order 0; nan below 0."""
    return blocked(xp, lambda xp, part: _y(xp, 0, part), x)


def bessel_y1(xp, x):
    """Return the Bessel function of the second kind, of order 1; nan below 0."""
    return blocked(xp, lambda xp, part: _y(xp, 1, part), x)


def bessel_k(n, scaled):
    """The kernel of the modified Bessel function of the second kind, of order n, times e^x if `scaled`."""

    def run(xp, x):
        return blocked(xp, lambda xp, part: _k(xp, n, scaled, part), x)

    run.__name__ = f"bessel_k{n}" + ("e" if scaled else "")
    return run


def _spherical(xp, x):
    zero = x == 0
    return xp.where(zero | xp.isinf(x), xp.where(zero, 1.0, 0.0), xp.sin(x) / xp.where(zero, 1.0, x))


def spherical_j0(xp, x):
    """Return sin(x) / x, and 1 at 0."""
    return blocked(xp, _spherical, x)
