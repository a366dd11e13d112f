"""Airy's function Ai: its power series near 0, elsewhere an integral that Gauss' nodes give to rounding.

Invariant: computed in float64 and rounded to the input's dtype; as in PyTorch, 0 beyond 103.892, nan at infinity.
"""

import functools
import math
from typing import Any

import numpy as np

from vistorch.engine.kernels.blocks import blocked, piecewise

AT_ZERO, SLOPE_AT_ZERO = 0.355028053887817239, -0.258819403792806798
NEAR, ZERO_FROM, NODES = 3.0, 103.892, 48


@functools.cache
def _nodes():
    """Nodes and weights of the integral over t > 0 of t^(-1/6) exp(-t) f(t), by the eigenvalues of Jacobi's matrix."""
    power = -1 / 6
    k = np.arange(NODES)
    side = np.sqrt(k[1:] * (k[1:] + power))
    values, vectors = np.linalg.eigh(np.diag(2 * k + 1 + power) + np.diag(side, 1) + np.diag(side, -1))
    return tuple(values), tuple(math.gamma(1 + power) * vectors[0] ** 2)


def _near(xp, x):
    cube = x * x * x
    first, second = xp.ones_like(x), x
    even, odd = first, second
    for k in range(1, 26):
        first = first * cube / ((3 * k - 1) * (3 * k))
        second = second * cube / ((3 * k) * (3 * k + 1))
        even, odd = even + first, odd + second
    return AT_ZERO * even + SLOPE_AT_ZERO * odd


def _mean(xp, z):
    """The integral, over (2 + t / z)^(-1/6), for a real or complex z off the negative axis."""
    out: Any = xp.zeros_like(z)
    for node, weight in zip(*_nodes(), strict=True):
        out = out + weight * (2 + node / z) ** (-1 / 6)
    return out / (math.sqrt(math.pi) * 48 ** (1 / 6) * math.gamma(5 / 6))


def _above(xp, x):
    z = 2 / 3 * x * xp.sqrt(x)
    return xp.exp(-z) * z ** (-1 / 6) * _mean(xp, z)


def _below(xp, x):
    """From the values at x turned by 60 degrees to either side."""
    size = 2 / 3 * -x * xp.sqrt(-x)
    z = 1j * size
    turned = (xp.cos(size) - 1j * xp.sin(size)) * z ** (-1 / 6) * _mean(xp, z)
    return 2 * (turned * complex(math.cos(math.pi / 3), math.sin(math.pi / 3))).real


def _ai(xp, x):
    pieces = [
        (xp.abs(x) <= NEAR, lambda part: _near(xp, part)),
        ((x > NEAR) & (x <= ZERO_FROM), lambda part: _above(xp, part)),
        ((x < -NEAR) & xp.isfinite(x), lambda part: _below(xp, part)),
        ((x > ZERO_FROM) & xp.isfinite(x), lambda part: xp.zeros_like(part)),
    ]
    return piecewise(xp, x, pieces)


def airy_ai(xp, x):
    """Ai(x)."""
    return blocked(xp, _ai, x)
