"""Normal numbers, in PyTorch's two ways of making them.

From 16 contiguous numbers on, PyTorch writes uniform numbers in place and turns each row of 16 into two
rows of 8 by Box-Muller; a last row that is not full is drawn again, over the last 16 places. Fewer numbers,
and every strided tensor, come one at a time in double precision, with the second number of a pair kept in
the generator.

Its AVX code takes the logarithm, sine and cosine of a float from Cephes' polynomials, with fused
multiply-adds. We follow every rounding of these up to `EXACT_UP_TO` numbers. Above it numpy's own functions
are used, four times faster and equal to within about 2e-6; they draw the same words.

Invariant: the words drawn depend on the size alone, never on the path taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

__all__ = ["EXACT_UP_TO", "LIBM_UP_TO", "doubles", "floats", "fused", "libm", "normal_values"]

EXACT_UP_TO = 1 << 16
# numpy's vector functions may differ from the C library's in the last bit of a double: small draws ask
# the latter.
LIBM_UP_TO = 512
ROW = 16
LOW_53 = (1 << 53) - 1
FEW = 160  # so few numbers are read from what was made of a block of words
CHUNK = 1 << 14

F4, F8 = np.float32, np.float64


def _single(*numbers: float) -> tuple[float, ...]:
    """Float32 constants as Python floats, which take on an array's dtype and are quicker."""
    return tuple(float(F4(number)) for number in numbers)


