"""What stands on singular values: pseudo-inverse, rank, condition number, least squares.

Invariant: a singular value counts as zero by PyTorch's rule, the larger of `atol` and `rtol` times the largest.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...base import errors
from ...base.casting import casting
from ...base.dims import flag
from ...base.return_types import linalg_lstsq, make
from ...core.op_factory import HALVES, op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import number
from ...library_name import library
from ..shape.rows import squeeze_dim
from . import checks
from .norms import matrix_norm, norm_of_nothing
from .out_types import castable, into
from .qr_svd import svdvals
from .rows import columns, mH
from .solve import inv
from .triangular import _solve as solved

NOT_FINITE = (
    "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
)


def _check_tolerances(func: str, *given: Any) -> None:
    """Refuse tolerances that are neither numbers nor tensors."""
    for value in given:
        if value is not None and not isinstance(value, Tensor) and number(value) is None:
            raise TypeError(
                f"{func}() received an invalid combination of arguments - got a tolerance of type "
                f"{type(value).__name__}"
            )


def _number(value: Any) -> Any:
    """A tolerance as a number or an array that meets the singular values."""
    return value._data[..., None] if isinstance(value, Tensor) else value


def _tolerance(a: Any, s: Any, atol: Any, rtol: Any) -> Any:
    """From where on singular values (or moduli of eigenvalues) count."""
    if rtol is None:
        given = atol is not None and (isinstance(atol, Tensor) or atol > 0)
        rtol = 0.0 if given else np.finfo(s.dtype).eps * max(a.shape[-2:])
    largest = s.max(-1, keepdims=True) if s.shape[-1] else s
    tol = largest * _number(rtol)
    return tol if atol is None else np.maximum(tol, _number(atol))


def _pinv(xp, A, atol, rtol, hermitian):
    if A.size == 0:
        return xp.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    if hermitian:
        s, v = checks.lapack(xp, "eigh", A)
        keep = xp.abs(s) > _tolerance(A, xp.abs(s), atol, rtol)
        u, vh = v, v.swapaxes(-1, -2).conj()
    else:
        u, s, vh = checks.lapack(xp, "svd", A, False)
        keep = s > _tolerance(A, s, atol, rtol)
    inverse = xp.where(keep, 1 / xp.where(keep, s, 1), 0).astype(s.dtype)
    return (vh.swapaxes(-1, -2).conj() * inverse[..., None, :]) @ u.swapaxes(-1, -2).conj()


def _pinv_gradient(F: Any, g: Any, A: Any, P: Any) -> Any:
    """DP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P."""
    ph, gh = mH(F, P), mH(F, g)
    a = F.bmm(F.bmm(gh, P), ph)
    b = F.bmm(F.bmm(ph, P), gh)
    return a - F.bmm(A, F.bmm(P, a)) + b - F.bmm(F.bmm(b, P), A) - F.bmm(ph, F.bmm(g, ph))


pinv_row = op(
    "linalg_pinv",
    checks.guarded(
        _pinv,
        lambda *_: NOT_FINITE,
    ),
    inputs="A",
    holomorphic=False,
    formula=r"\bar A = -P^H\bar P P^H + (I-AP)\bar P^H P P^H + P^H P \bar P^H (I-PA)",
    A=lambda F, g, A, out: _pinv_gradient(F, g, A, out),
)


def pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The pseudo-inverse (Moore-Penrose) of matrices.

    Args:
        input: (*, m, n).
        rcond: the old name of `rtol`.
        hermitian: whether input is; eigenvalues are then used.
        atol: singular values up to this are zero.
        rtol: singular values up to this share of the largest are zero.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.pinv(vistorch.tensor([[2., 0.], [0., 0.]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
    """
    checks.tensors("linalg_pinv", input=input)
    _check_tolerances("linalg_pinv", rcond, atol, rtol)
    if out is not None:
        return into(
            out,
            castable("linalg.pinv", refuses=None if rtol or atol else "linalg_pinv"),
            (input,),
            lambda: pinv(input, rcond, hermitian, atol=atol, rtol=rtol),
        )
    d = input._data
    if d.ndim < 2 or d.dtype in HALVES or d.dtype.kind in "biu":
        raise RuntimeError(
            f"linalg.pinv({checks.scalar(input)}{{{errors.sizes(d.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        checks.square("linalg.eigh", input)
    input = checks.floating("linalg.pinv", input)
    return pinv_row(
        input, atol, rtol if rtol is not None else rcond, flag(hermitian, "linalg_pinv", "hermitian")
    )


@public()
def pinverse(input, rcond=1e-15):
    """The pseudo-inverse of matrices: `linalg.pinv`.

    Args:
        input: (*, m, n).
        rcond: singular values up to this share of the largest are zero.

    Example:
        >>> import vistorch
        >>> vistorch.pinverse(vistorch.tensor([[2.]]))
        tensor([[0.5000]])
    """
    if casting.on and (recast := casting.ask(pinverse, locals())):
        return recast[0]
    checks.tensors("pinverse", input=input)
    return pinv(input, rcond)


def matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values are not zero.

    Args:
        input: (*, m, n).
        tol: the old name of `atol`.
        hermitian: whether input is; eigenvalues are then used.
        atol: singular values up to this are zero.
        rtol: singular values up to this share of the largest are zero.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.matrix_rank(vistorch.tensor([[1., 2.], [2., 4.]]))
        tensor(1)
    """
    if casting.on and (recast := casting.ask(matrix_rank, locals())):
        return recast[0]
    checks.tensors("linalg_matrix_rank", input=input)
    hermitian = flag(hermitian, "linalg_matrix_rank", "hermitian")
    _check_tolerances("linalg_matrix_rank", tol, atol, rtol)
    if out is not None:
        return into(
            out,
            castable(f"{library}.linalg.matrix_rank"),
            (input,),
            lambda: matrix_rank(input, tol, hermitian, atol=atol, rtol=rtol),
        )
    d = input._data
    checks.matrix(f"{library}.linalg.matrix_rank", input, "input")
    if d.dtype in HALVES or d.dtype.kind in "biu":
        if tol is None and rtol is None:
            raise RuntimeError("This function doesn't handle types other than float and double")
        checks.floating("linalg.svd", input, "linalg_svd_cpu")
    if hermitian:
        checks.square("linalg.eigh", input)
    a = checks.floating("linalg.matrix_rank", input)._data
    xp = input._place.xp
    if a.size == 0:
        return wrap(xp.zeros(a.shape[:-2], np.int64), input._place)
    try:
        s = (
            xp.abs(checks.lapack(xp, "eigvalsh", a))
            if hermitian
            else checks.lapack(xp, "svd", a, compute_uv=False)
        )
    except np.linalg.LinAlgError:
        raise checks.LinAlgError(NOT_FINITE) from None
    if tol is not None:
        limit = _number(tol) if isinstance(tol, Tensor) else xp.asarray(tol)
    else:
        limit = _tolerance(a, s, atol, rtol)
    return wrap(xp.asarray((s > limit).sum(-1, dtype=np.int64)), input._place)


def cond(input, p: Any = None, *, out: Any = None) -> Any:
    """The condition number: the norm of input times the norm of its inverse.

    Args:
        input: (*, m, n); square for every `p` but 2 and -2.
        p: which norm; None is 2.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.cond(vistorch.tensor([[4., 0.], [0., 1.]]))
        tensor(4.)
    """
    if casting.on and (recast := casting.ask(cond, locals())):
        return recast[0]
    checks.tensors("linalg_cond", input=input)
    if out is not None:
        return into(out, castable("linalg.cond"), (input,), cond, input, p)
    if input._data.ndim < 2:
        if isinstance(p, str):
            checks.matrix(f"linalg.cond(ord={p})", input)
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if not isinstance(p, str) and p not in (None, 2, -2, 1, -1, inf, -inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    m, n = input._data.shape[-2:]
    if input._data.size == 0 and not isinstance(p, str):
        return norm_of_nothing(input, input._data.shape[:-2])
    if p in (None, 2, -2):
        s: Any = svdvals(input)
        k = s._data.shape[-1]
        narrow = s.narrow
        first, last = narrow(-1, 0, 1), narrow(-1, k - 1, 1)
        ratio = last / first if p == -2 else first / last
        return squeeze_dim(ratio, (ratio._data.ndim - 1,))
    shown = p if isinstance(p, str) or abs(p) == inf else int(p)
    if m != n:
        raise RuntimeError(
            f"linalg.cond(ord={shown}): A must be batches of square matrices, but they are {m} by {n} matrices"
        )
    if p not in ("fro", "nuc") and isinstance(p, str):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if input._data.size == 0:
        return norm_of_nothing(input, input._data.shape[:-2])
    if p == "nuc":
        return matrix_norm(input, p) * matrix_norm(inv(input), p)
    try:
        inverse = inv(input)
    except checks.LinAlgError:
        inverse = FUNCTIONS["full_like"](input, inf)
    return FUNCTIONS["nan_to_num"](matrix_norm(input, p) * matrix_norm(inverse, p), inf, inf, -inf)


# ---- least squares ----------------------------------------------------------------------------------------------
_SMALL = 16  # columns up to which singular values take less than two more steps
_DOUBT = (
    1000  # how much further than the diagonal of R shows the columns may be from independent, at the most
)


def _is_full(r: np.ndarray, n: int, rcond: Any) -> bool:
    """Whether the first n columns behind an R are independent beyond doubt."""
    size = np.abs(r[..., :n, :n].diagonal(0, -2, -1))
    return bool((size.min(-1) > max(1e-3, _DOUBT * float(np.max(rcond))) * size.max(-1)).all())


def _suits(A: np.ndarray) -> bool:
    return A.size > 0 and A.shape[-2] >= A.shape[-1] >= _SMALL


def _by_qr(A: np.ndarray, B: np.ndarray, rcond: Any) -> np.ndarray | None:
    """The solution from R of [A B], whose last columns are Q^H B; None where the rank may be in doubt."""
    n = A.shape[-1]
    if not _suits(A) or not B.size or A.shape[:-2] != B.shape[:-2]:
        return None
    r = checks.lapack(np, "qr", np.concatenate([A, B], -1), "r")
    return solved(np, r[..., :n, :n], r[..., :n, n:], True, True, False) if _is_full(r, n, rcond) else None


def _lstsq(xp, A, B, rcond, keep_residuals):
    X = _by_qr(A, B, rcond) if xp is np else None
    if X is None:
        X = _pinv(xp, A, None, rcond, False) @ B
    X = _in_place_of(xp, X, max(A.shape[-2:]))
    if not keep_residuals:
        return X, xp.empty(0, _real(A.dtype))
    r = A @ X - B
    return X, (r * r.conj()).real.sum(-2, dtype=_real(A.dtype))


def _in_place_of(xp, X, rows):
    """The solution where LAPACK leaves it: in the first rows of a column-major matrix of so many rows."""
    if X.shape[-2] == rows:
        return columns(xp, X)
    whole = xp.zeros((*X.shape[:-2], X.shape[-1], rows), X.dtype).swapaxes(-1, -2)
    whole[..., : X.shape[-2], :] = X
    return whole[..., : X.shape[-2], :]


def _real(dt: Any) -> Any:
    return np.dtype(f"f{dt.itemsize // 2}") if dt.kind == "c" else dt


def _lstsq_solution(F: Any, g: list, A: Any, rcond: Any) -> Any:
    """Gradient of the right-hand side, from the solution."""
    return F.bmm(mH(F, F.linalg_pinv(A, None, rcond, False)), g[0])


def _residual(F: Any, g: list, A: Any, B: Any, X: Any) -> Any:
    """The gradient that reaches A X - B from the squared residuals."""
    return 2 * (F.bmm(A, X) - B) * F.unsqueeze(g[1], g[1].ndim - 1)


def _lstsq_B(F: Any, g: list, A: Any, B: Any, rcond: Any, keep: bool, X: Any) -> Any:
    out = None if g[0] is None else _lstsq_solution(F, g, A, rcond)
    if keep and g[1] is not None:
        r = -_residual(F, g, A, B, X)
        out = r if out is None else out + r
    return out


def _lstsq_A(F: Any, g: list, A: Any, B: Any, rcond: Any, keep: bool, X: Any) -> Any:
    out = None
    if g[0] is not None:
        out = _pinv_gradient(F, F.bmm(g[0], mH(F, B)), A, F.linalg_pinv(A, None, rcond, False))
    if keep and g[1] is not None:
        # the residual is orthogonal to the columns of A, so X need not be followed
        r = F.bmm(_residual(F, g, A, B, X), mH(F, X))
        out = r if out is None else out + r
    return out


lstsq_row = op(
    "linalg_lstsq",
    _lstsq,
    inputs="A B",
    outs=2,
    holomorphic=False,
    formula={"A": r"\bar A = \text{vjp of } A^+ \text{ at } \bar X B^H", "B": r"\bar B = (A^+)^H \bar X"},
    A=lambda F, g, A, B, rcond, keep_residuals, out: _lstsq_A(F, g, A, B, rcond, keep_residuals, out),
    B=lambda F, g, A, B, rcond, keep_residuals, out: _lstsq_B(F, g, A, B, rcond, keep_residuals, out),
)


def _values(xp, x):
    if not x.size:
        return xp.zeros((*x.shape[:-2], 0), _real(x.dtype))
    try:
        return checks.lapack(xp, "svd", x, compute_uv=False)
    except np.linalg.LinAlgError:
        raise checks.LinAlgError(NOT_FINITE) from None


def lstsq(input, b, rcond=None, *, driver=None, out=None):
    """The X that makes A X - B smallest, by least squares.

    Args:
        input: (*, m, n).
        b: (*, m, k) or vectors (*, m).
        rcond: singular values up to this share of the largest are zero.
        driver: "gels", "gelsy", "gelsd" or "gelss": which of the other results are there.
        out: four tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.lstsq(vistorch.tensor([[1.], [1.]]), vistorch.tensor([[1.], [3.]])).solution
        tensor([[2.0000]])
    """
    if casting.on and (recast := casting.ask(lstsq, locals())):
        return recast[0]
    checks.tensors("linalg_lstsq", input=input, b=b)
    if out is not None:
        style = castable(f"{library}.linalg.lstsq", "solution", "linalg_lstsq")
        return into(out, style, (input, b), lambda: lstsq(input, b, rcond, driver=driver))
    name = f"{library}.linalg.lstsq"
    x, y = input._data, b._data
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if y.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{checks.scalar(input)} and other's dtype {checks.scalar(b)}"
        )
    gap = x.ndim - y.ndim
    if not 0 <= gap <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    vector = gap == 1 and x.shape[:-1] == y.shape
    if gap == 1 and not vector:
        if x.shape[-2] != y.shape[-1]:
            raise RuntimeError(f"{name}: input.size(-2) should match other.size(-1)")
    elif not vector and x.shape[-2] != y.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-2)")
    if x.dtype in HALVES or x.dtype.kind in "biu":
        raise RuntimeError("This function doesn't handle types other than float and double")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    m, n = x.shape[-2:]
    xp, place = input._place.xp, input._place
    if rcond is None:
        rcond = float(np.finfo(x.dtype).eps) * max(m, n)
    by_svd = driver in ("gelsd", "gelss")
    s = None
    if not by_svd and xp is np and _suits(x) and _is_full(checks.lapack(np, "qr", x, "r"), n, rcond):
        rank = np.full(x.shape[:-2], n, np.int64)
    else:
        s = _values(xp, x)
        rank = (s > _tolerance(x, s, None, rcond)).sum(-1, dtype=np.int64)
    keep = m > n and driver not in (None, "gelsy") and bool((rank == n).all())
    X, residuals = lstsq_row(input, FUNCTIONS["unsqueeze"](b, -1) if vector else b, rcond, keep)
    if vector:
        X = FUNCTIONS["squeeze"](X, -1)
    none = xp.empty(0, np.int64)
    return make(
        linalg_lstsq,
        (
            X,
            residuals,
            wrap(none if driver == "gels" else xp.asarray(rank), place),
            wrap(s if by_svd else xp.empty(0, _real(x.dtype)), place),
        ),
    )
