"""Eigenvalues and eigenvectors, of Hermitian matrices and of any square ones.

Eigenvectors are unique only up to a phase. Invariant: a gradient that depends on it is refused in PyTorch's words
(in the complex case, where it can be seen).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors
from ...base.casting import casting
from ...base.modes import mode
from ...base.return_types import linalg_eig, linalg_eigh, make
from ...core import out_argument
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.tensor import Tensor
from ...library_name import library
from . import checks
from .out_types import Style, castable, into
from .rows import by_columns, col, conj, diag, from_diag, is_complex, mH, refuse_phase, row


# ---- eigenvalues of Hermitian matrices --------------------------------------------------------------------------
def _eigh_gradient(F: Any, g: list, L: Any, V: Any) -> Any:
    gL, gV = g
    vh = mH(F, V)
    if gV is None:
        return F.bmm(V * row(F, gL), vh)
    inner = F.bmm(vh, gV)
    if is_complex(V):
        refuse_phase(diag(F, inner), _PHASE.format("linalg_eigh_backward"))
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
    by_columns(
        checks.guarded(lambda xp, A, UPLO: tuple(checks.lapack(xp, "eigh", A, UPLO)), _eigh_failed), 1
    ),
    inputs="A",
    outs=2,
    holomorphic=False,
    formula=r"\bar A = V\left(\mathrm{diag}(\bar\lambda) + \frac{V^H \bar V}{E}\right)V^H",
    A=lambda F, g, out, out1: _eigh_gradient(F, g, out, out1),
)
_eigvalsh_row = op(
    "linalg_eigvalsh",
    checks.guarded(lambda xp, A, UPLO: checks.lapack(xp, "eigvalsh", A, UPLO), _eigh_failed),
    inputs="A",
)


def _hermitian(A: Tensor, UPLO: Any) -> tuple:
    if not isinstance(UPLO, str):
        raise errors.must_be_str("linalg_eigh", "UPLO", 2, UPLO)
    checks.square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
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
    if casting.on and (recast := casting.ask(eigh, locals())):
        return recast[0]
    checks.tensors("linalg_eigh", input=input)
    if out is not None:
        if not isinstance(out, (tuple, list)) or len(out) != 2:
            out_argument.check_outs("linalg_eigh", out)
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
    if casting.on and (recast := casting.ask(eigvalsh, locals())):
        return recast[0]
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
    refuse_phase(d, _PHASE.format("linalg_eig_backward"))
    inner = inner - F.bmm(vh, V * row(F, (d + conj(F, d)) / 2))
    gap = row(F, L) - col(F, L)
    inner = F.set_diag(inner / F.set_diag(conj(F, gap), 1), 0)
    if gL is not None:
        inner = inner + from_diag(F, gL)
    return F.linalg_solve(vh, F.bmm(inner, vh), True, False)


def _eig_failed(*_):
    return f"{library}.linalg.eig: input tensor should not contain infs or NaNs."


eig_row = op(
    "linalg_eig",
    by_columns(checks.guarded(_eig, _eig_failed), 1),
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
    if casting.on and (recast := casting.ask(eig, locals())):
        return recast[0]
    checks.tensors("linalg_eig", input=input)
    if out is not None:
        return into(out, castable(f"{library}.linalg.eig", "eigenvalues", "linalg_eig"), (input,), eig, input)
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
    if casting.on and (recast := casting.ask(eigvals, locals())):
        return recast[0]
    checks.tensors("linalg_eigvals", input=input)
    if out is not None:
        return into(out, castable(f"{library}.linalg.eigvals", "eigenvalues"), (input,), eigvals, input)
    input = _any_square("linalg.eigvals", input)
    return eig_row(input)[0] if mode.on and sync_rg(input) else _eigvals_row(input)
