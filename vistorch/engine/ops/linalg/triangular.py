"""Triangular systems, and the diagonal under its name in `linalg`.

Invariant: what lies on the other side of the diagonal is never read.
"""

from __future__ import annotations

from typing import Any

from ...base.dims import flag
from ...core.op_factory import op
from ...core.registry import METHODS
from ...core.tensor import Tensor
from ...kernels import lapack
from . import checks
from .out_types import Style, into
from .rows import columns, mT


def _read(xp, A, upper, unit):
    a = xp.triu(A) if upper else xp.tril(A)
    if unit:
        i = xp.arange(a.shape[-1])
        a[..., i, i] = 1
    return a


def _solve(xp, A, B, upper, left, unitriangular):
    if xp is checks.np and (found := lapack.triangular(A, B, upper, left, unitriangular)) is not None:
        return found
    a = _read(xp, A, upper, unitriangular)
    try:
        if left:
            return columns(xp, checks.lapack(xp, "solve", a, B))
        turned = checks.lapack(xp, "solve", a.swapaxes(-1, -2), B.swapaxes(-1, -2))
        return columns(xp, turned.swapaxes(-1, -2))
    except checks.np.linalg.LinAlgError:
        return _substituted(xp, a, B, upper, left)


def _substituted(xp, a, B, upper, left):
    """Row by row, with the infinities a zero on the diagonal gives."""
    if not left:
        turned = _substituted(xp, a.swapaxes(-1, -2), B.swapaxes(-1, -2), not upper, True)
        return columns(xp, turned.swapaxes(-1, -2))
    n = a.shape[-1]
    shape = checks.broadcast(a.shape[:-2], B.shape[:-2])
    x = xp.array(xp.broadcast_to(B, (*shape, *B.shape[-2:])))
    for i in range(n - 1, -1, -1) if upper else range(n):
        for j in range(i + 1, n) if upper else range(i):
            x[..., i, :] -= a[..., i, j, None] * x[..., j, :]
        x[..., i, :] /= a[..., i, i, None]
    return columns(xp, x)


def _matrix(F: Any, g: Any, A: Any, upper: bool, left: bool, unit: bool, out: Any) -> Any:
    """The gradient of the triangle that was read."""
    b = F.linalg_solve_triangular(mT(F, A), g, not upper, left, unit)
    a = -F.bmm(b, mT(F, out)) if left else -F.bmm(mT(F, out), b)
    weight = 0 if unit else 1
    return mT(F, F.lower(mT(F, a), weight)) if upper else F.lower(a, weight)


solve_triangular_row = op(
    "linalg_solve_triangular",
    _solve,
    inputs="A B",
    formula={"A": r"\bar A = -\mathrm{tri}(\bar B X^T)", "B": r"\bar B = A^{-T} \bar X"},
    A=lambda F, g, A, upper, left, unitriangular, out: _matrix(F, g, A, upper, left, unitriangular, out),
    B=lambda F, g, A, upper, left, unitriangular: F.linalg_solve_triangular(
        mT(F, A), g, not upper, left, unitriangular
    ),
)


def solve_triangular(input, B, *, upper, left=True, unitriangular=False, out=None):
    """The X for which input X = B, with a triangular input.

    Args:
        input: (*, n, n), of which one triangle is read.
        B: (*, n, k).
        upper: which one.
        left: False for X input = B.
        unitriangular: read ones on the diagonal.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.solve_triangular(vistorch.tensor([[2.]]), vistorch.tensor([[4.]]), upper=True)
        tensor([[2.]])
    """
    checks.tensors("linalg_solve_triangular", input=input, B=B)
    if out is not None:
        again = {"upper": upper, "left": left, "unitriangular": unitriangular}
        return into(
            out,
            Style("linalg_solve_triangular", "expected scalar type {want} but found {got}"),
            (input, B),
            lambda: solve_triangular(input, B, **again),
        )
    upper = flag(upper, "linalg_solve_triangular", "upper")
    left = flag(left, "linalg_solve_triangular", "left")
    unitriangular = flag(unitriangular, "linalg_solve_triangular", "unitriangular")
    name = "linalg.solve_triangular"
    checks.same_place(name, input, B)
    checks.square(name, input)
    checks.matrix(name, B, "B")
    a, b = input._data.shape, B._data.shape
    if b[-2 if left else -1] != a[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
            f"{b[-2]}x{b[-1]})"
        )
    checks.broadcast(a[:-2], b[:-2])
    dt = input._data.dtype
    if dt.kind not in "fc" or dt in checks.HALVES:
        raise checks.not_implemented("triangular_solve_cpu", input)
    checks.same_scalar(input, B)
    return solve_triangular_row(input, B, upper, left, unitriangular)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1) -> Tensor:
    """The diagonals of matrices, as a view.

    Args:
        A: (*, m, n).
        offset: which diagonal; above the main one if positive.
        dim1: the first dim of the matrices.
        dim2: the second.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.diagonal(vistorch.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    return METHODS["diagonal"](A, offset, dim1, dim2)
