"""Large products: of float32 by oneDNN, of other types by BLAS with all threads, of whole numbers where that is exact.

Invariant: a product is one of numpy's `dot` of matrices or of its `matmul`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import threads
from .switch import onednn, sizes

F4 = np.dtype("f4")
Kernel = Callable[..., Any]
_dot, _matmul = np.dot, np.matmul


def _whole(product: Kernel, a: Any, b: Any) -> Any:
    """A product of whole numbers in double precision, which is exact where no sum can reach 2^53; else None.

    numpy multiplies whole numbers one by one.
    """
    reach = 1.0
    for x in (a, b):
        reach *= max(abs(float(x.max())), abs(float(x.min())))
    if reach * a.shape[-1] >= 2.0**53:
        return None
    return product(a.astype("f8"), b.astype("f8")).astype("i8").astype(a.dtype)


def _are_whole(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.dtype.kind in "iu" and a.size and b.size


def dot(a: Any, b: Any) -> Any:
    """`numpy.dot` of two matrices (or of what else it takes)."""
    if a.ndim == 2 and b.ndim == 2 and a.size * b.shape[1] > sizes.product and a.shape[1] == b.shape[0]:
        if _are_whole(a, b) and (y := _whole(_dot, a, b)) is not None:
            return y
        if a.dtype == F4 and b.dtype == F4:
            if min(a.shape[0], b.shape[1]) > 1 and (onednn.on or onednn.ready()):
                y = onednn.products.matrix(a, b)
                if y is not None:
                    return y
        elif threads.state.alone:
            with threads.blas():
                return _dot(a, b)
    return _dot(a, b)


def matmul(a: Any, b: Any) -> Any:
    """`numpy.matmul` of batches of matrices, or of a matrix and a batch."""
    if max(a.size, b.size) >= sizes.matrices and max(a.ndim, b.ndim) > 2 and min(a.ndim, b.ndim) > 1:
        if _are_whole(a, b) and a.shape[-1] == b.shape[-2] and (y := _whole(_matmul, a, b)) is not None:
            return y
        if a.dtype == F4 and b.dtype == F4:
            if a.size and b.size and not _short(a, b) and (onednn.on or onednn.ready()):
                x, w = _level(a, b.ndim), _level(b, a.ndim)
                if _fit(x.shape, w.shape):
                    y = onednn.products.batched(x, w)
                    if y is not None:
                        return y
        elif threads.state.alone:
            with threads.blas():
                return _matmul(a, b)
    return _matmul(a, b)


def _short(a: Any, b: Any) -> bool:
    """Whether numpy's loop over BLAS ends before oneDNN has begun: little work, as BLAS takes it.

    It looks at sizes alone, never at the number of threads, so that a product does not depend on it.
    """
    return max(a.size * b.shape[-1], b.size * a.shape[-2]) <= sizes.batch and _dense(a) and _dense(b)


def _dense(a: Any) -> bool:
    (rows, columns), (m, n) = a.strides[-2:], a.shape[-2:]
    return (columns == 4 and rows >= 4 * n) or (rows == 4 and columns >= 4 * m)


def dot_of(xp: Any) -> Kernel:
    """`dot` of a library of arrays: for numpy the one above."""
    return dot if xp is np else xp.dot


def matmul_of(xp: Any) -> Kernel:
    """`matmul` of a library of arrays: for numpy the one above."""
    return matmul if xp is np else xp.matmul


def _level(a: Any, ndim: int) -> Any:
    """The array with at least so many dims, the ones in front of size 1."""
    return a if a.ndim >= ndim else a.reshape((1,) * (ndim - a.ndim) + a.shape)


def _fit(x: tuple, w: tuple) -> bool:
    """Whether shapes with as many dims make a product."""
    if x[-1] != w[-2]:
        return False
    return all(n == m or n == 1 or m == 1 for n, m in zip(x[:-2], w[:-2], strict=True))


def solver(plain: Kernel) -> Kernel:
    """A kernel of LAPACK, which uses BLAS: it gets all threads where the matrix is worth it."""

    def run(*args):
        if threads.state.alone and max(getattr(args[0], "shape", ()), default=0) >= sizes.solver:
            with threads.blas():
                return plain(*args)
        return plain(*args)

    run.__name__ = getattr(plain, "__name__", "solver")
    return run
