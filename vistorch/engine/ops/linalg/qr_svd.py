"""Factorizations: QR and singular values.

The factors are unique only up to signs or phases. Invariant: a gradient that depends on that choice is refused in
PyTorch's words (in the complex case, where it can be seen), and one that does not is exact.
"""

from __future__ import annotations

from typing import Any

from ...base import errors
from ...base.casting import casting
from ...base.dims import flag
from ...base.modes import mode
from ...base.return_types import linalg_qr, linalg_svd, make
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.tensor import Tensor
from ...library_name import library
from . import checks
from .out_types import Style, into
from .rows import (
    by_columns,
    col,
    cols,
    diag,
    from_diag,
    half_upper,
    is_complex,
    mH,
    pad_cols,
    refuse_phase,
    row,
)


# ---- QR ---------------------------------------------------------------------------------------------------------
def _qr(xp, A, mode):
    if mode == "r":
        return xp.empty(0, A.dtype), checks.lapack(xp, "qr", A, "r")
    return tuple(checks.lapack(xp, "qr", A, mode))


def _qr_square(F: Any, Q: Any, R: Any, gQ: Any, gR: Any) -> Any:
    """The gradient for at least as many rows as columns."""
    m = None
    if gR is not None:
        m = F.bmm(gR, mH(F, R))
    if gQ is not None:
        q = F.bmm(mH(F, Q), gQ)
        m = -q if m is None else m - q
    p = half_upper(F, m)
    b = F.bmm(Q, p + mH(F, p))
    return F.linalg_solve(mH(F, R), b if gQ is None else b + gQ, False, False)


def _qr_gradient(F: Any, g: list, how: str, Q: Any, R: Any) -> Any:
    if how == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    m, n = Q.shape[-2], R.shape[-1]
    if how == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    gQ, gR = g
    if m >= n:
        return _qr_square(F, Q, R, gQ, gR)
    # wide: A = [X | Y] with X = Q U and Y = Q V, where V = Q^H Y follows Q
    U, V = cols(F, R, 0, m), cols(F, R, m, n)
    if gR is None:
        return pad_cols(F, _qr_square(F, Q, U, gQ, None), 0, n)
    gV = cols(F, gR, m, n)
    more = F.bmm(F.bmm(Q, V), mH(F, gV))
    gX = _qr_square(F, Q, U, more if gQ is None else gQ + more, cols(F, gR, 0, m))
    return pad_cols(F, gX, 0, n) + pad_cols(F, F.bmm(Q, gV), m, n)


qr_row = op(
    "linalg_qr",
    by_columns(_qr),
    inputs="A",
    outs=2,
    holomorphic=False,
    formula=r"\bar A = (\bar Q + Q\,\mathrm{sym}(R\bar R^H - \bar Q^H Q)) R^{-H}",
    A=lambda F, g, mode, out, out1: _qr_gradient(F, g, mode, out, out1),
)


def qr(A, mode="reduced", *, out=None):
    """Q with orthonormal columns and an upper triangular R for which A = Q R.

    Args:
        A: (*, m, n).
        mode: "reduced", "complete" (Q square) or "r" (R alone; Q is empty).
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.qr(vistorch.tensor([[2., 0.], [0., 3.]])).R.abs()
        tensor([[2., 0.],
                [0., 3.]])
    """
    if casting.on and (recast := casting.ask(qr, locals())):
        return recast[0]
    checks.tensors("linalg_qr", A=A)
    if out is not None:
        return into(out, Style("linalg_qr"), (A,), qr, A, mode)
    checks.matrix("linalg.qr", A)
    if A._data.dtype.kind in "biu":
        checks.floating("linalg.qr", A)
    if not isinstance(mode, str):
        raise errors.must_be_str("linalg_qr", "mode", 2, mode)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return make(linalg_qr, qr_row(checks.floating("linalg.qr", A, "geqrf_cpu"), mode))


# ---- singular values --------------------------------------------------------------------------------------------
def _not_converged(*_):
    return (
        "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
    )


