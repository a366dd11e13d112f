"""Arrays to measure: any shape, any strides, bad values anywhere; and pooling done the slow way."""

import itertools

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

REAL = [np.dtype(t) for t in "? u1 i1 i2 u2 i4 u4 i8 u8 f2 f4 f8".split()]
REAL += [np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)]


def is_float(dtype):
    return dtype.kind in "fV"


def values(dtype, n, rng, spread):
    """n elements, some equal, some extreme, over the whole range where `spread` says so."""
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if spread == "whole":
            return rng.integers(info.min, info.max, n, dtype, endpoint=True)
        return rng.integers(max(-5, info.min), 6, n, dtype)
    if spread == "whole":
        with np.errstate(all="ignore"):
            out = (rng.choice([-1.0, 1.0], n) * np.exp2(rng.uniform(-140, 127, n))).astype(dtype)
            if dtype == np.float64:
                out *= np.exp2(rng.choice([-800.0, 0.0, 800.0]))
        return np.where(np.isfinite(out.astype(np.float64)), out, dtype.type(0)).astype(dtype)
    if spread == "few":
        return rng.choice(np.array([-1.5, -0.0, 0.0, 0.25, 2.0]), n).astype(dtype)
    return (rng.standard_normal(n) + (100 if spread == "offset" else 0)).astype(dtype)


@st.composite
def strided(draw, dtypes=REAL, ranks=4, longest=9, bad=True):
    """An array with steps, turned axes and repeated ones; perhaps with NaN and infinities."""
    dtype = draw(st.sampled_from(dtypes))
    shape = tuple(draw(st.lists(st.integers(0, longest), max_size=ranks)))
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in shape]
    whole = tuple([n * abs(s) for n, s in zip(shape, steps, strict=True)])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from(["normal", "few", "offset", "whole"]))
    base = values(dtype, int(np.prod(whole, dtype=int)), rng, spread).reshape(whole)
    if bad and is_float(dtype) and base.size:
        kinds = (
            [np.nan, np.inf, -np.inf] if np.isinf(np.array(np.inf).astype(dtype).astype("f8")) else [np.nan]
        )
        for _ in range(draw(st.integers(0, 4))):
            at = draw(st.integers(0, base.size - 1))
            base.reshape(-1)[at] = draw(st.sampled_from(kinds))
    out = base[tuple([slice(None, None, s) for s in steps])]
    out = out.transpose(draw(st.permutations(range(len(shape)))))
    for axis in range(out.ndim):
        if out.shape[axis] and draw(st.integers(0, 5)) == 0:
            one = np.take(np.arange(out.shape[axis]), [0])
            out = np.broadcast_to(out[(slice(None),) * axis + (slice(0, one.size),)], out.shape)
    return out


@st.composite
def blocked(draw, **how):
    """An array and a block for it."""
    array = draw(strided(**how))
    return array, tuple([draw(st.integers(1, max(1, n))) for n in array.shape])


def parts(array, block):
    """Each cell's place and the elements of its block."""
    grid = [range(-(-n // k)) for n, k in zip(array.shape, block, strict=True)]
    for cell in itertools.product(*grid):
        yield (
            cell,
            array[tuple([slice(c * k, (c + 1) * k) for c, k in zip(cell, block, strict=True)])].reshape(-1),
        )


def exactly(array):
    """Elements as Python numbers, which lose nothing."""
    return array.astype("f4").tolist() if array.dtype.kind == "V" else array.tolist()
