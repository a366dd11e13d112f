"""The larger or the smaller of each element and one number, at the rate of two long arrays.

numpy takes its vector instructions for two arrays that lie element by element; beside a plain number it takes three
times as long. So the number is written out once, and the array is taken in rows of that length.
Invariant: the bits are those of numpy's function and the number, with nan, infinities and zeros of either sign.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

_WIDTH = 1 << 13
_LEAST = 1 << 12  # elements
_KINDS = {np.dtype("f4"), np.dtype("f8")}


@lru_cache(8)
def _written_out(bound: bytes, kind: Any) -> np.ndarray:
    """The number so many times; its bytes are the key, for 0 and -0 are equal."""
    return np.full(_WIDTH, np.frombuffer(bound, kind)[0])


def bounded(of: Any, x: Any, bound: Any, out: Any = None) -> Any:
    """`of(x, bound, out=out)`, where `of` is `numpy.maximum` or `numpy.minimum` and `bound` a number.

    Args:
        of: which of the two.
        x: an array.
        bound: a Python number, or an array without dims.
        out: where the result goes, which may be `x`; new memory if None.
    """
    if x.__class__ is not np.ndarray or x.size < _LEAST or x.dtype not in _KINDS:
        return of(x, bound, out=out)
    if not x.flags.c_contiguous:
        order = sorted(range(x.ndim), key=lambda i: -x.strides[i])
        turned = x.transpose(order)
        if not turned.flags.c_contiguous or (out is not None and out is not x):
            return of(x, bound, out=out)
        made = bounded(of, turned, bound, None if out is None else turned)
        return made.transpose(np.argsort(order)) if out is None else out
    if out is None:
        out = np.empty(x.shape, x.dtype)
    elif not out.flags.c_contiguous:
        return of(x, bound, out=out)
    row = _written_out(np.asarray(bound, x.dtype).tobytes(), x.dtype)
    flat, made = x.reshape(-1), out.reshape(-1)
    used = flat.size - flat.size % _WIDTH
    of(flat[:used].reshape(-1, _WIDTH), row, out=made[:used].reshape(-1, _WIDTH))
    if used < flat.size:
        of(flat[used:], row[: flat.size - used], out=made[used:])
    return out
