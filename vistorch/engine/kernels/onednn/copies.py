"""Copies of what lies in another order (transposed matrices, permuted dims), and of half precision to single and back.

Invariant: all bits of an element are copied, nan included; to another type as numpy rounds, but for the bits of a nan.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..addresses import address
from ..threads import share
from .primitives import F4, cached, plain, reorder

_NANOSECONDS = 0.8  # of an element


@cached
def _rows(threads, shape, steps):
    return reorder(plain(shape, steps), plain(shape), threads)


def rows(a: Any) -> Any:
    """A copy by rows of an array of float32 whose strides are positive; None where there is no kernel for it."""
    call = _rows(share(a.size * _NANOSECONDS), a.shape, tuple([s // 4 for s in a.strides]))
    if call is None:
        return None
    out = np.empty(a.shape, F4)
    call(address(a), address(out))
    return out


F2 = np.dtype("f2")
_KINDS = {F2: 1, F4: 3}  # oneDNN's numbers for them


@cached
def _cast(threads, n, source, target):
    return reorder(plain((n,), None, source), plain((n,), None, target), threads)


@cache
def _exact(source: Any, target: Any) -> bool:
    """Whether casts keep the sign of 0: those that oneDNN does without instructions of the processor do not.

    They are slow besides. Which ones it has differs by processor, AVX-512 or not.
    """
    given = np.full(64, -0.0, source)
    out = _cast_by(1, given, target)
    return out is not None and bool(np.signbit(out).all())


def cast(a: Any, dtype: Any) -> Any:
    """A dense array of float16 in float32, or the other way; None where there is no kernel for it."""
    return _cast_by(share(a.size * _NANOSECONDS), a, dtype) if _exact(a.dtype, dtype) else None


def _cast_by(threads: int, a: Any, dtype: Any) -> Any:
    call = _cast(threads, a.size, _KINDS[a.dtype], _KINDS[dtype])
    if call is None:
        return None
    out = np.empty(a.shape, dtype)
    call(address(a), address(out))
    return out