# Cephes' polynomials in Horner's order, and pi / 4 in three parts.
LOG_TERMS = _single(
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
COS_TERMS = _single(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
SIN_TERMS = _single(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
LOG_2_LOW, LOG_2_HIGH = _single(-2.12194440e-4, 0.693359375)
QUARTER_PI = _single(0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)
(FOUR_OVER_PI,) = _single(4 / math.pi)
SQRT_HALF_BITS = int(F4(math.sqrt(0.5)).view(np.int32))


def floats(words: np.ndarray) -> np.ndarray:
    """Words as float32 in [0, 1): the low 24 bits."""
    # int32, because numpy converts it faster than uint32.
    out = (words & 0xFFFFFF).view(np.int32).astype(F4)
    out *= 2.0**-24
    return out


def doubles(words: np.ndarray) -> np.ndarray:
    """64-bit words as float64 in [0, 1): the low 53 bits."""
    out = (words & ((1 << 53) - 1)).view(np.int64).astype(F8)
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
    """Doubles a * b + c with one rounding (but for double rounding in very rare ties)."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = a * b
        a1, a2 = _split(a)
        b1, b2 = _split(float(b))
        lost = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)
        total = product + c
        part = total - product
        lost += (product - (total - part)) + (c - part)
        out = total + lost
    # Where the splitting overflows the plain sum has to do.
    return np.where(np.isfinite(out), out, total)


def _fma(a: np.ndarray, b: np.ndarray | float, c: np.ndarray | float) -> np.ndarray:
    """Floats a * b + c with one rounding; a or b comes as float64, in which the product is exact."""
    t = a * b
    t += c
    return t.astype(F4)


def _polynomial(terms: tuple[float, ...], wide: np.ndarray) -> np.ndarray:
    """A polynomial by Horner's rule, each step rounded once."""
    t = wide * terms[0]
    t += terms[1]
    for term in terms[2:]:
        t = t.astype(F4).astype(F8)
        t *= wide
        t += term
    return t.astype(F4)


def _log(x: np.ndarray) -> np.ndarray:
    """Cephes' logf of positive floats."""
    bits = x.view(np.int32)
    exponent = bits - SQRT_HALF_BITS
    exponent >>= 23
    x = (bits - (exponent << 23)).view(F4)
    x -= 1
    e = exponent.astype(F4)
    y = _polynomial(LOG_TERMS, x.astype(F8))
    y *= x
    z = x * x
    y = _fma(y, z.astype(F8), e * LOG_2_LOW)
    # The products here are exact: rounding once or twice is the same.
    z *= 0.5
    y -= z
    x += y
    e *= LOG_2_HIGH
    x += e
    return x


def _cos_sin(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cephes' cosf and sinf of floats in [0, 2 pi]."""
    octant = (x * FOUR_OVER_PI).astype(np.int32)
    octant += 1
    octant &= -2
    y = octant.astype(F4)
    x = x - y * QUARTER_PI[0]
    x -= y * QUARTER_PI[1]
    x = (x - y.astype(F8) * QUARTER_PI[2]).astype(F4)
    z = x * x
    wide = z.astype(F8)
    c = _polynomial(COS_TERMS, wide)
    c *= z
    c = _fma(c, wide, z * -0.5)
    c += 1
    s = _polynomial(SIN_TERMS, wide)
    s *= z
    s = _fma(s, x.astype(F8), x)
    swap = (octant & 2).astype(bool)
    cosine, sine = np.where(swap, s, c), np.where(swap, c, s)
    # The octant's bit 2 is moved into the sign bit.
    sign = sine.view(np.int32)
    sign ^= (octant & 4) << 29
    octant -= 2
    sign = cosine.view(np.int32)
    sign ^= (~octant & 4) << 29
    return cosine, sine


def _rows(flat: np.ndarray, mean: float, std: float, exact: bool) -> np.ndarray:
    """The normal numbers for rows of 16 uniform ones."""
    kind = flat.dtype.type
    # Half a row as one item: numpy's loops over eight numbers cost more than what they compute.
    item = np.dtype(f"V{ROW // 2 * flat.itemsize}")
    halves = flat.view(item)
    u1, angle = halves[::2].copy().view(kind), halves[1::2].copy().view(kind)
    np.subtract(kind(1), u1, out=u1)
    angle *= kind(2 * math.pi)
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
    out = np.empty_like(flat)
    halves = out.view(item)
    for half, part in enumerate((cosine, sine)):
        part *= radius
        if mean != 0 or std != 1:
            part = fused(part, std, mean) if kind is F8 else _fma(part.astype(F8), *_single(std, mean))
        halves[half::2] = part.view(item)
    return out


def _radius_cosine_sine(words: np.ndarray) -> np.ndarray:
    """What each word gives as either number of a pair: (3, words)."""
    uniform = floats(words)
    angle = uniform * F4(2 * math.pi)
    log = _log(F4(1) - uniform)
    log *= F4(-2)
    return np.stack((np.sqrt(log), *_cos_sin(angle)))


def _few_rows(generator, size: int, mean: float, std: float, reads_remnant: bool) -> np.ndarray:
    """As `_by_rows`, of float32: what the words of a block give is made once."""
    remnant = size % ROW
    whole = size - remnant
    made = generator.made(
        size + (ROW if remnant else 0) - (0 if reads_remnant else remnant), _radius_cosine_sine
    )
    if remnant:
        made = np.concatenate((made[:, :whole], made[:, -ROW:]), 1)
    rows = made.reshape(3, -1, 2, ROW // 2)
    values = rows[1:, :, 1] * rows[0, :, 0]
    if mean != 0 or std != 1:
        values = _fma(values.astype(F8), *_single(std, mean))
    out = np.empty(size, F4)
    out[:whole].reshape(-1, 2, ROW // 2)[...] = values[:, : whole // ROW].transpose(1, 0, 2)
    if remnant:
        out[-ROW:] = values[:, -1].reshape(-1)
    return out


def _by_rows(generator, size: int, kind: type, mean: float, std: float, reads_remnant: bool) -> np.ndarray:
    """At least 16 normal numbers, of float32 or float64."""
    out = np.empty(size, kind)
    exact = size <= EXACT_UP_TO
    remnant = size % ROW
    whole = size - remnant
    for start in range(0, whole, CHUNK):
        count = min(CHUNK, whole - start)
        last = remnant and start + count == whole
        # Half precision does not draw for a last row that it would draw again.
        drawn = count + ROW + (remnant if reads_remnant else 0) if last else count
        uniform = doubles(generator.words64(drawn)) if kind is F8 else floats(generator.words(drawn))
        if last:
            uniform = np.concatenate((uniform[:count], uniform[-ROW:]))
        values = _rows(uniform, mean, std, exact)
        out[start : start + count] = values[:count]
        if last:
            out[-ROW:] = values[count:]
    return out


def _pairs_by_libm(uniform: list[float]) -> list[float]:
    """Box-Muller in plain Python, for few numbers faster than numpy and equal to the last bit."""
    out = []
    for u1, u2 in zip(uniform[::2], uniform[1::2], strict=True):
        radius = math.sqrt(-2.0 * math.log1p(-u2))
        angle = u1 * (2 * math.pi)
        out += (radius * math.cos(angle), radius * math.sin(angle))
    return out


def _pairs(uniform: np.ndarray) -> np.ndarray:
    """Box-Muller by numpy's vector functions."""
    out = np.empty(uniform.size)
    radius = np.sqrt(-2.0 * np.log1p(-uniform[1::2]))
    angle = uniform[::2] * (2 * math.pi)
    out[::2] = radius * np.cos(angle)
    out[1::2] = radius * np.sin(angle)
    return out


def _one_by_one(generator, size: int) -> np.ndarray:
    """Standard normal doubles in pairs; the second of an unfinished pair stays in the generator."""
    kept = generator.spare
    fresh = size if kept is None else size - 1
    if fresh < ROW:
        words = generator.words(2 * (fresh + fresh % 2)).tolist()
        few = _pairs_by_libm(
            [
                ((high << 32 | low) & LOW_53) * 2.0**-53
                for high, low in zip(words[::2], words[1::2], strict=True)
            ]
        )
        generator.spare = few.pop() if fresh % 2 else None
        return np.array(few if kept is None else [kept, *few])
    uniform = doubles(generator.words64(fresh + fresh % 2))
    values = np.array(_pairs_by_libm(uniform.tolist())) if size <= LIBM_UP_TO else _pairs(uniform)
    if kept is not None:
        values = np.concatenate(([kept], values))
    generator.spare = float(values[-1]) if fresh % 2 else None
    return values[:size]


def normal_values(
    generator, size: int, np_dtype: np.dtype, mean: float, std: float, serial: bool
) -> np.ndarray:
    """Flat normal numbers of a real dtype. The caller has checked the arguments and holds the lock."""
    if size >= ROW and not serial:
        kind = F8 if np_dtype == F8 else F4
        if kind is F4 and size <= FEW:
            out = _few_rows(generator, size, mean, std, np_dtype.itemsize > 2)
            return out.astype(np_dtype, copy=False)
        out = _by_rows(generator, size, kind, mean, std, reads_remnant=np_dtype.itemsize > 2)
        return out.astype(np_dtype, copy=False)
    if not size:
        return np.empty(0, np_dtype)
    out = _one_by_one(generator, size)
    return (out if mean == 0 and std == 1 else fused(out, std, mean)).astype(np_dtype, copy=False)
