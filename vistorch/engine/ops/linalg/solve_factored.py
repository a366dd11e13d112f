"""Solutions from factors that are known: lu_solve, cholesky_solve, cholesky_inverse, triangular_solve.

Invariant: of a triangular factor only its triangle is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors, return_types
from ...base.casting import casting
from ...base.dims import flag
from ...base.return_types import make
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import lapack
from ...kernels import lu as kernels
from ...library_name import library
from . import checks
from .deprecated import warn_once
from .lu import I4, _unpacked, _upper
from .rows import by_columns, columns, mH, mT
from .triangular import _matrix
from .triangular import _solve as _triangle


def _h(a):
    a = a.swapaxes(-1, -2)
    return a.conj() if a.dtype.kind == "c" else a


def _lu_solve(xp, LU, pivots, B, left, adjoint):
    if not left:
        return _h(_lu_solve(xp, LU, pivots, _h(B), True, not adjoint))
    if xp is np and (found := lapack.lu_solve(LU, pivots, B, adjoint)) is not None:
        return found
    P = kernels.permutation(xp, pivots, LU.shape[-1], LU.dtype)
    if adjoint:
        y = _triangle(xp, _h(LU), B, False, True, False)
        return columns(xp, P @ _triangle(xp, _h(LU), y, True, True, True))
    y = _triangle(xp, LU, P.swapaxes(-1, -2) @ B, False, True, True)
    return columns(xp, _triangle(xp, LU, y, True, True, False))


def _lu_solve_factor(F: Any, g: Any, LU: Any, pivots: Any, X: Any, left: bool, adjoint: bool) -> Any:
    if not left:
        return _lu_solve_factor(F, mH(F, g), LU, pivots, mH(F, X), True, not adjoint)
    low, up = _unpacked(F, LU)
    kind = LU.dtype if isinstance(LU.dtype, np.dtype) else LU.dtype.np
    P = F.lu_permutation(pivots, LU.shape[-1], kind)
    if adjoint:
        y = F.bmm(mT(F, P), X)
        gw = F.linalg_solve_triangular(low, F.bmm(mT(F, P), g), False, True, True)
        gL = -F.bmm(y, mH(F, gw))
        w = F.bmm(mH(F, low), y)
        gU = -F.bmm(w, mH(F, F.linalg_solve_triangular(up, gw, True, True, False)))
    else:
        gw = F.linalg_solve_triangular(mH(F, up), g, False, True, False)
        gU = -F.bmm(gw, mH(F, X))
        w = F.linalg_solve_triangular(mH(F, low), gw, True, True, True)
        gL = -F.bmm(w, mH(F, F.bmm(up, X)))
    return F.lower(gL, 0) + _upper(F, gU)


lu_solve_row = op(
    "linalg_lu_solve",
    _lu_solve,
    inputs="LU pivots B",
    holomorphic=False,
    formula={"LU": r"\bar U = -\mathrm{triu}(U^{-H} \bar X X^H)", "B": r"\bar B = A^{-H} \bar X"},
    LU=lambda F, g, LU, pivots, out, left, adjoint: _lu_solve_factor(F, g, LU, pivots, out, left, adjoint),
    B=lambda F, g, LU, pivots, left, adjoint: F.linalg_lu_solve(LU, pivots, g, left, not adjoint),
)


def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """The X for which A X = B, from the factors of A.

    Args:
        LU: L and U in one matrix, as `lu_factor` gives them.
        pivots: the pivots.
        B: (*, n, k).
        left: False for X A = B.
        adjoint: take the conjugate transpose of A.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> LU, pivots = vistorch.linalg.lu_factor(vistorch.tensor([[2., 0.], [0., 4.]]))
        >>> vistorch.linalg.lu_solve(LU, pivots, vistorch.tensor([[2.], [2.]]))
        tensor([[1.0000],
                [0.5000]])
    """
    checks.tensors("linalg_lu_solve", LU=LU, pivots=pivots, B=B)
    if out is not None:
        out_argument.check_out("linalg_lu_solve", out, (LU, B))
    left = flag(left, "linalg_lu_solve", "left")
    adjoint = flag(adjoint, "linalg_lu_solve", "adjoint")
    name = "linalg.lu_solve"
    checks.same_place(name, LU, pivots, B)
    a, p, b = LU._data, pivots._data, B._data
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type {checks.scalar(LU)} and B of type "
            f"{checks.scalar(B)} instead"
        )
    if a.dtype.kind in "biu":
        checks.floating(f"{library}.linalg.lu_solve", LU)
    if p.dtype != I4:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type {library}.int32")
    checks.square(f"{library}.linalg.lu_solve", LU)
    checks.matrix(name, B, "B")
    if b.shape[-2 if left else -1] != a.shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({a.shape[-2]}x{a.shape[-1]} and "
            f"{b.shape[-2]}x{b.shape[-1]})"
        )
    if p.shape[-1:] != a.shape[-1:]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if p.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{errors.sizes(p.shape)} instead"
        )
    checks.broadcast(a.shape[:-2], b.shape[:-2])
    for bad, words in (
        ((p < 1).any(), "greater or equal to 1"),
        ((p > a.shape[-1]).any(), "smaller or equal to LU.size(-2)"),
    ):
        if bad:
            raise RuntimeError(
                f"Pivots given to lu_solve must all be {words}. Did you properly pass the result of lu_factor?"
            )
    checks.floating(f"{library}.linalg.lu_solve", LU, "linalg.lu_solve_cpu")
    o = lu_solve_row(LU, pivots, B, left, adjoint)
    if out is None:
        return o
    if out._data.dtype != a.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {checks.native(LU)}, but got {checks.native(out)} instead"
        )
    return out_argument.deliver(out, o)


@public("lu_solve")
def old_lu_solve(input, LU_data, LU_pivots, *, out=None):
    """The X for which A X = input; `linalg.lu_solve` is the newer form.

    Args:
        input: (*, n, k).
        LU_data: L and U in one matrix.
        LU_pivots: the pivots.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> LU, pivots = vistorch.linalg.lu_factor(vistorch.tensor([[2.]]))
        >>> vistorch.linalg.lu_solve(LU, pivots, vistorch.tensor([[4.]]))
        tensor([[2.]])
    """
    if casting.on and (recast := casting.ask(old_lu_solve, locals())):
        return recast[0]
    checks.tensors("lu_solve", input=input, LU_data=LU_data, LU_pivots=LU_pivots)
    warn_once("lu_solve")
    return lu_solve(LU_data, LU_pivots, input, out=out)


def _whole(xp, A, upper):
    """The matrix whose Cholesky factor is given."""
    t = xp.triu(A) if upper else xp.tril(A)
    return _h(t) @ t if upper else t @ _h(t)


def _cholesky_factor(F: Any, g: Any, X: Any, A: Any, upper: bool) -> Any:
    common = F.bmm(g, mH(F, X))
    common = common + mH(F, common)
    return -F.bmm(A, common) if upper else -F.bmm(common, A)


def _by_cholesky(xp, input, input2, upper):
    if xp is np and (found := lapack.cholesky_solve(input, input2, upper)) is not None:
        return found
    t = xp.triu(input2) if upper else xp.tril(input2)
    first, second = (_h(t), t) if upper else (t, _h(t))
    return _triangle(xp, second, _triangle(xp, first, input, False, True, False), True, True, False)


cholesky_solve_row = op(
    "cholesky_solve",
    by_columns(_by_cholesky),
    inputs="input input2",
    holomorphic=False,
    formula={"input": r"\bar B = A^{-1} \bar X", "input2": r"\bar L = -(G X^H + X G^H) L,\ G = A^{-1}\bar X"},
    input=lambda F, g, input2, upper: F.cholesky_solve(g, input2, upper),
    input2=lambda F, g, input2, upper, out: _cholesky_factor(
        F, F.cholesky_solve(g, input2, upper), out, input2, upper
    ),
)


def _pair(name: str, b: Tensor, A: Tensor) -> None:
    """The checks PyTorch's older solvers share."""
    checks.same_place(name, b, A)
    x, a = b._data, A._data
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices"
        )
    if a.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {a.shape[-1]} by {a.shape[-1]} but each b matrix "
            f"is {x.shape[-2]} by {x.shape[-1]}"
        )
    checks.broadcast(x.shape[:-2], a.shape[:-2])