def _svd_gradient(F: Any, g: list, U: Any, S: Any, Vh: Any, full: bool) -> Any:
    gU, gS, gVh = g
    k = S.shape[-1]
    if full:  # the vectors beyond the singular values carry no gradient, as in PyTorch
        gU = gU if gU is None else cols(F, gU, 0, k)
        gVh = gVh if gVh is None else mH(F, cols(F, mH(F, gVh), 0, k))
        U, Vh = cols(F, U, 0, k), mH(F, cols(F, mH(F, Vh), 0, k))
    m, n = U.shape[-2], Vh.shape[-1]
    if gU is None and gVh is None:
        return F.bmm(U * row(F, gS), Vh)
    skew_u = skew_v = None
    if gU is not None:
        u = F.bmm(mH(F, U), gU)
        skew_u = u - mH(F, u)
    if gVh is not None:
        v = F.bmm(Vh, mH(F, gVh))
        skew_v = v - mH(F, v)
    if is_complex(U):
        both = skew_v if skew_u is None else skew_u if skew_v is None else skew_u + skew_v
        refuse_phase(
            diag(F, both),
            "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. "
            "The specified loss function depends on this phase term, making it ill-defined.",
        )
    square = S * S
    gap = F.set_diag(row(F, square) - col(F, square), 1)
    if skew_v is None:
        inner = skew_u / gap * row(F, S)
    elif skew_u is None:
        inner = col(F, S) * (skew_v / gap)
    else:
        inner = (skew_u * row(F, S) + col(F, S) * skew_v) / gap
    if gS is not None:
        inner = inner + from_diag(F, gS)
    if is_complex(U) and skew_u is not None and skew_v is not None:
        inner = inner + from_diag(F, diag(F, skew_u) / (2 * S))
    a = F.bmm(F.bmm(U, inner), Vh)
    if m > k and gU is not None:
        w = gU / row(F, S)
        a = a + F.bmm(w - F.bmm(U, F.bmm(mH(F, U), w)), Vh)
    if n > k and gVh is not None:
        w = gVh / col(F, S)
        a = a + F.bmm(U, w - F.bmm(F.bmm(w, mH(F, Vh)), Vh))
    return a


svd_row = op(
    "linalg_svd",
    by_columns(
        checks.guarded(lambda xp, A, full: tuple(checks.lapack(xp, "svd", A, full)), _not_converged), 0, 2
    ),
    inputs="A",
    outs=3,
    holomorphic=False,
    formula=r"\bar A = U\left(\frac{U^H\bar U}{E}S + S\frac{V^H\bar V}{E} + \bar S\right)V^H",
    A=lambda F, g, full, out, out1, out2: _svd_gradient(F, g, out, out1, out2, full),
)
_svdvals_row = op(
    "linalg_svdvals",
    checks.guarded(lambda xp, A: checks.lapack(xp, "svd", A, compute_uv=False), _not_converged),
    inputs="A",
)


def _tall(name: str, A: Tensor) -> Tensor:
    checks.matrix(name, A)
    return checks.floating(name, A, "linalg_svd_cpu")


def svd(A, full_matrices=True, *, driver=None, out=None):
    """U, the singular values S and Vh for which A = U diag(S) Vh.

    Args:
        A: (*, m, n).
        full_matrices: square U and Vh, or only the columns that meet a singular value.
        driver: for real CUDA devices only.
        out: three tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.svd(vistorch.tensor([[0., 2.], [3., 0.]])).S
        tensor([3., 2.])
    """
    if casting.on and (recast := casting.ask(svd, locals())):
        return recast[0]
    checks.tensors("linalg_svd", A=A)
    if out is not None:
        return into(out, Style("_linalg_svd"), (A,), lambda: svd(A, full_matrices, driver=driver))
    A = _tall("linalg.svd", A)
    _no_driver(A, driver)
    return make(linalg_svd, svd_row(A, flag(full_matrices, "linalg_svd", "full_matrices")))


def _no_driver(A: Tensor, driver: Any) -> None:
    if driver is not None and A._place.kind == 0:
        raise RuntimeError(
            f"{library}.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def svdvals(A, *, driver=None, out=None):
    """The singular values, largest first.

    Args:
        A: (*, m, n).
        driver: for real CUDA devices only.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.svdvals(vistorch.tensor([[0., 2.], [3., 0.]]))
        tensor([3., 2.])
    """
    if casting.on and (recast := casting.ask(svdvals, locals())):
        return recast[0]
    checks.tensors("linalg_svdvals", A=A)
    if out is not None:
        return into(out, Style("_linalg_svd"), (A,), svdvals, A)
    A = _tall("linalg.svd", A)
    _no_driver(A, driver)
    if mode.on and sync_rg(A):
        return svd_row(A, False)[1]
    return _svdvals_row(A)
