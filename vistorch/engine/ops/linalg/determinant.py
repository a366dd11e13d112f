"""Determinants.

Invariant: the determinant of a singular matrix is zero, and its gradient exists: the cofactors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.return_types import linalg_slogdet, make
from ...base.return_types import slogdet as slogdet_type
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ...kernels import lu
from . import checks
from .out_types import Style, into
from .rows import col, is_complex, mH, mT

_EVEN = 1e-3  # the smallest pivot beside the largest, from which an inverse has most of its digits


def _by_inverse(input):
    """det(A) A^-T where that has most of its digits, else None."""
    diagonal = np.abs(lu.factor(np, input)[0].diagonal(axis1=-2, axis2=-1)) if input.size else input
    if not input.size or not (diagonal.min(-1) > _EVEN * diagonal.max(-1)).all():
        return None
    det = checks.lapack(np, "det", input)
    out = checks.lapack(np, "inv", input).swapaxes(-1, -2) * det[..., None, None]
    return out if np.isfinite(out).all() and det.all() else None


def _cofactors(xp, input):
    """det(A) A^-T, also where A is singular: by the products of all singular values but one."""
    if xp is np and (found := _by_inverse(input)) is not None:
        return found
    u, s, vh = xp.linalg.svd(input)
    n = s.shape[-1]
    rest = (
        xp.stack([s[..., [j for j in range(n) if j != i]].prod(-1, dtype=s.dtype) for i in range(n)], -1)
        if n
        else s
    )
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    product = (u * rest[..., None, :]) @ vh
    return (product.conj() * sign[..., None, None]).astype(input.dtype)


det_row = op(
    "linalg_det",
    lambda xp, A: checks.lapack(xp, "det", A),
    inputs="A",
    formula=r"\bar A = \bar d\, \det(A)\, A^{-T}",
    A=lambda F, g, A: col(F, col(F, g)) * F.cofactors(A),
)
op(
    "cofactors",
    _cofactors,
    name_in_graph="LinalgDetBackward0Backward0",
    formula=r"\bar A = \mathrm{tr}(A^{-1} \bar C^T)\, C - C\, \bar C^T A^{-T}",
    input=lambda F, g, input, out: _cofactors_gradient(F, g, input, out),
)


def _cofactors_gradient(F: Any, g: Any, A: Any, out: Any) -> Any:
    """C = det(A) A^-T, so dC = tr(A^-1 dA) C - C dA^T A^-T."""
    inverse = mT(F, F.linalg_inv(A))
    shape = (*A.shape[:-2], 1, 1)
    return inverse * F.sum_to(g * out, shape) - F.bmm(inverse, F.bmm(mT(F, g), out))


def _slogdet_gradient(F: Any, g: list, A: Any, sign: Any) -> Any:
    g_sign, g_log = g
    if not is_complex(A):
        return None if g_log is None else col(F, col(F, g_log)) * mT(F, F.linalg_inv(A))
    h = None
    if g_sign is not None:
        z = F.conj(g_sign) * sign
        h = (F.conj(z) - z) / 2
    h = g_log if h is None else h if g_log is None else g_log + h
    return col(F, col(F, h)) * mH(F, F.linalg_inv(A))


slogdet_row = op(
    "linalg_slogdet",
    lambda xp, A: tuple(checks.lapack(xp, "slogdet", A)),
    inputs="A",
    outs=2,
    holomorphic=False,
    formula=r"\bar A = \bar l\, A^{-T}",
    A=lambda F, g, A, out: _slogdet_gradient(F, g, A, out),
)


def det(A, *, out=None):
    """The determinant of square matrices.

    Args:
        A: (*, n, n).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.det(vistorch.tensor([[2., 0.], [0., 4.]]))
        tensor(8.)
    """
    checks.tensors("linalg_det", A=A)
    if out is not None:
        return into(out, Style("_linalg_det"), (A,), det, A)
    return _det(A)


def _det(A: Tensor) -> Tensor:
    checks.square("linalg.det", A)
    return det_row(checks.floating("linalg.det", A, "lu_cpu"))


def slogdet(A, *, out=None):
    """The sign of the determinant and the logarithm of its modulus.

    Args:
        A: (*, n, n).
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.slogdet(vistorch.tensor([[1., 0.], [0., -1.]])).sign
        tensor(-1.)
    """
    checks.tensors("linalg_slogdet", A=A)
    if out is not None:
        return into(out, Style("_linalg_slogdet"), (A,), slogdet, A)
    return make(linalg_slogdet, _slogdet("linalg.slogdet", A))


def _slogdet(name: str, A: Tensor) -> tuple:
    checks.square(name, A)
    return slogdet_row(checks.floating(name, A))


@public("det")
def plain_det(input):
    """The determinant of square matrices.

    Args:
        input: (*, n, n).

    Example:
        >>> import vistorch
        >>> vistorch.det(vistorch.tensor([[2., 0.], [0., 4.]]))
        tensor(8.)
    """
    checks.tensors("det", input=input)
    return _det(input)


@public("slogdet")
def plain_slogdet(input, *, out=None):
    """The sign of the determinant and the logarithm of its modulus.

    Args:
        input: (*, n, n).
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.slogdet(vistorch.tensor([[1., 0.], [0., -1.]])).logabsdet
        tensor(0.)
    """
    checks.tensors("slogdet", input=input)
    if out is not None:
        return into(out, Style("_linalg_slogdet"), (input,), plain_slogdet, input)
    return make(slogdet_type, _slogdet("linalg.slogdet", input))


@public()
def logdet(input):
    """The logarithm of the determinant; NaN where that is negative.

    Args:
        input: (*, n, n).

    Example:
        >>> import vistorch
        >>> vistorch.logdet(vistorch.tensor([[1., 0.], [0., 1.]]))
        tensor(0.)
    """
    checks.tensors("logdet", input=input)
    sign, log = _slogdet("logdet", input)
    if sign._data.dtype.kind == "c":
        return log + FUNCTIONS["log"](sign)
    return FUNCTIONS["where"](FUNCTIONS["eq"](sign, -1.0), float("nan"), log)
