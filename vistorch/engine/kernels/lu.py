"""LU factors with partial pivoting, and the exponential of matrices, for batches.

Invariant: the loops run over columns (or terms), never over the matrices of a large batch.
"""

import math
from typing import Any

import numpy as np

from . import lapack

# Powers of the matrix that are kept, terms of Taylor's series, and how large the rest is where the norm is at most 1/2.
STEPS = (3, 9, 2.0**-27), (4, 12, 2.0**-40), (4, 16, 2.0**-60)
FEW = 64  # matrices whose rows are exchanged one by one


def factor(xp, a):
    """L and U in one matrix, and the pivots, counted from 1 as LAPACK does."""
    m, n = a.shape[-2:]
    steps = min(m, n)
    if not a.size:
        return a.copy(), xp.zeros((*a.shape[:-2], steps), "i4")
    if xp is np and (found := lapack.lu(a)) is not None:
        return found
    flat = a.reshape(-1, m, n).copy()
    pivots = xp.zeros((flat.shape[0], steps), "i4")
    each = xp.arange(flat.shape[0])
    for k in range(steps):
        column = flat[:, k:, k]
        size = xp.abs(column.real) + xp.abs(column.imag) if a.dtype.kind == "c" else xp.abs(column)
        p = size.argmax(1) + k
        pivots[:, k] = p + 1
        top = flat[:, k].copy()
        flat[:, k] = flat[each, p]
        flat[each, p] = top
        pivot = flat[:, k, k]
        below = flat[:, k + 1 :, k] / xp.where(pivot == 0, pivot.dtype.type(1), pivot)[:, None]
        flat[:, k + 1 :, k] = below
        flat[:, k + 1 :, k + 1 :] -= below[:, :, None] * flat[:, k, k + 1 :][:, None, :]
    return flat.reshape(a.shape), pivots.reshape((*a.shape[:-2], steps))


def _exchanged(rows, pivots):
    for k, p in enumerate(pivots):
        rows[k], rows[p - 1] = rows[p - 1], rows[k]
    return rows


def order(xp, pivots, m):
    """Where each row of P^T A comes from, for the swaps of `pivots`."""
    flat = pivots.reshape((math.prod(pivots.shape[:-1]), pivots.shape[-1]))
    if xp is np and len(flat) <= FEW:
        rows = np.array([_exchanged(list(range(m)), one) for one in flat.tolist()], "i8")
        return rows.reshape((*pivots.shape[:-1], m))
    rows = xp.zeros((flat.shape[0], m), "i8") + xp.arange(m)
    each = xp.arange(flat.shape[0])
    for k in range(flat.shape[1]):
        p = flat[:, k] - 1
        top = rows[:, k].copy()
        rows[:, k] = rows[each, p]
        rows[each, p] = top
    return rows.reshape((*pivots.shape[:-1], m))


def permutation(xp, pivots, m, dtype):
    """The matrix P of A = P L U."""
    rows = order(xp, pivots, m)
    return (rows[..., None, :] == xp.arange(m)[:, None]).astype(dtype)


def info(xp, lu):
    """The first zero pivot of each matrix, counted from 1; 0 where there is none."""
    steps = min(lu.shape[-2:])
    if not steps:
        return xp.zeros(lu.shape[:-2], "i4")
    if xp is np and lu.diagonal(0, -2, -1).all():
        return np.zeros(lu.shape[:-2], "i4")
    i = xp.arange(steps)
    zero = lu[..., i, i] == 0
    return xp.where(zero.any(-1), zero.argmax(-1) + 1, 0).astype("i4")


def exponential(xp, a, exact=0.0):
    """exp(A): Taylor's series of A / 2^s, as a polynomial in one of its powers, squared s times.

    Args:
        xp: the library of arrays.
        a: the matrices.
        exact: the relative error that the series may leave, which each squaring doubles.
    """
    n = a.shape[-1]
    if not a.size:
        return a.copy()
    norm = float(xp.abs(a).sum(-2).max())
    squarings = max(0, math.ceil(math.log2(norm / 0.5))) if 0.5 < norm < math.inf else 0
    a = a / a.dtype.type(2.0**squarings)
    found = [step for step in STEPS if step[2] * 2.0**squarings <= exact]
    width, terms, _ = found[0] if found else STEPS[-1]
    powers = [xp.eye(n, dtype=a.dtype), a]
    while len(powers) <= width:
        powers.append(powers[-1] @ a)
    out: Any = None
    for k in reversed(range(0, terms, width)):  # Horner's scheme in a^width
        part = powers[0] / math.factorial(k)
        for j in range(1, min(width, terms - k)):
            part = part + powers[j] / math.factorial(k + j)
        out = part if out is None else part + powers[width] @ out
    for _ in range(squarings):
        out = out @ out
    return out
