"""Gamma numbers by Marsaglia and Tsang's rejection (2000), and Dirichlet numbers made of them.

Each try takes a normal number and then a uniform one. Shapes below 1 take one more uniform number first, so that where
a number's words begin is known only when the one before is accepted: they are drawn one after the other. Invariant: the
words taken, and the roundings of the constants, are PyTorch's.
"""

from __future__ import annotations

import math

import numpy as np

from vistorch.engine.kernels import sampling_checks as checks
from vistorch.engine.kernels.sampling_normal import LIBM_UP_TO, doubles

__all__ = ["dirichlet", "gamma"]

F4, F8 = np.dtype("f4"), np.dtype("f8")
# PyTorch writes these as floats and widens them.
THIRD = float(np.float32(1) / np.float32(3))
SQUEEZE = float(np.float32(0.0331))
MOST_TOGETHER = 1 << 16
UNALIKE_TOGETHER = 512  # what is assumed of a try fails oftener, the further it is from one that is known


class _Stream:
    """Uniform doubles, of which only those are drawn that are sure to be used."""

    def __init__(self, generator) -> None:
        self.generator = generator
        self.values, self.at = np.empty(0), 0

    def ahead(self, count: int) -> np.ndarray:
        """The next numbers, which stay the next until `use`."""
        missing = self.at + count - self.values.size
        if missing > 0:
            fresh = doubles(self.generator.words64(missing))
            left = self.values[self.at :]
            self.values, self.at = np.concatenate((left, fresh)) if left.size else fresh, 0
        return self.values[self.at : self.at + count]

    def use(self, count: int) -> None:
        """Go on by some numbers."""
        self.at += count

    def next(self) -> float:
        """The next number."""
        if self.at == self.values.size:
            self.ahead(1)
        self.at += 1
        return float(self.values[self.at - 1])


class _Listed:
    """The same, for one after the other: a list is read faster than an array."""

    def __init__(self, stream: _Stream, sure: int) -> None:
        self.stream = stream
        self.values = stream.ahead(sure)[::-1].tolist()
        stream.use(sure)
        self.generator = stream.generator

    def next(self) -> float:
        """The next number."""
        return self.values.pop() if self.values else self.stream.next()


class _Normals:
    """Standard normal numbers from a stream's pairs; the second of a pair waits in the generator."""

    def __init__(self, stream: _Stream | _Listed) -> None:
        self.stream = stream
        self.kept = stream.generator.spare

    def next(self) -> float:
        kept = self.kept
        if kept is not None:
            self.kept = None
            return kept
        first, self.kept = _pair(self.stream.next(), self.stream.next())
        return first


def _pair(one: float, other: float) -> tuple[float, float]:
    """Two normal numbers of two uniform ones."""
    angle = one * (2 * math.pi)
    radius = math.sqrt(-2.0 * math.log1p(-other))
    return radius * math.cos(angle), radius * math.sin(angle)


