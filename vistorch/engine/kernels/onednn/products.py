"""Products of matrices and of batches of them, in float32.

Invariant: the result is dense, and what lies transposed is read so, without a copy.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..addresses import address
from ..threads import LONG, share, steady
from .chains import MUL, Then
from .primitives import DST, F4, SRC, WEIGHTS, Call, cached, described, good, lib, plain, strides_of

_FEW = 1 << 15  # elements: fewer are looked through by numpy
_WIDE = 1 << 10
_ONES = np.ones(_WIDE, F4)
_NANOSECONDS = 1 / 40  # of a multiplication and an addition


def _lies(a: Any) -> tuple:
    """(array, whether transposed, distance of rows in elements) for BLAS; copied where it can be neither way."""
    rows, columns = a.shape
    down, along = a.strides
    if a.flags.c_contiguous:  # of one row or column the strides say nothing
        return a, b"N", columns
    if along == 4 and (down >= 4 * columns and down % 4 == 0):
        return a, b"N", down // 4
    if down == 4 and (along >= 4 * rows and along % 4 == 0):
        return a, b"T", along // 4
    return np.ascontiguousarray(a), b"N", columns


def matrix(a: Any, b: Any) -> Any:
    """The product of two matrices."""
    m, k = a.shape
    n = b.shape[1]
    a, turn_a, lda = _lies(a)
    b, turn_b, ldb = _lies(b)
    y = np.empty((m, n), F4)
    threads = lib.allowed(steady(m * n * k * _NANOSECONDS))
    was = lib.enter(threads)
    status = lib.sgemm(turn_a, turn_b, m, n, k, 1.0, address(a), lda, address(b), ldb, 0.0, address(y), n)
    lib.leave(was, threads)
    return None if status else y


def row_sums(x: Any, ones: Any) -> Any:
    """The sum along each row of a dense matrix: the same bits for any number of threads."""
    m, k = x.shape
    y = np.empty(m, F4)
    return None if _gemm(m, 1, k, x, k, ones, 1, y) else y


def has_nan(flat: Any) -> bool:
    """Whether there is a nan in a dense vector in which no two infinities cancel, as softmax and its logarithm make."""
    used = flat.size - flat.size % _WIDE if flat.size >= _FEW else 0
    rest = flat[used:]
    if rest.size and np.isnan(rest.max()):
        return True
    if not used:
        return False
    sums = row_sums(flat[:used].reshape(-1, _WIDE), _ONES)
    return sums is None or bool(np.isnan(sums.max()))


def column_sums(x: Any, ones: Any) -> Any:
    """The sum of the rows of a dense matrix that has few of them: so the bits do not depend on the threads either."""
    k, n = x.shape
    y = np.empty(n, F4)
    return None if _gemm(1, n, k, ones, k, x, n, y) else y


def _gemm(m: int, n: int, k: int, a: Any, lda: int, b: Any, ldb: int, y: Any) -> int:
    threads = lib.allowed(share((m * k + k * n) * LONG))
    was = lib.enter(threads)
    status = lib.sgemm(b"N", b"N", m, n, k, 1.0, address(a), lda, address(b), ldb, 0.0, address(y), n)
    lib.leave(was, threads)
    return status


@cached
def _batched(threads, xs, x_steps, ws, w_steps, ys, y_steps, scaled):
    x, w, y = plain(xs, x_steps), plain(ws, w_steps), plain(ys, y_steps)
    if not scaled:
        pd = good(described("matmul", x, w, None, y, None))
        return Call(pd, ((SRC, x), (WEIGHTS, w)), ((DST, y),), threads, fixed=True)
    with Then(((MUL, (1,) * len(ys)),)) as then:
        pd = good(described("matmul", x, w, None, y, then.attribute))
    return Call(pd, ((SRC, x), (WEIGHTS, w), *then.inputs), ((DST, y),), threads, fixed=True)


def _steps(a: Any) -> tuple:
    """An array that the primitive can read as it lies, and its strides in elements."""
    steps = a.strides
    if a.flags.c_contiguous:  # of a dim of size 1 the stride says nothing
        return a, strides_of(a.shape)
    if 4 in steps[-2:] and all(s > 0 and s % 4 == 0 for s in steps):
        return a, tuple([s // 4 for s in steps])
    return np.ascontiguousarray(a), strides_of(a.shape)


def batched(a: Any, b: Any, out: Any = None, scale: Any = None) -> Any:
    """The products of two batches of matrices with as many dims; those in front are the same, or one of them is 1.

    Args:
        a: the matrices on the left.
        b: the matrices on the right.
        out: where they go, with positive strides and rows or columns that lie together; new memory if None.
        scale: a number that they are multiplied by.
    """
    a, a_steps = _steps(a)
    b, b_steps = _steps(b)
    if out is None:
        lead = [max(pair) for pair in zip(a.shape[:-2], b.shape[:-2], strict=True)]
        ys = (*lead, a.shape[-2], b.shape[-1])
        y, y_steps = np.empty(ys, F4), None
    else:
        y, ys = out, out.shape
        y_steps = None if y.flags.c_contiguous else tuple([s // 4 for s in y.strides])
    work = prod(ys) * a.shape[-1] * _NANOSECONDS
    call = _batched(steady(work), a.shape, a_steps, b.shape, b_steps, ys, y_steps, scale is not None)
    if call is None:
        return None
    if scale is None:
        call(address(a), address(b), address(y))
    else:
        number = np.array((scale,), F4)
        call(address(a), address(b), address(number), address(y))
    return y
