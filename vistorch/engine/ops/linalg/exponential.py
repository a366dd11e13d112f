"""The exponential of matrices, functions that return an error code (`inv_ex` and the like), and older forms.

Invariant: `info` is 0 where all went well; what failed is filled with nan.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import dims, return_types
from ...base.casting import casting
from ...base.dims import flag
from ...base.return_types import make
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import floating
from ...kernels import lu as kernels
from . import checks
from .deprecated import warn_once
from .norms import matrix_norm
from .qr_svd import qr as new_qr
from .qr_svd import svd as new_svd
from .qr_svd import svdvals
from .rows import cols, mH, mT, pad_cols
from .solve import _cholesky, _cholesky_gradient, cholesky, inv, solve


def _exponential_gradient(F: Any, g: Any, A: Any) -> Any:
    """The upper right block of exp [[A^H, G], [0, A^H]]."""
    n = A.shape[-1]
    a = mH(F, A)
    top = pad_cols(F, a, 0, 2 * n) + pad_cols(F, g, n, 2 * n)
    bottom = pad_cols(F, a, n, 2 * n)
    both = mT(F, pad_cols(F, mT(F, top), 0, 2 * n) + pad_cols(F, mT(F, bottom), n, 2 * n))
    out = cols(F, F.linalg_matrix_exp(both), n, 2 * n)
    return mT(F, cols(F, mT(F, out), 0, n))


def _exponential(xp: Any, A: Any) -> Any:
    """In double precision, since squaring doubles the error each time; rounded once."""
    exact = np.finfo(A.dtype).eps / 8
    return kernels.exponential(xp, A.astype("c16" if A.dtype.kind == "c" else "f8"), exact).astype(A.dtype)


matrix_exp_row = op(
    "linalg_matrix_exp",
    _exponential,
    inputs="A",
    holomorphic=False,
    formula=r"\bar A = \left[\exp\begin{pmatrix}A^H & \bar Y\\ 0 & A^H\end{pmatrix}\right]_{12}",
    A=lambda F, g, A: _exponential_gradient(F, g, A),
)


@public()
def matrix_exp(input):
    """The exponential of square matrices: the sum of A^k / k!.

    Args:
        input: (*, n, n).

    Example:
        >>> import vistorch
        >>> vistorch.linalg.matrix_exp(vistorch.tensor([[0., 1.], [0., 0.]]))
        tensor([[1., 1.],
                [0., 1.]])
    """
    checks.tensors("linalg_matrix_exp", A=input)
    checks.square("linalg.matrix_exp", input)
    if not floating(input._data.dtype):
        raise RuntimeError(
            f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {checks.scalar(input)}"
        )
    return matrix_exp_row(input)


# ---- error codes instead of exceptions ------------------------------------------------------------------------------
def _infos(A: Tensor, find: Any) -> np.ndarray:
    """`find(matrix)` of each matrix."""
    a = checks.host(A._data)
    if not a.size:
        return np.zeros(a.shape[:-2], "i4")
    found = [find(one) for one in a.reshape(-1, *a.shape[-2:])]
    return np.array(found, "i4").reshape(a.shape[:-2])


def _bad_minor(one: Any) -> int:
    try:
        found = checks.lapack(np, "cholesky", one)
    except np.linalg.LinAlgError:
        return checks.bad_minor(one)[1]
    return len(one) if (found != found).any() else 0


def _tried(A: Any, run: Any, find: Any, check: bool, name: tuple) -> tuple:
    """`run(A)` and the info; where a matrix fails the result is nan."""
    place = A._place
    try:
        result = run(A)
        info = np.zeros(A._data.shape[:-2], "i4")
    except checks.LinAlgError as refusal:
        if check:
            old, new = name
            raise checks.LinAlgError(str(refusal).replace(old, new, 1)) from None
        info = _infos(A, find)
        failed = wrap(place.xp.asarray((info != 0)[..., None, None]), place)
        one = FUNCTIONS["eye"](A._data.shape[-1], dtype=A.dtype, device=A.device)
        result = METHODS["masked_fill"](run(METHODS["where"](one, failed, A)), failed, float("nan"))
    return result, wrap(place.xp.asarray(info), place)


def _delivered(kind: Any, results: tuple, out: Any) -> Any:
    if out is None:
        return make(kind, results)
    for o, r in zip(out, results, strict=True):
        if o._data.dtype != r._data.dtype:
            raise RuntimeError(
                f"Expected out tensor to have dtype {checks.native(r)}, but got {checks.native(o)} instead"
            )
    return make(kind, tuple([out_argument.deliver(o, r) for o, r in zip(out, results, strict=True)]))


def inv_ex(A, *, check_errors=False, out=None):
    """The inverse of square matrices, and which pivot of each is zero.

    Args:
        A: (*, n, n).
        check_errors: refuse singular matrices.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.inv_ex(vistorch.tensor([[0.]])).info
        tensor(1, dtype=vistorch.int32)
    """
    if casting.on and (recast := casting.ask(inv_ex, locals())):
        return recast[0]
    checks.tensors("linalg_inv_ex", A=A)
    check_errors = flag(check_errors, "linalg_inv_ex", "check_errors")
    if out is not None:
        out_argument.check_outs("linalg_inv_ex", out, (A,))
    results = _tried(A, inv, checks.zero_pivot, check_errors, ("linalg.inv:", "linalg.inv_ex:"))
    return _delivered(return_types.linalg_inv_ex, results, out)


def cholesky_ex(input, *, upper=False, check_errors=False, out=None):
    """The Cholesky factor, and which leading minor of each matrix is not positive-definite.

    Args:
        input: (*, n, n).
        upper: return the upper factor.
        check_errors: refuse matrices that have none.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.cholesky_ex(vistorch.tensor([[4.]])).L
        tensor([[2.]])
    """
    if casting.on and (recast := casting.ask(cholesky_ex, locals())):
        return recast[0]
    checks.tensors("linalg_cholesky_ex", input=input)
    if out is not None:
        out_argument.check_outs("linalg_cholesky_ex", out, (input,))
    check_errors = flag(check_errors, "linalg_cholesky_ex", "check_errors")
    name = ("linalg.cholesky:", "linalg.cholesky_ex:")
    results = _tried(input, lambda t: cholesky(t, upper=upper), _bad_minor, check_errors, name)
    return _delivered(return_types.linalg_cholesky_ex, results, out)


def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """The X for which A X = B, and which pivot of each A is zero.

    Args:
        A: (*, n, n).
        B: (*, n, k) or vectors (*, n).
        left: False for X A = B.
        check_errors: refuse singular matrices.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.solve_ex(vistorch.tensor([[2.]]), vistorch.tensor([[4.]])).result
        tensor([[2.]])
    """
    checks.tensors("linalg_solve_ex", A=A, B=B)
    left = flag(left, "linalg_solve_ex", "left")
    check_errors = flag(check_errors, "linalg_solve_ex", "check_errors")
    if out is not None:
        out_argument.check_outs("linalg_solve_ex", out, (A, B))
    name = ("linalg.solve:", "linalg.solve_ex:")
    results = _tried(A, lambda t: solve(t, B, left=left), checks.zero_pivot, check_errors, name)
    return _delivered(return_types.linalg_solve_ex, results, out)


# ---- older forms ---------------------------------------------------------------------------------------------------
def _not_positive(a, *_):
    where, k = checks.bad_minor(a)
    return (
        f"cholesky: {where}The factorization could not be completed because the input is not positive-definite (the "
        f"leading minor of order {k} is not positive-definite)."
    )


_old_cholesky = op(
    "cholesky",
    checks.guarded(_cholesky, _not_positive),
    holomorphic=False,
    formula=r"\bar A = L^{-H}\, \mathrm{sym}(\mathrm{tril}(L^H \bar L))\, L^{-1}",
    input=lambda F, g, upper, out: _cholesky_gradient(F, g, out, upper),
)


@public("cholesky")
def old_cholesky(input, upper=False, *, out=None):
    """The Cholesky factor; `linalg.cholesky` is the newer form.

    Args:
        input: positive-definite matrices (*, n, n).
        upper: return the upper factor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.cholesky(vistorch.tensor([[4.]]))
        tensor([[2.]])
    """
    if casting.on and (recast := casting.ask(old_cholesky, locals())):
        return recast[0]
    checks.tensors("cholesky", input=input)
    warn_once("cholesky")
    if out is not None:
        out_argument.check_out("cholesky", out, (input,))
    checks.square("cholesky", input)
    if input._data.dtype.kind not in "fc" or input._data.dtype in checks.HALVES:
        raise checks.not_implemented("cholesky_cpu", input)
    o = _old_cholesky(input, flag(upper, "cholesky", "upper"))
    return o if out is None else out_argument.deliver(out, o)


@public("qr")
def old_qr(input, some=True, *, out=None):
    """Q and R; `linalg.qr` is the newer form.

    Args:
        input: (*, m, n).
        some: only as many columns of Q as there are rows of R.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.qr(vistorch.tensor([[2.]])).R.abs()
        tensor([[2.]])
    """
    if casting.on and (recast := casting.ask(old_qr, locals())):
        return recast[0]
    checks.tensors("qr", input=input)
    some = flag(some, "qr", "some")
    warn_once("qr")
    how = "reduced" if some else "complete"
    return make(return_types.qr, tuple(new_qr(input, how, out=out)))


@public("svd")
def old_svd(input, some=True, compute_uv=True, *, out=None):
    """U, S and V (not its transpose); `linalg.svd` is the newer form.

    Args:
        input: (*, m, n).
        some: only the columns that meet a singular value.
        compute_uv: without it, U and V are zero.
        out: three tensors.

    Example:
        >>> import vistorch
        >>> vistorch.svd(vistorch.tensor([[0., 2.], [3., 0.]])).S
        tensor([3., 2.])
    """
    if casting.on and (recast := casting.ask(old_svd, locals())):
        return recast[0]
    checks.tensors("svd", input=input)
    some, compute_uv = flag(some, "svd", "some"), flag(compute_uv, "svd", "compute_uv")
    if out is not None:
        out_argument.check_outs("svd", out, (input,), 3)
    a = input._data
    if a.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {a.ndim} dimensions instead"
        )
    if compute_uv:
        U, S, Vh = new_svd(input, not some)
        results = (U, S, METHODS["transpose"](Vh.conj() if a.dtype.kind == "c" else Vh, -2, -1))
    else:
        S = svdvals(input)
        m, n = a.shape[-2:]
        lead, kind = a.shape[:-2], {"dtype": input.dtype, "device": input.device}
        zeros = FUNCTIONS["zeros"]
        results = (zeros((*lead, m, m), **kind), S, zeros((*lead, n, n), **kind))
    if out is not None:
        results = tuple([out_argument.deliver(o, r) for o, r in zip(out, results, strict=True)])
    return make(return_types.svd, results)


def _old_norm(name: str, instead: str) -> None:
    warnings.warn(
        f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch "
        f"release. Please use `linalg.{instead}` instead",
        UserWarning,
        stacklevel=3,
    )


@public(method=False)
def nuclear_norm(input, dim=None, keepdim=False, *, out=None):
    """The sum of the singular values; `linalg.matrix_norm` is the newer form.

    Args:
        input: (*, m, n).
        dim: the two dims of the matrices.
        keepdim: keep the dims with size 1.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.matrix_norm(vistorch.tensor([[2., 0.], [0., 1.]]), "nuc")
        tensor(3.)
    """
    if casting.on and (recast := casting.ask(nuclear_norm, locals())):
        return recast[0]
    checks.tensors("nuclear_norm", input=input)
    _old_norm("nuclear_norm", "matrix_norm(A, 'nuc', dim, keepdim)")
    if dim is not None and not isinstance(dim, (int, tuple, list)):
        raise TypeError(f"nuclear_norm(): argument 'dim' must be tuple of ints, not {type(dim).__name__}")
    if dim is not None and input._data.ndim > 1:
        dims.many(dim, input._data.ndim, "nuclear_norm")
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, out=out)


def _measured(t: Tensor) -> None:
    """Refuse whole numbers as PyTorch's oldest norm does."""
    if not floating(t._data.dtype):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {checks.scalar(t)} instead."
        )


