"""Inverses, solutions, Cholesky factors and powers of matrices.

Invariant: a singular matrix is PyTorch's sentence about which pivot is zero, never numpy's error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.casting import casting
from ...base.dims import fits, flag
from ...base.errors import broadcast
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from ...library_name import library
from . import checks
from .out_types import Style, castable, into
from .rows import by_columns, col, columns, mH, mT


def _no_inverse(a):
    where, k = checks.singular(a)
    return (
        f"linalg.inv: {where}The diagonal element {k} is zero, the inversion could not be completed because the input "
        "matrix is singular."
    )


def _no_solution(a, *_):
    return f"{library}.linalg.solve: {checks.singular(a)[0]}The solver failed because the input matrix is singular."


def _not_positive(a, *_):
    where, k = checks.bad_minor(a)
    return (
        f"linalg.cholesky: {where}The factorization could not be completed because the input is not positive-definite "
        f"(the leading minor of order {k} is not positive-definite)."
    )


def _solve(xp, A, B, left, vector):
    if vector:
        return columns(xp, checks.lapack(xp, "solve", A, B[..., None])[..., 0])
    if left:
        return columns(xp, checks.lapack(xp, "solve", A, B))
    return columns(xp, checks.lapack(xp, "solve", A.swapaxes(-1, -2), B.swapaxes(-1, -2))).swapaxes(-1, -2)


def _solve_matrix(F: Any, g: Any, A: Any, left: bool, vector: bool, out: Any) -> Any:
    """The gradient of the matrix of a linear system."""
    b = F.linalg_solve(mT(F, A), g, left, vector)
    if vector:
        return -(col(F, b) * F.unsqueeze(out, out.ndim - 1))
    return -F.bmm(b, mT(F, out)) if left else -F.bmm(mT(F, out), b)


inv_row = op(
    "linalg_inv",
    by_columns(checks.guarded(lambda xp, A: checks.lapack(xp, "inv", A), _no_inverse)),
    inputs="A",
    name_in_graph="LinalgInvExBackward0",
    formula=r"\bar A = -A^{-T} \bar B A^{-T}",
    A=lambda F, g, out: -F.bmm(mT(F, out), F.bmm(g, mT(F, out))),
)
solve_row = op(
    "linalg_solve",
    checks.guarded(_solve, _no_solution),
    inputs="A B",
    name_in_graph="LinalgSolveExBackward0",
    formula={"A": r"\bar A = -\bar B X^T", "B": r"\bar B = A^{-T} \bar X"},
    A=lambda F, g, A, left, vector, out: _solve_matrix(F, g, A, left, vector, out),
    B=lambda F, g, A, left, vector: F.linalg_solve(mT(F, A), g, left, vector),
)


def _cholesky_gradient(F: Any, g: Any, L: Any, upper: bool) -> Any:
    if upper:
        g, L = mH(F, g), mH(F, L)
    product = F.bmm(mH(F, L), g)
    phi = (F.lower(product, 1) + mH(F, F.lower(product, 0))) / 2
    return F.linalg_solve(mH(F, L), F.linalg_solve(L, phi, False, False), True, False)


def _cholesky(xp, input, upper):
    out = _factored(xp, input, upper)
    if (
        out.size and (out[..., -1, -1] != out[..., -1, -1]).any()
    ):  # a nan anywhere on the diagonal ends up here
        raise np.linalg.LinAlgError
    return out


def _factored(xp, input, upper):
    if not upper:
        return columns(xp, checks.lapack(xp, "cholesky", input))
    turned = xp.triu(input).swapaxes(-1, -2)
    return (
        checks.lapack(xp, "cholesky", turned.conj() if turned.dtype.kind == "c" else turned)
        .swapaxes(-1, -2)
        .conj()
    )


cholesky_row = op(
    "linalg_cholesky",
    checks.guarded(_cholesky, _not_positive),
    holomorphic=False,
    name_in_graph="LinalgCholeskyExBackward0",
    formula=r"\bar A = L^{-H}\, \mathrm{sym}(\mathrm{tril}(L^H \bar L))\, L^{-1}",
    input=lambda F, g, upper, out: _cholesky_gradient(F, g, out, upper),
)


def inv(A, *, out=None):
    """The inverse of square matrices.

    Args:
        A: (*, n, n).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.inv(vistorch.tensor([[2., 0.], [0., 4.]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    if casting.on and (recast := casting.ask(inv, locals())):
        return recast[0]
    checks.tensors("linalg_inv", A=A)
    if out is not None:
        return into(out, Style("linalg_inv_ex"), (A,), inv, A)
    checks.square("linalg.inv", A)
    return inv_row(checks.floating("linalg.inv", A))


@public()
def inverse(input, *, out=None):
    """The inverse of square matrices: `linalg.inv`.

    Args:
        input: (*, n, n).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.inverse(vistorch.tensor([[2.]]))
        tensor([[0.5000]])
    """
    if casting.on and (recast := casting.ask(inverse, locals())):
        return recast[0]
    checks.tensors("inverse", input=input)
    return inv(input, out=out)


def solve(A, B, *, left=True, out=None):
    """The X for which A X = B.

    Args:
        A: (*, n, n).
        B: (*, n, k) or vectors (*, n).
        left: False for X A = B.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.solve(vistorch.tensor([[2., 0.], [0., 4.]]), vistorch.tensor([2., 2.]))
        tensor([1.0000, 0.5000])
    """
    if casting.on and (recast := casting.ask(solve, locals())):
        return recast[0]
    checks.tensors("linalg_solve", A=A, B=B)
    if out is not None:
        return into(out, Style("_linalg_solve_ex"), (A, B), lambda: solve(A, B, left=left))
    left = flag(left, "linalg_solve", "left")
    name = "linalg.solve"
    checks.same_place(name, A, B)
    if A._data.dtype.kind in "biu":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {checks.scalar(A)}"
        )
    if A._data.dtype != B._data.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {checks.scalar(A)} and B of type "
            f"{checks.scalar(B)} instead"
        )
    a, b = A._data.shape, B._data.shape
    vector = len(b) == 1 or (len(a) - 1 == len(b) and b == a[:-1])
    checks.square(name, A)
    if not vector:
        checks.matrix(name, B, "B")
    rows = (*b, 1) if vector else b
    if rows[-2 if left else -1] != a[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
            f"{rows[-2]}x{rows[-1]})"
        )
    if vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    said = broadcast(rows[:-2], a[:-2])
    if said is not None:
        raise RuntimeError(said)
    checks.floating(name, A, "lu_cpu")
    return solve_row(A, B, left, vector)


def cholesky(input, *, upper=False, out=None):
    """The lower triangular L for which A = L L^H.

    Args:
        input: positive-definite matrices (*, n, n).
        upper: return L^H instead.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.cholesky(vistorch.tensor([[4., 0.], [0., 9.]]))
        tensor([[2., 0.],
                [0., 3.]])
    """
    if casting.on and (recast := casting.ask(cholesky, locals())):
        return recast[0]
    checks.tensors("linalg_cholesky", input=input)
    if out is not None:
        return into(out, Style("linalg_cholesky_ex"), (input,), lambda: cholesky(input, upper=upper))
    checks.square("linalg.cholesky", input)
    return cholesky_row(
        checks.floating("linalg.cholesky", input, "cholesky_cpu"), flag(upper, "linalg_cholesky", "upper")
    )


def _power_style(n: int, out: Any) -> Style:
    """How `matrix_power` words its refusal of an `out`."""
    cast = castable("matrix_power")
    if n == 0 or out._data.dtype.kind in "biu":
        return cast
    return Style("linalg_inv_ex" if n == -1 else "matmul")


def matrix_power(input, n, *, out=None):
    """Input square matrix multiplied with itself; negative powers are those of the inverse.

    Args:
        input: (*, m, m).
        n: how many times.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.matrix_power(vistorch.tensor([[1., 1.], [0., 1.]]), 3)
        tensor([[1., 3.],
                [0., 1.]])
    """
    checks.tensors("linalg_matrix_power", input=input)
    if n.__class__ is not int:
        raise TypeError(
            f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        )
    fits(n)
    if out is not None:
        if not isinstance(out, Tensor):
            out_argument.check_out("linalg_matrix_power", out)
        return into(out, _power_style(n, out), (input,), matrix_power, input, n)
    checks.square("linalg.matrix_power", input)
    if n == 0:
        return powers_start(input)
    if n == 1:
        return METHODS["clone"](input)
    if n < 0:
        input = inv(input)
        n = -n
    if n == 1:
        return input
    if n == 3:
        return input @ input @ input
    result = None
    square = input
    while n:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        if n:
            square = square @ square
    return result


def _identity(xp, input):
    out = xp.zeros_like(input)
    i = xp.arange(input.shape[-1])
    out[..., i, i] = 1
    return out


powers_start = op(
    "matrix_power_zero",
    _identity,
    name_in_graph="CopyBackwards",
    formula=r"\bar A = 0",
    input=lambda F, g: F.zeros_like(g),
)


@public("matrix_power")
def plain_matrix_power(input, n, *, out=None):
    """A square matrix multiplied with itself: `linalg.matrix_power`.

    Args:
        input: (*, m, m).
        n: how many times.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.matrix_power(vistorch.tensor([[2.]]), 3)
        tensor([[8.]])
    """
    return matrix_power(input, n, out=out)