def _same_type(b: Tensor, A: Tensor) -> None:
    if b._data.dtype != A._data.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {checks.scalar(b)} and A of type "
            f"{checks.scalar(A)} instead."
        )


def _plain(kernel: str, t: Tensor) -> None:
    if t._data.dtype.kind not in "fc" or t._data.dtype in checks.HALVES:
        raise checks.not_implemented(kernel, t)


@public()
def cholesky_solve(input, input2, upper=False, *, out=None):
    """The X for which A X = input, from the Cholesky factor of A.

    Args:
        input: (*, n, k).
        input2: the factor (*, n, n).
        upper: it is the upper one.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.cholesky_solve(vistorch.tensor([[4.]]), vistorch.tensor([[2.]]))
        tensor([[1.]])
    """
    if casting.on and (recast := casting.ask(cholesky_solve, locals())):
        return recast[0]
    checks.tensors("cholesky_solve", input=input, input2=input2)
    if out is not None:
        out_argument.check_out("cholesky_solve", out, (input, input2))
    for t, letter in ((input, "b"), (input2, "u")):
        if t._data.ndim < 2:
            raise RuntimeError(
                f"{letter} should have at least 2 dimensions, but has {t._data.ndim} dimensions instead"
            )
    _same_type(input, input2)
    _pair("cholesky_solve", input, input2)
    _plain("cholesky_solve_cpu", input)
    o = cholesky_solve_row(input, input2, flag(upper, "cholesky_solve", "upper"))
    return o if out is None else out_argument.deliver(out, o)


