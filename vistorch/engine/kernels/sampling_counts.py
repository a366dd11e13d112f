"""Poisson counts and draws from categories.

Invariant: a Poisson number takes as many words as its rejections ask for, so these are drawn one after the
other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vistorch.engine.kernels import sampling_checks as checks
from vistorch.engine.kernels.sampling_normal import doubles, libm

__all__ = ["cumulative_odds", "multinomial", "poisson", "searched"]

# From this rate on a count is found by rejection, below it by multiplying uniform numbers.
REJECTION_FROM = 10


_FIRST, _MOST = 64, 1 << 14  # numbers that are read ahead at a time


class Stream:
    """Uniform doubles one by one, read ahead from a copy of the generator, which at the end goes on by those used."""

    def __init__(self, generator):
        self.generator, self._ahead = generator, generator.clone_state()
        self._values: list[float] = []
        self._pop, self._read = self._values.pop, 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if used := self._read - len(self._values):
            self.generator.words64(used)

    def next(self) -> float:
        """The next number."""
        try:
            return self._pop()
        except IndexError:
            count = min(max(self._read, _FIRST), _MOST)
            self._values += doubles(self._ahead.words64(count))[::-1].tolist()
            self._read += count
            return self._pop()


def _by_product(rate: float, draw: Callable[[], float]) -> int:
    """Knuth's count: how many uniform numbers multiply to more than exp(-rate)."""
    bound, product, count = math.exp(-rate), 1.0, 0
    while True:
        product *= draw()
        if product <= bound:
            return count
        count += 1


def _by_rejection(rate: float, draw: Callable[[], float]) -> float:
    """Hoermann's transformed rejection (PTRS, 1993)."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    squeeze = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = draw() - 0.5
        v = draw()
        us = 0.5 - abs(u)
        value = (2 * a / us + b) * u + rate + 0.43 if us else -math.inf
        # What C++ makes of a number beyond 64 bits.
        count = math.floor(value) if abs(value) < 2.0**63 else -(2**63)
        if us >= 0.07 and v <= squeeze:
            return count
        if count < 0 or (us < 0.013 and v > us):
            continue
        left = (math.log(v) if v else -math.inf) + log_inverse_alpha - math.log(a / (us * us) + b)
        if left <= -rate + count * log_rate - math.lgamma(count + 1.0):
            return count


def poisson(generator, rates: np.ndarray) -> np.ndarray:
    """Poisson counts, one for each rate, in the rates' dtype and shape."""
    checks.unsupported("poisson_cpu", rates.dtype)
    checks.require(bool((rates >= 0).all()), "invalid Poisson rate, expected rate to be non-negative")
    flat = rates.astype(np.float64).ravel().tolist()
    with generator.lock, Stream(generator) as stream:
        draw = stream.next
        out = [
            _by_rejection(rate, draw) if rate >= REJECTION_FROM else _by_product(rate, draw) if rate else 0
            for rate in flat
        ]
    with np.errstate(over="ignore"):
        return np.array(out, np.float64).astype(rates.dtype).reshape(rates.shape)


def cumulative_odds(weights: np.ndarray) -> np.ndarray:
    """Each row's weights added up, as parts of their sum, or PyTorch's error."""
    checks.require(
        bool((weights >= 0).all()), "invalid multinomial distribution (encountering probability entry < 0)"
    )
    checks.require(
        bool(np.isfinite(weights).all()),
        "invalid multinomial distribution (encountering probability entry = infinity or NaN)",
    )
    # Half precision adds up in float32.
    wide = weights.astype(np.promote_types(np.float32, weights.dtype), copy=False)
    cumulative = np.cumsum(wide, axis=-1, dtype=wide.dtype)
    totals = cumulative[:, -1:]
    checks.require(bool((totals > 0).all()), "invalid multinomial distribution (sum of probabilities <= 0)")
    cumulative /= totals.copy()
    cumulative[:, -1] = 1
    return cumulative.astype(np.float64)


def searched(generator, cumulative: np.ndarray, num_samples: int) -> np.ndarray:
    """Independent draws from each row of `cumulative_odds`: drawn in parts or at once, they are the same."""
    with generator.lock:
        points = doubles(generator.words64(len(cumulative) * num_samples))
    points = points.reshape(len(cumulative), num_samples)
    out = np.empty(points.shape, np.int64)
    for row, bounds in enumerate(cumulative):
        out[row] = np.searchsorted(bounds, points[row], side="left")
    return out


def multinomial(generator, weights: np.ndarray, num_samples: int, replacement: bool = False) -> np.ndarray:
    """Categories drawn with the given weights, from each row.

    Args:
        generator: where the words come from.
        weights: one row, or a matrix of rows, of weights that need not add up to 1.
        num_samples: draws from each row.
        replacement: whether a category can be drawn again.
    """
    checks.check_weights(weights, num_samples, replacement)
    shape = (*weights.shape[:-1], num_samples)
    rows = weights if weights.ndim == 2 else weights[None]
    if not len(rows):
        return np.empty(shape, np.int64)
    if replacement and num_samples > 1:
        return searched(generator, cumulative_odds(rows), num_samples).reshape(shape)
    checks.require(
        rows.shape[-1] > 0,
        "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.",
    )
    checks.require(
        bool(((rows >= 0) & np.isfinite(rows)).all()),
        "probability tensor contains either `inf`, `nan` or element < 0",
    )
    checks.require(
        bool((rows.sum(-1) != 0).all()), "invalid multinomial distribution (sum of probabilities <= 0)"
    )
    with generator.lock:
        values = doubles(generator.words64(rows.size))
    # The largest weight over an exponential number wins: a race that needs no cumulative sums.
    times = (-libm(math.log1p, -values, np.log1p)).astype(rows.dtype).reshape(rows.shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        speed = rows / times
    if num_samples == 1:
        return speed.argmax(-1).astype(np.int64, copy=False).reshape(shape)
    order = np.argsort(-speed, axis=-1, kind="stable")[:, :num_samples]
    return order.astype(np.int64, copy=False).reshape(shape)
