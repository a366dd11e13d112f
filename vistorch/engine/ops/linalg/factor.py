"""Factorizations: QR, singular values, eigenvalues.

The factors are unique only up to signs or phases. Invariant: a gradient that depends on that choice is refused in
PyTorch's words (in the complex case, where it can be seen), and one that does not is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...call import op
from ...modes import mode
from ...promote import sync_rg
from ...return_types import linalg_eig, linalg_eigh, linalg_qr, linalg_svd, make
from ...tensor import Tensor
from . import checks
from .into import Style, castable, into
from .rows import col, cols, conj, diag, from_diag, half_upper, is_complex, mH, pad_cols, row


def _array(x: Any) -> Any:
    """The numbers of an array or a Tensor."""
    return getattr(x, "_data", x)


def _refuse_phase(parts: Any, sentence: str) -> None:
    """Refuse a loss that depends on the phases of vectors: the imaginary parts then do not vanish."""
    imag = np.abs(np.asarray(checks.host(_array(parts)).imag))
    if not (imag <= 1e-2).all():
        raise RuntimeError(sentence)


# ---- QR ---------------------------------------------------------------------------------------------------------
def _qr(xp, A, mode):
    if mode == "r":
        return xp.empty(0, A.dtype), xp.linalg.qr(A, "r")
    return tuple(xp.linalg.qr(A, mode))


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
    _qr,
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
    checks.tensors("linalg_qr", A=A)
    if out is not None:
        return into(out, Style("linalg_qr"), (A,), qr, A, mode)
    checks.matrix("linalg.qr", A)
    if A._data.dtype.kind in "biu":
        checks.floating("linalg.qr", A)
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
        _refuse_phase(
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
    checks.guarded(lambda xp, A, full: tuple(xp.linalg.svd(A, full)), _not_converged),
    inputs="A",
    outs=3,
    holomorphic=False,
    formula=r"\bar A = U\left(\frac{U^H\bar U}{E}S + S\frac{V^H\bar V}{E} + \bar S\right)V^H",
    A=lambda F, g, full, out, out1, out2: _svd_gradient(F, g, out, out1, out2, full),
)
_svdvals_row = op(
    "linalg_svdvals",
    checks.guarded(lambda xp, A: xp.linalg.svd(A, compute_uv=False), _not_converged),
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
    checks.tensors("linalg_svd", A=A)
    if out is not None:
        return into(out, Style("_linalg_svd"), (A,), lambda: svd(A, full_matrices, driver=driver))
    A = _tall("linalg.svd", A)
    _no_driver(A, driver)
    return make(linalg_svd, svd_row(A, bool(full_matrices)))


def _no_driver(A: Tensor, driver: Any) -> None:
    if driver is not None and A._place.kind == 0:
        raise RuntimeError(
            "vistorch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
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
    checks.tensors("linalg_svdvals", A=A)
    if out is not None:
        return into(out, Style("_linalg_svd"), (A,), svdvals, A)
    A = _tall("linalg.svd", A)
    _no_driver(A, driver)
    if mode.on and sync_rg(A):
        return svd_row(A, False)[1]
    return _svdvals_row(A)


# ---- eigenvalues of Hermitian matrices --------------------------------------------------------------------------
def _eigh_gradient(F: Any, g: list, L: Any, V: Any) -> Any:
    gL, gV = g
    vh = mH(F, V)
    if gV is None:
        return F.bmm(V * row(F, gL), vh)
    inner = F.bmm(vh, gV)
    if is_complex(V):
        _refuse_phase(diag(F, inner), _PHASE.format("linalg_eigh_backward"))
    inner = F.set_diag(inner / F.set_diag(row(F, L) - col(F, L), 1), 0)
    inner = (inner + mH(F, inner)) / 2
    if gL is not None:
        inner = inner + from_diag(F, gL)
    return F.bmm(F.bmm(V, inner), vh)


_PHASE = (
    "{}: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss "
    "function depends on this quantity, so it is ill-defined."
)


def _eigh_failed(*_):
    return (
        "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
        "repeated eigenvalues (error code: 1)."
    )


eigh_row = op(
    "linalg_eigh",
    checks.guarded(lambda xp, A, UPLO: tuple(xp.linalg.eigh(A, UPLO)), _eigh_failed),
    inputs="A",
    outs=2,
    holomorphic=False,
    formula=r"\bar A = V\left(\mathrm{diag}(\bar\lambda) + \frac{V^H \bar V}{E}\right)V^H",
    A=lambda F, g, out, out1: _eigh_gradient(F, g, out, out1),
)
_eigvalsh_row = op(
    "linalg_eigvalsh",
    checks.guarded(lambda xp, A, UPLO: xp.linalg.eigvalsh(A, UPLO), _eigh_failed),
    inputs="A",
)


def _hermitian(A: Tensor, UPLO: Any) -> tuple:
    checks.square("linalg.eigh", A)
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    if A._data.dtype.kind in "biu":
        raise checks.not_implemented("linalg_eigh_cpu", A)
    return checks.floating("linalg.eigh", A, "linalg_eigh_cpu"), UPLO.upper()


def eigh(input, UPLO="L", *, out=None):
    """The eigenvalues, smallest first, and eigenvectors of Hermitian matrices.

    Args:
        input: (*, n, n), of which one triangle is read.
        UPLO: which one, "L" or "U".
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.eigh(vistorch.tensor([[2., 0.], [0., 1.]])).eigenvalues
        tensor([1., 2.])
    """
    checks.tensors("linalg_eigh", input=input)
    if out is not None:
        vectors, values = into(
            (out[1], out[0]), Style("_linalg_eigh"), (input,), lambda: tuple(eigh(input, UPLO))[::-1]
        )
        return make(linalg_eigh, (values, vectors))
    return make(linalg_eigh, eigh_row(*_hermitian(input, UPLO)))


def eigvalsh(input, UPLO="L", *, out=None):
    """The eigenvalues of Hermitian matrices, smallest first.

    Args:
        input: (*, n, n), of which one triangle is read.
        UPLO: which one, "L" or "U".
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.eigvalsh(vistorch.tensor([[2., 0.], [0., 1.]]))
        tensor([1., 2.])
    """
    checks.tensors("linalg_eigvalsh", input=input)
    if out is not None:
        return into(out, Style("_linalg_eigh"), (input,), eigvalsh, input, UPLO)
    input, UPLO = _hermitian(input, UPLO)
    return eigh_row(input, UPLO)[0] if mode.on and sync_rg(input) else _eigvalsh_row(input, UPLO)


# ---- eigenvalues of any square matrix ---------------------------------------------------------------------------
def _complex_type(dt: Any) -> Any:
    return np.dtype("c8") if dt.itemsize == 4 or dt == np.dtype("c8") else np.dtype("c16")


def _eig(xp, A):
    values, vectors = xp.linalg.eig(A)
    dt = _complex_type(A.dtype)
    return values.astype(dt), vectors.astype(dt)


def _eig_gradient(F: Any, g: list, L: Any, V: Any) -> Any:
    gL, gV = g
    vh = mH(F, V)
    if gV is None:
        return F.linalg_solve(vh, col(F, gL) * vh, True, False)
    inner = F.bmm(vh, gV)
    d = diag(F, inner)
    _refuse_phase(d, _PHASE.format("linalg_eig_backward"))
    inner = inner - F.bmm(vh, V * row(F, (d + conj(F, d)) / 2))
    gap = row(F, L) - col(F, L)
    inner = F.set_diag(inner / F.set_diag(conj(F, gap), 1), 0)
    if gL is not None:
        inner = inner + from_diag(F, gL)
    return F.linalg_solve(vh, F.bmm(inner, vh), True, False)


def _eig_failed(*_):
    return "vistorch.linalg.eig: input tensor should not contain infs or NaNs."


eig_row = op(
    "linalg_eig",
    checks.guarded(_eig, _eig_failed),
    inputs="A",
    outs=2,
    holomorphic=False,
    formula=r"\bar A = V^{-H}\left(\bar\lambda + \frac{V^H\bar V - V^H V\,\mathrm{diag}(V^H\bar V)}{\bar E}\right)V^H",
    A=lambda F, g, out, out1: _eig_gradient(F, g, out, out1),
)
_eigvals_row = op(
    "linalg_eigvals",
    checks.guarded(lambda xp, A: xp.linalg.eigvals(A).astype(_complex_type(A.dtype)), _eig_failed),
    inputs="A",
)


def _any_square(name: str, A: Tensor) -> Tensor:
    if A._data.dtype.kind in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {checks.scalar(A)}")
    checks.square(name, A)
    return checks.floating(name, A, "linalg_eig_out_cpu")


def eig(input, *, out=None):
    """The eigenvalues and eigenvectors of square matrices, always complex.

    Args:
        input: (*, n, n).
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.eig(vistorch.tensor([[2., 0.], [0., 1.]])).eigenvalues
        tensor([2.+0.j, 1.+0.j])
    """
    checks.tensors("linalg_eig", input=input)
    if out is not None:
        return into(out, castable("vistorch.linalg.eig", "eigenvalues", "linalg_eig"), (input,), eig, input)
    return make(linalg_eig, eig_row(_any_square("linalg.eig", input)))


def eigvals(input, *, out=None):
    """The eigenvalues of square matrices, always complex.

    Args:
        input: (*, n, n).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.eigvals(vistorch.tensor([[2., 0.], [0., 1.]]))
        tensor([2.+0.j, 1.+0.j])
    """
    checks.tensors("linalg_eigvals", input=input)
    if out is not None:
        return into(out, castable("vistorch.linalg.eigvals", "eigenvalues"), (input,), eigvals, input)
    input = _any_square("linalg.eigvals", input)
    return eig_row(input)[0] if mode.on and sync_rg(input) else _eigvals_row(input)
