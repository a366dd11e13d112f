"""Binomial counts: few expected successes by the gaps between them, many by Hoermann's rejection (BTRS, 1993).

Invariant: the words taken are PyTorch's, so the counts come one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vistorch.engine.kernels.sampling_counts import Stream

__all__ = ["binomial"]

# From this mean on by rejection.
REJECTION_FROM = 10


def _tail(k: float) -> float:
    """What Stirling's formula for log(k!) leaves out."""
    if k <= 9:
        return math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + (k + 1) - 0.5 * math.log(2 * math.pi)
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _by_gaps(count: float, scale: float, draw: Callable[[], float]) -> float:
    """How many geometric gaps fit into `count` trials; `scale` is the logarithm of a failure's probability."""
    passed, found = 0.0, 0
    while True:
        gap = _log(draw()) / scale
        passed += math.ceil(gap) if gap < math.inf else gap
        if passed > count:
            return found
        found += 1


def _by_rejection(
    count: float, p: float, mean: float, deviation: float, odds: float, mode: float, draw: Callable[[], float]
) -> float:
    """A count near the mean, by a box around the distribution."""
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = mean + 0.5
    squeeze = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    while True:
        u = draw() - 0.5
        v = draw()
        us = 0.5 - abs(u)
        if not us:
            continue
        k = math.floor((2 * a / us + b) * u + centre)
        if k < 0 or k > count:
            continue
        if us >= 0.07 and v <= squeeze:
            return k
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _tail(mode)
            + _tail(count - mode)
            - _tail(k)
            - _tail(count - k)
        )
        if _log(v * alpha / (a / (us * us) + b)) <= bound:
            return k


def _one(draw: Callable, row: tuple) -> float:
    """One count; q is the smaller of p and 1 - p, `mean` and the rest are those of the rarer outcome."""
    count, p, q, mean, deviation, odds, mode, failure = row
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return count
    if not math.isfinite(count + p):
        return count + p
    if mean >= REJECTION_FROM:
        found = _by_rejection(count, q, mean, deviation, odds, mode, draw)
    else:
        found = _by_gaps(count, failure, draw)
    return found if p <= 0.5 else count - found


def binomial(generator, counts: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Successes in so many trials of probability p; both arrays have one shape and dtype."""
    kind = p.dtype.type
    with np.errstate(all="ignore"):
        # Rounded to the dtype where PyTorch rounds: the last bit may decide.
        q = np.where(p > 0.5, (1.0 - p.astype("f8")).astype(p.dtype), p)
        mean = counts * q
        deviation = np.sqrt(mean * (kind(1) - q))
        odds = q / (kind(1) - q)
        mode = np.floor((counts + kind(1)) * q)
        failure = np.log1p(-q.astype("f8")).astype(p.dtype)
    flat = [a.astype("f8").ravel().tolist() for a in (counts, p, q, mean, deviation, odds, mode, failure)]
    with generator.lock, Stream(generator) as stream:
        draw = stream.next
        out = [_one(draw, row) for row in zip(*flat, strict=True)]
    return np.array(out, np.float64).astype(counts.dtype).reshape(counts.shape)
