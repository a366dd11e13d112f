"""Normal numbers, in PyTorch's two ways of making them.

From 16 contiguous numbers on, PyTorch writes uniform numbers in place and turns each row of 16 into two rows of 8 by
Box-Muller; a last row that is not full is drawn again, over the last 16 places. Fewer numbers, and every strided tensor,
come one at a time in double precision, with the second number of a pair kept in the generator.

Its AVX code takes the logarithm, sine and cosine of a float from Cephes' polynomials, with fused multiply-adds. We follow
every rounding of these up to `EXACT_UP_TO` numbers. Above it numpy's own functions are used, four times faster and equal
to within about 2e-6; they draw the same words.

Invariant: the words drawn depend on the size alone, never on the path taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

__all__ = ["EXACT_UP_TO", "LIBM_UP_TO", "doubles", "floats", "fused", "libm", "normal_values"]

EXACT_UP_TO = 1 << 16
# numpy's vector functions may differ from the C library's in the last bit of a double, so small draws ask the latter.
LIBM_UP_TO = 512
ROW = 16
CHUNK = 1 << 14

LOG_TERMS = (
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
F4, F8 = np.float32, np.float64
SQRT_HALF_BITS = np.int32(np.float32(math.sqrt(0.5)).view(np.int32))


def floats(words: np.ndarray) -> np.ndarray:
    """Words as float32 in [0, 1): the low 24 bits."""
    # int32, because numpy converts it faster than uint32.
    out = (words & np.uint32(0xFFFFFF)).view(np.int32).astype(F4)
    out *= F4(2.0**-24)
    return out


def doubles(words: np.ndarray) -> np.ndarray:
    """64-bit words as float64 in [0, 1): the low 53 bits."""
    out = (words & np.uint64((1 << 53) - 1)).view(np.int64).astype(F8)
    out *= 2.0**-53
    return out


def libm(function: Callable[[float], float], x: np.ndarray, vector: Callable) -> np.ndarray:
    """`function` of the C library on each double of a small array, else numpy's `vector`."""
    if x.size <= LIBM_UP_TO:
        try:
            return np.array([function(v) for v in x.tolist()], F8)
        except (ValueError, OverflowError):
            pass
    with np.errstate(all="ignore"):
        return vector(x)


def _split(x):
    """A double as a sum of two of 26 bits."""
    t = x * 134217729.0
    high = t - (t - x)
    return high, x - high


def fused(a: np.ndarray, b: float, c: float) -> np.ndarray:
    """a * b + c of doubles with one rounding (but for double rounding in very rare ties)."""
    product = a * b
    a1, a2 = _split(a)
    b1, b2 = _split(b)
    lost = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)
    total = product + c
    part = total - product
    lost += (product - (total - part)) + (c - part)
    out = total + lost
    # Where the splitting overflows the plain sum has to do.
    return np.where(np.isfinite(out), out, total)


def _fma(a: np.ndarray, b: np.ndarray | float, c: np.ndarray | float) -> np.ndarray:
    """a * b + c of floats with one rounding; b is given in double."""
    t = a * b
    t += c
    return t.astype(F4)


def _log(x: np.ndarray) -> np.ndarray:
    """Cephes' logf of positive floats."""
    exponent = (x.view(np.int32) - SQRT_HALF_BITS) >> np.int32(23)
    x = (x.view(np.int32) - (exponent << np.int32(23))).view(F4) - F4(1)
    e = exponent.astype(F4)
    wide = x.astype(F8)
    y = _fma(wide, F8(F4(7.0376836292e-2)), F8(F4(LOG_TERMS[0])))
    for term in LOG_TERMS[1:]:
        y = _fma(y, wide, F8(F4(term)))
    y *= x
    z = x * x
    y = _fma(y, z.astype(F8), e * F4(-2.12194440e-4))
    # Halving and this last product are exact: rounding once or twice is the same.
    y -= z * F4(0.5)
    x += y
    x += e * F4(0.693359375)
    return x


