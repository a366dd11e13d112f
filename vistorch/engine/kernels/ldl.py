"""Factors of symmetric and Hermitian matrices that need not be positive: L D L^T by the pivoting of Bunch and Kaufman.

D has blocks of one or two rows. Which, depends on the values, so that each matrix goes its own way, on the host.

Invariant: factors, pivots and their signs are those of LAPACK's `sytf2` and `hetf2` for the lower triangle.
"""

import numpy as np

from . import lapack

ALPHA = (1 + 17**0.5) / 8  # balances the growth of both kinds of blocks


def _size(a):
    return np.abs(a.real) + np.abs(a.imag) if a.dtype.kind == "c" else np.abs(a)


def factor(a, hermitian):
    """L and D in one matrix, the pivots, and the first zero block, counted from 1, for a batch on the host."""
    n = a.shape[-1]
    if not a.size:
        return a.copy(), np.zeros(a.shape[:-1], "i4"), np.zeros(a.shape[:-2], "i4")
    if (found := lapack.ldl(a, hermitian)) is not None:
        return found
    both = np.tril(a).reshape(-1, n, n)
    pivots = np.zeros((both.shape[0], n), "i4")
    info = np.zeros(both.shape[0], "i4")
    conjugate = hermitian and a.dtype.kind == "c"
    with np.errstate(all="ignore"):
        for i in range(len(both)):
            info[i] = _one(both[i], pivots[i], conjugate)
    return both.reshape(a.shape), pivots.reshape(a.shape[:-1]), info.reshape(a.shape[:-2])


def _one(A, pivots, conjugate):
    """Factor one lower triangle in place."""
    n, k, info = len(A), 0, 0
    while k < n:
        p, step, is_zero = _pivot(A, k, conjugate)
        last = k + step - 1
        if is_zero:
            info = info or k + 1
            if conjugate:
                A[k, k] = A[k, k].real
        else:
            if p != last:
                _swap(A, k, last, p, step, conjugate)
            elif conjugate:
                A[k, k] = A[k, k].real
                A[last, last] = A[last, last].real
            _eliminate(A, k, step, conjugate)
        pivots[k : last + 1] = p + 1 if step == 1 else -(p + 1)
        k += step
    return info


def _pivot(A, k, conjugate):
    """Which row comes next, in a block of how many, and whether its column is all zero."""
    own = abs(A[k, k].real) if conjugate else _size(A[k, k])
    column = _size(A[k + 1 :, k])
    largest = column.max() if column.size else 0
    if max(own, largest) == 0 or np.isnan(own):
        return k, 1, True
    if own >= ALPHA * largest:
        return k, 1, False
    at = k + 1 + int(column.argmax())
    row = max(_size(A[at, k:at]).max(), _size(A[at + 1 :, at]).max(initial=0))
    if own >= ALPHA * largest * (largest / row):
        return k, 1, False
    other = abs(A[at, at].real) if conjugate else _size(A[at, at])
    return at, (1 if other >= ALPHA * row else 2), False


def _swap(A, k, last, p, step, conjugate):
    """Exchange rows and columns `last` and `p` of what is not factored yet."""
    A[p + 1 :, [last, p]] = A[p + 1 :, [p, last]]
    between = A[last + 1 : p, last].copy()
    A[last + 1 : p, last] = A[p, last + 1 : p]
    A[p, last + 1 : p] = between
    A[last, last], A[p, p] = A[p, p], A[last, last]
    if conjugate:
        A[last + 1 : p + 1, last] = A[last + 1 : p + 1, last].conj()
        A[p, last + 1 : p] = A[p, last + 1 : p].conj()
        A[last, last], A[p, p] = A[last, last].real, A[p, p].real
    if step == 2:
        A[k, k] = A[k, k].real if conjugate else A[k, k]
        A[k + 1, k], A[p, k] = A[p, k], A[k + 1, k]


def _eliminate(A, k, step, conjugate):
    """Take a block's part off the rest, and leave its columns of L."""
    rest = A[k + step :, k + step :]
    x = A[k + step :, k : k + step].copy()
    if not x.size:
        return
    if step == 1:
        columns = x / A[k, k]
    else:  # scaled by the element off the diagonal, which is the largest
        off = A[k + 1, k]
        scale = np.abs(off) if conjugate else off
        unit = off / scale
        d1, d2 = A[k + 1, k + 1] / scale, A[k, k] / scale
        factor = 1 / ((d1 * d2).real - 1 if conjugate else d1 * d2 - 1) / scale
        back = unit.conj() if conjugate else unit
        columns = np.stack(
            [factor * (d1 * x[:, 0] - unit * x[:, 1]), factor * (d2 * x[:, 1] - back * x[:, 0])], 1
        )
    rest -= np.tril(x @ (columns.conj() if conjugate else columns).T)
    if conjugate:
        i = np.arange(len(rest))
        rest[i, i] = rest[i, i].real
    A[k + step :, k : k + step] = columns


def solve(both, pivots, b, hermitian):
    """The X for which L D L^T X = B, for a batch on the host; B is as large as the batch."""
    if not b.size:
        return b.copy()
    if (found := lapack.ldl_solve(both, pivots, b, hermitian)) is not None:
        return found
    n = both.shape[-1]
    batch = b.shape[:-2]
    x = np.array(b).reshape(-1, *b.shape[-2:])
    both = np.broadcast_to(both, (*batch, n, n)).reshape(-1, n, n)
    pivots = np.broadcast_to(pivots, (*batch, n)).reshape(-1, n)
    conjugate = hermitian and both.dtype.kind == "c"
    with np.errstate(all="ignore"):
        for i in range(len(x)):
            _solve_one(both[i], pivots[i], x[i], conjugate)
    return x.reshape(b.shape)


def blocks(pivots):
    """Where each block begins, how many rows it has, and the row it changed places with."""
    k = 0
    while k < len(pivots):
        step = 1 if pivots[k] > 0 else 2
        yield k, step, abs(int(pivots[k])) - 1
        k += step


def _solve_one(A, pivots, x, conjugate):
    steps = list(blocks(pivots))
    for k, step, p in steps:
        last = k + step - 1
        x[[last, p]] = x[[p, last]]
        x[k + step :] -= A[k + step :, k : k + step] @ x[k : k + step]
        if step == 1:
            x[k] /= A[k, k]
            continue
        off = A[k + 1, k]
        back = off.conj() if conjugate else off
        first, second = x[k] / back, x[k + 1] / off
        d1, d2 = A[k, k] / back, A[k + 1, k + 1] / off
        x[k], x[k + 1] = (d2 * first - second) / (d1 * d2 - 1), (d1 * second - first) / (d1 * d2 - 1)
    for k, step, p in reversed(steps):
        low = A[k + step :, k : k + step].T
        x[k : k + step] -= (low.conj() if conjugate else low) @ x[k + step :]
        last = k + step - 1
        x[[last, p]] = x[[p, last]]
