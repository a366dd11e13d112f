"""Symmetric and Hermitian matrices that need not be positive: linalg.ldl_factor, ldl_factor_ex, ldl_solve.

Invariant: only the lower triangle of a matrix is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors, return_types
from ...base.dims import flag
from ...core import out_argument
from ...core.op_factory import op
from ...core.tensor import Tensor
from ...kernels import ldl as kernels
from ...library_name import library
from . import checks
from .lu import _given
from .rows import columns


def _refused(name: str) -> Any:
    def formula(F: Any, g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return formula


def _factors(xp, A, hermitian):
    LD, pivots, info = kernels.factor(checks.host(A), hermitian)
    return columns(xp, xp.asarray(LD)), xp.asarray(pivots), xp.asarray(info)


ldl_factor_row = op(
    "linalg_ldl_factor_ex",
    _factors,
    inputs="A",
    outs=1,
    formula=r"\text{none}",
    A=_refused("linalg_ldl_factor_ex"),
)


def _solution(xp, LD, pivots, B, hermitian):
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    b = np.broadcast_to(checks.host(B), (*batch, *B.shape[-2:]))
    found = kernels.solve(checks.host(LD), checks.host(pivots), b, hermitian)
    return columns(xp, xp.asarray(found))


def _to_b(F: Any, g: Any, LD: Any, pivots: Any, hermitian: bool) -> Any:
    if hermitian:
        return F.linalg_ldl_solve(LD, pivots, g, True)
    return F.conj(F.linalg_ldl_solve(LD, pivots, F.conj(g), False))


ldl_solve_row = op(
    "linalg_ldl_solve",
    _solution,
    inputs="LD pivots B",
    formula={"B": r"\bar B = A^{-H} \bar X"},
    LD=_refused("linalg_ldl_solve"),
    B=lambda F, g, LD, pivots, hermitian: _to_b(F, g, LD, pivots, hermitian),
)


def ldl_factor_ex(A, *, hermitian=False, check_errors=False, out=None):
    """L and D of A = L D L^T in one matrix, the pivots, and which block of D is zero.

    Args:
        A: (*, n, n), symmetric or Hermitian; its lower triangle is read.
        hermitian: whether a complex A is Hermitian: A = L D L^H.
        check_errors: refuse a zero block.
        out: three tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.ldl_factor_ex(vistorch.tensor([[0., 0.], [0., 1.]])).info
        tensor(1, dtype=vistorch.int32)
    """
    checks.tensors("linalg_ldl_factor_ex", A=A)
    hermitian = flag(hermitian, "linalg_ldl_factor_ex", "hermitian")
    check_errors = flag(check_errors, "linalg_ldl_factor_ex", "check_errors")
    if out is not None:
        out_argument.check_outs("linalg_ldl_factor_ex", out, (A,), 3)
    name = f"{library}.linalg.ldl_factor_ex"
    checks.square(name, A)
    if A._data.dtype.kind in "biu":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {checks.scalar(A)}"
        )
    checks.floating(name, A, "ldl_factor_kernel_cpu")
    LD, pivots, info = ldl_factor_row(A, hermitian)
    if check_errors:
        _no_zero(info)
    return _given(return_types.linalg_ldl_factor_ex, (LD, pivots, info), out)


def _no_zero(info: Tensor) -> None:
    found = checks.host(info._data).reshape(-1)
    if found.any():
        i = int(found.nonzero()[0][0])
        where = f"(Batch element {i}): " if info._data.ndim else ""
        raise checks.LinAlgError(
            f"{library}.linalg.ldl_factor: {where}the block of D at {found[i]} is zero, so that the matrix has no "
            "inverse; `ldl_factor_ex` gives its factors all the same."
        )


def ldl_factor(A, *, hermitian=False, out=None):
    """L and D of A = L D L^T in one matrix, and the pivots.

    Args:
        A: (*, n, n), symmetric or Hermitian; its lower triangle is read.
        hermitian: whether a complex A is Hermitian: A = L D L^H.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.ldl_factor(vistorch.tensor([[4., 2.], [2., 3.]])).LD
        tensor([[4.0000, 0.0000],
                [0.5000, 2.0000]])
    """
    checks.tensors("linalg_ldl_factor", A=A)
    if out is not None:
        out_argument.check_outs("linalg_ldl_factor", out, (A,), 2)
    LD, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    _no_zero(info)
    return _given(return_types.linalg_ldl_factor, (LD, pivots), out)


def ldl_solve(LD, pivots, B, *, hermitian=False, out=None):
    """The X for which A X = B, from what `ldl_factor` gives for A.

    Args:
        LD: L and D in one matrix.
        pivots: the pivots.
        B: (*, n, k).
        hermitian: whether a complex A is Hermitian.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> LD, pivots = vistorch.linalg.ldl_factor(vistorch.tensor([[0., 2.], [2., 0.]]))
        >>> vistorch.linalg.ldl_solve(LD, pivots, vistorch.tensor([[2.], [4.]]))
        tensor([[2.],
                [1.]])
    """
    checks.tensors("linalg_ldl_solve", LD=LD, pivots=pivots, B=B)
    hermitian = flag(hermitian, "linalg_ldl_solve", "hermitian")
    if out is not None:
        out_argument.check_out("linalg_ldl_solve", out, (LD, B))
    name = f"{library}.linalg.ldl_solve"
    checks.same_place(name, LD, pivots, B)
    checks.square(name, LD)
    a, p, b = LD._data, pivots._data, B._data
    if b.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected B to have at least 2 dimensions, but it has {b.ndim} dimensions instead"
        )
    if p.shape != a.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{errors.sizes(p.shape)} instead"
        )
    if p.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {checks.scalar(pivots)}")
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {a.shape[-1]} by {a.shape[-1]} but each b matrix "
            f"is {b.shape[-2]} by {b.shape[-1]}"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {checks.scalar(B)} and A of type "
            f"{checks.scalar(LD)} instead."
        )
    checks.floating(name, LD, "ldl_solve_kernel_cpu")
    checks.broadcast(a.shape[:-2], b.shape[:-2])
    _refuse_pivots(name, checks.host(p), a.shape[-1])
    o = ldl_solve_row(LD, pivots, B, hermitian)
    if out is None:
        return o
    if out._data.dtype != o._data.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {checks.native(o)}, but got {checks.native(out)} instead"
        )
    return out_argument.deliver(out, o)


def _refuse_pivots(name: str, p: Any, n: int) -> None:
    """Refuse pivots that are no rows, or the blocks of two that they mark where only one row is left."""
    words = f"{name}: pivots must be those that `ldl_factor` gives for a matrix of {n} rows"
    if p.size and (np.abs(p).min() < 1 or np.abs(p).max() > n):
        raise RuntimeError(words)
    for row in p.reshape(-1, n) if n else ():
        *_, (start, step, _) = kernels.blocks(row)
        if start + step > n:
            raise RuntimeError(words)