def _no_inverse(a, *_):
    for where, one in checks._each(a):
        zero = np.diagonal(one) == 0
        if zero.any():
            return (
                f"cholesky_inverse: {where}The diagonal element {int(zero.argmax()) + 1} is zero, the inversion could "
                "not be completed because the input matrix is singular."
            )
    return "cholesky_inverse: the input matrix is singular."


def _inverse(xp, input, upper):
    n = input.shape[-1]
    i = xp.arange(n)
    if (input[..., i, i] == 0).any():
        raise np.linalg.LinAlgError
    if xp is np and (found := lapack.cholesky_inverse(input, upper)) is not None:
        return found
    return _by_cholesky(xp, xp.zeros_like(input) + xp.eye(n, dtype=input.dtype), input, upper)


def _inverse_gradient(F: Any, g: Any, L: Any, inverse: Any, upper: bool) -> Any:
    common = F.bmm(F.bmm(inverse, g + mH(F, g)), inverse)
    return -F.bmm(L, common) if upper else -F.bmm(common, L)


cholesky_inverse_row = op(
    "cholesky_inverse",
    by_columns(checks.guarded(_inverse, _no_inverse)),
    holomorphic=False,
    formula=r"\bar L = -A^{-1}(\bar B + \bar B^H)A^{-1} L",
    input=lambda F, g, input, upper, out: _inverse_gradient(F, g, input, out, upper),
)


@public()
def cholesky_inverse(input, upper=False, *, out=None):
    """The inverse of A, from its Cholesky factor.

    Args:
        input: the factor (*, n, n).
        upper: it is the upper one.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.cholesky_inverse(vistorch.tensor([[2.]]))
        tensor([[0.2500]])
    """
    if casting.on and (recast := casting.ask(cholesky_inverse, locals())):
        return recast[0]
    checks.tensors("cholesky_inverse", input=input)
    if out is not None:
        out_argument.check_out("cholesky_inverse", out, (input,))
    checks.square("cholesky_inverse", input)
    _plain("cholesky_inverse_out_cpu", input)
    o = cholesky_inverse_row(input, flag(upper, "cholesky_inverse", "upper"))
    return o if out is None else out_argument.deliver(out, o)


def _old_triangular(xp, b, A, upper, transpose, unitriangular):
    a = A.swapaxes(-1, -2) if transpose else A
    return _triangle(xp, a, b, upper is not transpose, True, unitriangular), xp.array(A)


def _old_gradient(F: Any, g: list, A: Any, X: Any, upper: bool, transpose: bool, unit: bool) -> Any:
    a = None
    if g[0] is not None:
        a = _matrix(F, g[0], mT(F, A) if transpose else A, upper is not transpose, True, unit, X)
        a = mT(F, a) if transpose else a
    return a if g[1] is None else g[1] if a is None else a + g[1]


triangular_row = op(
    "triangular_solve",
    by_columns(_old_triangular),
    inputs="b A",
    outs=2,
    formula={"b": r"\bar B = A^{-T} \bar X", "A": r"\bar A = -\mathrm{tri}(\bar B X^T)"},
    b=lambda F, g, A, upper, transpose, unitriangular: (
        None
        if g[0] is None
        else F.linalg_solve_triangular(
            A if transpose else mT(F, A), g[0], upper is transpose, True, unitriangular
        )
    ),
    A=lambda F, g, A, out, upper, transpose, unitriangular: _old_gradient(
        F, g, A, out, upper, transpose, unitriangular
    ),
)


@public()
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """The X for which A X = b, with a triangular A; `linalg.solve_triangular` is the newer form.

    Args:
        b: (*, n, k).
        A: (*, n, n), of which one triangle is read.
        upper: which one.
        transpose: solve with the transpose of A.
        unitriangular: read ones on the diagonal.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.solve_triangular(vistorch.tensor([[2.]]), vistorch.tensor([[4.]]), upper=True)
        tensor([[2.]])
    """
    if casting.on and (recast := casting.ask(triangular_solve, locals())):
        return recast[0]
    checks.tensors("triangular_solve", b=b, A=A)
    warn_once("triangular_solve")
    if out is not None:
        out_argument.check_outs("triangular_solve", out, (b, A))
    for t, letter in ((b, "b"), (A, "A")):
        if t._data.ndim < 2:
            raise RuntimeError(
                f"{library}.triangular_solve: Expected {letter} to have at least 2 dimensions, but it has "
                f"{t._data.ndim} dimensions instead"
            )
    _same_type(b, A)
    _pair("triangular_solve", b, A)
    _plain("triangular_solve_cpu", b)
    results = triangular_row(
        b,
        A,
        flag(upper, "triangular_solve", "upper"),
        flag(transpose, "triangular_solve", "transpose"),
        flag(unitriangular, "triangular_solve", "unitriangular"),
    )
    if out is not None:
        results = tuple([out_argument.deliver(o, r) for o, r in zip(out, results, strict=True)])
    return make(return_types.triangular_solve, results)