def _cos_sin(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cephes' cosf and sinf of floats in [0, 2 pi]."""
    octant = (x * F4(4 / math.pi)).astype(np.int32)
    octant += np.int32(1)
    octant &= np.int32(-2)
    y = octant.astype(F4)
    x = x - y * F4(0.78515625)
    x -= y * F4(2.4187564849853515625e-4)
    x = _fma(y, F8(F4(-3.77489497744594108e-8)), x)
    z = x * x
    wide = z.astype(F8)
    c = _fma(wide, F8(F4(2.443315711809948e-5)), F8(F4(-1.388731625493765e-3)))
    c = _fma(c, wide, F8(F4(4.166664568298827e-2)))
    c *= z
    c = _fma(c, wide, z * F4(-0.5))
    c += F4(1)
    s = _fma(wide, F8(F4(-1.9515295891e-4)), F8(F4(8.3321608736e-3)))
    s = _fma(s, wide, F8(F4(-1.6666654611e-1)))
    s *= z
    s = _fma(s, x.astype(F8), x)
    swap = (octant & np.int32(2)).astype(bool)
    cosine, sine = np.where(swap, s, c), np.where(swap, c, s)
    # The octant's bits are moved into the sign bit.
    sine.view(np.int32)[...] ^= (octant & np.int32(4)) << np.int32(29)
    cosine.view(np.int32)[...] ^= (~(octant - np.int32(2)) & np.int32(4)) << np.int32(29)
    return cosine, sine


def _rows(flat: np.ndarray, mean: float, std: float, exact: bool) -> np.ndarray:
    """The normal numbers for rows of 16 uniform ones."""
    kind = flat.dtype.type
    rows = flat.reshape(-1, 2, ROW // 2)
    u1 = (kind(1) - rows[:, 0]).ravel()
    angle = rows[:, 1].ravel() * kind(2 * math.pi)
    if kind is F8:
        log, cosine, sine = (
            libm(math.log, u1, np.log),
            libm(math.cos, angle, np.cos),
            libm(math.sin, angle, np.sin),
        )
    elif exact:
        log, (cosine, sine) = _log(u1), _cos_sin(angle)
    else:
        log, cosine, sine = np.log(u1), np.cos(angle), np.sin(angle)
    log *= kind(-2)
    radius = np.sqrt(log, out=log)
    out = np.empty_like(rows)
    for half, part in enumerate((cosine, sine)):
        part *= radius
        if mean != 0 or std != 1:
            part = fused(part, std, mean) if kind is F8 else _fma(part, F8(F4(std)), F8(F4(mean)))
        out[:, half] = part.reshape(-1, ROW // 2)
    return out.ravel()


def _by_rows(generator, size: int, kind: type, mean: float, std: float, reads_remnant: bool) -> np.ndarray:
    """At least 16 normal numbers, of float32 or float64."""
    out = np.empty(size, kind)
    # Half precision does not draw for a last row that it would draw again.
    end = size if reads_remnant else size - size % ROW
    exact = size <= EXACT_UP_TO

    def draw(count: int) -> np.ndarray:
        return doubles(generator.words64(count)) if kind is F8 else floats(generator.words(count))

    for start in range(0, end, CHUNK):
        uniform = draw(min(CHUNK, end - start))
        whole = uniform.size - uniform.size % ROW
        out[start : start + whole] = _rows(uniform[:whole], mean, std, exact)
    if size % ROW:
        out[-ROW:] = _rows(draw(ROW), mean, std, exact)
    return out


def _one_by_one(generator, size: int) -> np.ndarray:
    """Standard normal doubles in pairs; the second of an unfinished pair stays in the generator."""
    kept = generator.spare
    fresh = size if kept is None else size - 1
    pairs = (fresh + 1) // 2
    uniform = doubles(generator.words64(2 * pairs))
    u1, u2 = uniform[::2], uniform[1::2]
    radius = np.sqrt(-2.0 * libm(math.log1p, -u2, np.log1p))
    angle = u1 * (2 * math.pi)
    out = np.empty(2 * pairs + (kept is not None))
    out[-2 * pairs :: 2] = radius * libm(math.cos, angle, np.cos)
    out[len(out) - 2 * pairs + 1 :: 2] = radius * libm(math.sin, angle, np.sin)
    if kept is not None:
        out[0] = kept
    generator.spare = float(out[-1]) if fresh % 2 else None
    return out[:size]


def normal_values(
    generator, size: int, np_dtype: np.dtype, mean: float, std: float, serial: bool
) -> np.ndarray:
    """Flat normal numbers of a real dtype. The caller has checked the arguments and holds the lock."""
    if size >= ROW and not serial:
        kind = F8 if np_dtype == F8 else F4
        out = _by_rows(generator, size, kind, mean, std, reads_remnant=np_dtype.itemsize > 2)
        return out.astype(np_dtype, copy=False)
    if not size:
        return np.empty(0, np_dtype)
    out = _one_by_one(generator, size)
    return (out if mean == 0 and std == 1 else fused(out, std, mean)).astype(np_dtype, copy=False)
