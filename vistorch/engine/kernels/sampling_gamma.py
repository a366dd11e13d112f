"""Gamma numbers by Marsaglia and Tsang's rejection (2000), and Dirichlet numbers made of them.

Each try takes a normal number and then a uniform one, so that where a number's words begin is known only when the one
before is accepted: they are drawn one after the other. Invariant: the words taken, and the roundings of the
constants, are PyTorch's.
"""

from __future__ import annotations

import math

import numpy as np

from vistorch.engine.kernels import sampling_checks as checks
from vistorch.engine.kernels.sampling_counts import Stream

__all__ = ["dirichlet", "gamma"]

F4, F8 = np.dtype("f4"), np.dtype("f8")
# PyTorch writes these as floats and widens them.
THIRD = float(np.float32(1) / np.float32(3))
SQUEEZE = float(np.float32(0.0331))


class _Normals:
    """Standard normal numbers from a stream's pairs; the second of a pair waits in the generator."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.kept = stream.generator.spare

    def next(self) -> float:
        kept = self.kept
        if kept is not None:
            self.kept = None
            return kept
        angle = self.stream.next() * (2 * math.pi)
        radius = math.sqrt(-2.0 * math.log1p(-self.stream.next()))
        self.kept = radius * math.sin(angle)
        return radius * math.cos(angle)


def _constants(alpha: np.ndarray) -> tuple[list, list, list]:
    """For each shape: the power of a first uniform number (0 for none), d, and c of the method."""
    small = alpha < 1
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.where(small, 1 / alpha, 0)
        d = (np.where(small, alpha + 1, alpha) - alpha.dtype.type(THIRD)).astype(F8)
        c = 1 / np.sqrt(9 * d)
    return power.astype(F8).tolist(), d.tolist(), c.tolist()


def _one(power: float, d: float, c: float, stream: Stream, normals: _Normals) -> float:
    """One number of shape d + 1/3, times a uniform one to the given power."""
    scale = (1 - stream.next()) ** power if power else 1.0
    while True:
        x = normals.next()
        y = 1.0 + c * x
        while y <= 0:
            x = normals.next()
            y = 1.0 + c * x
        v = y * y * y
        u = 1 - stream.next()
        square = x * x
        # A number that is not one passes: neither comparison is true of it.
        if not u >= 1.0 - SQUEEZE * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _numbers(generator, alpha: np.ndarray) -> np.ndarray:
    """Flat float64 numbers, each at least the smallest normal number of the shapes' dtype."""
    flat = alpha.reshape(-1)
    zero = (flat == 0).tolist()
    constants = list(zip(*_constants(flat), zero, strict=True))
    out = np.empty(flat.size)
    with generator.lock:
        stream = Stream(generator)
        normals = _Normals(stream)
        # What is sure to be used: a uniform number for each, one more for a power, and the normal ones' pairs.
        drawn = flat.size - sum(zero)
        powers = sum(1 for power, _, _, none in constants if power and not none)
        pairs = max(drawn - (normals.kept is not None), 0)
        stream.reserve(drawn + powers + pairs + pairs % 2)
        for at, (power, d, c, none) in enumerate(constants):
            out[at] = 0.0 if none else _one(power, d, c, stream, normals)
        generator.spare = normals.kept
    return out


def gamma(generator, alpha: np.ndarray) -> np.ndarray:
    """Gamma numbers of rate 1, one for each shape, in the shapes' dtype."""
    if alpha.dtype not in (F4, F8):
        raise NotImplementedError(f"\"gamma_cpu\" not implemented for '{checks.KINDS[alpha.dtype][0]}'")
    with np.errstate(under="ignore", over="ignore"):
        out = _numbers(generator, alpha).astype(alpha.dtype)
    least = _least(alpha.dtype)
    return np.where(out > least, out, least).reshape(alpha.shape)


def dirichlet(generator, alpha: np.ndarray) -> np.ndarray:
    """Points of a simplex, one for each row of shapes."""
    if alpha.dtype not in (F4, F8):
        raise NotImplementedError(f"\"dirichlet\" not implemented for '{checks.KINDS[alpha.dtype][0]}'")
    numbers = np.maximum(_numbers(generator, alpha.astype(F8)), _least(F8)).reshape(alpha.shape)
    out = (numbers / numbers.sum(-1, keepdims=True)).astype(alpha.dtype)
    kind = alpha.dtype.type
    return np.clip(out, _least(alpha.dtype), np.nextafter(kind(1), kind(0)))


def _least(dtype: np.dtype):
    """The smallest normal number."""
    return np.finfo(dtype).tiny