@public(method=False)
def frobenius_norm(input, dim, keepdim=False, *, out=None):
    """The square root of the sum of the squares; `linalg.vector_norm` is the newer form.

    Args:
        input: a tensor.
        dim: a dim or several; all if empty.
        keepdim: keep the dims with size 1.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.vector_norm(vistorch.tensor([3., 4.]), 2.0, 0)
        tensor(5.)
    """
    if casting.on and (recast := casting.ask(frobenius_norm, locals())):
        return recast[0]
    checks.tensors("frobenius_norm", input=input)
    if not isinstance(dim, (int, tuple, list)):
        raise TypeError(
            f"frobenius_norm(): argument 'dim' (position 2) must be tuple of ints, not {type(dim).__name__}"
        )
    _old_norm("frobenius_norm", "vector_norm(A, 2., dim, keepdim)")
    _measured(input)
    return METHODS["norm"](input, 2, dim, keepdim, out=out)


@public(method=False)
def norm_except_dim(v, pow=2, dim=0):
    """The norms over all dims but one.

    Args:
        v: a tensor.
        pow: the order of the norm.
        dim: the dim that is kept; -1 for the norm of all.

    Example:
        >>> import vistorch
        >>> vistorch.norm_except_dim(vistorch.tensor([[3., 4.], [0., 1.]]))
        tensor([[5.],
                [1.]])
    """
    checks.tensors("norm_except_dim", v=v)
    pow, dim = dims.whole(pow, "norm_except_dim", "pow", 2), dims.whole(dim, "norm_except_dim", "dim", 3)
    if dim == -1:
        _measured(v)
        return METHODS["norm"](v, pow)
    dim = checks.dim_of(v, dim)
    _measured(v)
    axes = [i for i in range(v._data.ndim) if i != dim]
    return METHODS["norm"](v, pow, axes, True) if axes else METHODS["norm"](v, pow)