def _constants(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each shape: the power of a first uniform number (0 for none), d, and c of the method."""
    small = alpha < 1
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.where(small, 1 / alpha, 0)
        d = (np.where(small, alpha + 1, alpha) - alpha.dtype.type(THIRD)).astype(F8)
        c = 1 / np.sqrt(9 * d)
    return power.astype(F8), d, c


def _one(power: float, d: float, c: float, stream: _Stream | _Listed, normals: _Normals) -> float:
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


def _one_by_one(stream: _Stream, power: np.ndarray, d: np.ndarray, c: np.ndarray) -> list[float]:
    # What is sure to be used: a uniform number for each, one more for a power, and the normal ones' pairs.
    pairs = max(d.size - (stream.generator.spare is not None), 0)
    listed = _Listed(stream, d.size + int(np.count_nonzero(power)) + pairs + pairs % 2)
    normals = _Normals(listed)
    constants = zip(power.tolist(), d.tolist(), c.tolist(), strict=True)
    out = [_one(*of_one, listed, normals) for of_one in constants]
    stream.generator.spare = normals.kept
    return out


def _by(function, vector, x: np.ndarray, exact: bool) -> np.ndarray:
    """The C library's function, or numpy's, which may differ in the last bit of a double."""
    return np.array(list(map(function, x.tolist()))) if exact else vector(x)


def _together(stream: _Stream, d: np.ndarray, c: np.ndarray, exact: bool) -> np.ndarray:
    """The numbers of shapes that take no power of a uniform one, many tries at a time.

    Which words belong to which try does not depend on what is accepted, but for a cube that is not positive (it takes
    another normal number at once): the numbers before such a one are kept, it is drawn by itself, and the rest anew.
    Which number a try is for does depend on what was accepted before: this is assumed, and put right until it holds.
    No word is read that will not be used: as many numbers as are missing take as many tries at least.
    """
    size = d.size
    out = np.empty(size)
    alike = bool((d == d[0]).all())
    rare = math.erfc(3 * math.sqrt(float(d.min()) / 2))  # twice how often a cube is not positive
    step = int(min(max(1 / max(rare, 1e-9), 256), MOST_TOGETHER if alike else UNALIKE_TOGETHER))
    normals = _Normals(stream)
    done = 0
    while done < size:
        tries = min(size - done, step)
        kept = normals.kept
        late = 0 if kept is None else 1
        pairs = (tries - late + 1) // 2
        words = stream.ahead(tries + 2 * pairs)
        drawn = (np.arange(tries) - late) // 2 + 1  # pairs, up to each try
        at_u = np.arange(tries) + 2 * drawn
        first = 4 * np.arange(pairs) + late
        x = np.empty(late + 2 * pairs)
        if late:
            x[0] = kept
        angle = words[first] * (2 * math.pi)
        radius = np.sqrt(-2.0 * _by(math.log1p, np.log1p, -words[first + 1], exact))
        x[late::2] = radius * _by(math.cos, np.cos, angle, exact)
        x[late + 1 :: 2] = radius * _by(math.sin, np.sin, angle, exact)
        x = x[:tries]
        u = 1 - words[at_u]
        square = x * x
        squeezed = ~(u >= 1.0 - SQUEEZE * square * square)
        log_u, half = np.log(u), 0.5 * square
        which = np.arange(tries)
        while True:
            its_d, its_c = d[done + which], c[done + which]
            y = 1.0 + its_c * x
            v = y * y * y
            accepted = squeezed | (log_u < half + its_d * (1.0 - v + np.log(v)))
            again = np.cumsum(accepted)
            if alike or np.array_equal(again[:-1], which[1:]):
                break
            which[1:] = again[:-1]
        low = y <= 0
        stop = int(low.argmax()) if low.any() else tries
        taken = accepted[:stop]
        numbers = (its_d[:stop] * v[:stop])[taken]
        out[done : done + numbers.size] = numbers
        done += numbers.size
        last = min(stop, tries - 1)  # the try whose normal number was the last to be taken
        if (last - late) % 2 == 0:
            at = int(first[drawn[last] - 1])
            normals.kept = _pair(float(words[at]), float(words[at + 1]))[1]
        else:
            normals.kept = None
        if stop == tries:
            stream.use(tries + 2 * pairs)
        else:
            stream.use(int(at_u[stop]))
            out[done] = _one(0.0, float(d[done]), float(c[done]), stream, normals)
            done += 1
    stream.generator.spare = normals.kept
    return out


def _numbers(generator, alpha: np.ndarray, exact: bool) -> np.ndarray:
    """Flat float64 numbers, each at least the smallest normal number of the shapes' dtype; `exact`: to the last bit."""
    flat = alpha.reshape(-1)
    some = flat != 0
    power, d, c = _constants(flat[some])
    out = np.zeros(flat.size)
    if d.size:
        with generator.lock:
            stream = _Stream(generator)
            if power.any() or not np.isfinite(d).all():
                out[some] = _one_by_one(stream, power, d, c)
            else:
                out[some] = _together(stream, d, c, exact or flat.size <= LIBM_UP_TO)
    return out


def gamma(generator, alpha: np.ndarray) -> np.ndarray:
    """Gamma numbers of rate 1, one for each shape, in the shapes' dtype."""
    if alpha.dtype not in (F4, F8):
        raise NotImplementedError(f"\"gamma_cpu\" not implemented for '{checks.KINDS[alpha.dtype][0]}'")
    with np.errstate(all="ignore"):
        out = _numbers(generator, alpha, alpha.dtype == F8).astype(alpha.dtype)
    least = _least(alpha.dtype)
    return np.where(out > least, out, least).reshape(alpha.shape)


def dirichlet(generator, alpha: np.ndarray) -> np.ndarray:
    """Points of a simplex, one for each row of shapes."""
    if alpha.dtype not in (F4, F8):
        raise NotImplementedError(f"\"dirichlet\" not implemented for '{checks.KINDS[alpha.dtype][0]}'")
    with np.errstate(all="ignore"):
        numbers = _numbers(generator, alpha.astype(F8), alpha.dtype == F8)
    numbers = np.maximum(numbers, _least(F8)).reshape(alpha.shape)
    out = (numbers / numbers.sum(-1, keepdims=True)).astype(alpha.dtype)
    kind = alpha.dtype.type
    return np.clip(out, _least(alpha.dtype), np.nextafter(kind(1), kind(0)))


def _least(dtype: np.dtype):
    """The smallest normal number."""
    return np.finfo(dtype).tiny
