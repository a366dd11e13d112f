"""The parametrization behind `parametrizations.orthogonal`, and the linear algebra it needs.

All maps are written with recorded operations, so they can be differentiated as often as one likes.

Invariant: what `forward` gives has orthonormal columns (rows, if there are more columns than rows), to rounding.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.base.finfo import finfo
from ...engine.base.modes import no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor, wrap
from ...linalg import solve
from ..modules.module import Module

allclose, cat, eye, randn, zeros_like = (
    FUNCTIONS[name] for name in ("allclose", "cat", "eye", "randn", "zeros_like")
)

# Of the Pade approximation of degree 13 (Higham, 2005), and up to which norm it is exact in double precision.
PADE = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)
EXACT_TO = 5.37


def identity_like(x: Tensor, n: int) -> Any:
    """The identity of size n, of the type and at the place of x."""
    return eye(n, dtype=x.dtype, device=x.device)


def matrix_exp(a: Any) -> Tensor:
    """The exponential of square matrices: a rational approximation of a fraction of them, squared back."""
    with no_grad():
        size = float(a.abs().sum(-2).max()) if a.numel() else 0.0
    halvings = max(0, math.ceil(math.log2(size / EXACT_TO))) if 0 < size < math.inf else 0
    a = a / 2**halvings
    one = identity_like(a, a.shape[-1])
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    b = [c / PADE[0] for c in PADE]  # in float32 the numbers themselves would be too large to square
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    result = solve(even - odd, even + odd)
    for _ in range(halvings):
        result = result @ result
    return result


def geqrf(a: Tensor) -> tuple[Tensor, Tensor]:
    """The QR decomposition as LAPACK keeps it: R and the reflectors in one matrix, and their factors."""
    place = a._place
    with place:
        h, tau = place.xp.linalg.qr(a._data, mode="raw")
        h = place.xp.ascontiguousarray(h.swapaxes(-1, -2))
        return wrap(h.astype(a._data.dtype), place), wrap(tau.astype(a._data.dtype), place)


def householder_product(a: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflections `1 - tau[i] * v * v^H`, where v is the column i below the diagonal.

    The product is `1 - V T V^H` with an upper triangular T (Schreiber and Van Loan, 1989).
    """
    n, k = a.shape[-2:]
    v = a.tril(-1)[..., :, : tau.shape[-1]] + eye(n, tau.shape[-1], dtype=a.dtype, device=a.device)
    one = identity_like(a, tau.shape[-1])
    factors = tau.unsqueeze(-2)
    t = solve(one + (v.mH @ v).triu(1) * factors, one) * tau.unsqueeze(-1)
    return eye(n, k, dtype=a.dtype, device=a.device) - v @ (t @ v[..., :k, :].mH)


def _is_orthogonal(q: Tensor) -> bool:
    n, k = q.shape[-2:]
    return allclose(q.mH @ q, identity_like(q, k), atol=10.0 * n * finfo(q.dtype).eps)


def _make_orthogonal(a: Tensor) -> Tensor:
    """The Q of the QR decomposition whose R has a positive diagonal."""
    x, tau = geqrf(a)
    return householder_product(x, tau) * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _by_exponential(skew: Tensor) -> Tensor:
    return matrix_exp(skew)


def _by_cayley(skew: Tensor) -> Tensor:
    one = identity_like(skew, skew.shape[-1])
    return solve(one - skew / 2, one + skew / 2)


MAPS: dict[str, Any] = {"matrix_exp": _by_exponential, "cayley": _by_cayley, "householder": None}


class _Orthogonal(Module):
    """Any matrix made orthogonal by one of the maps, optionally relative to a base that is orthogonal itself."""

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """The orthogonal matrix that belongs to X."""
        n, k = X.shape[-2:]
        wide = n < k
        if wide:
            X, n, k = X.mT, k, n
        if self.orthogonal_map == "householder":
            below = X.tril(-1)
            tau = 2.0 / (1.0 + (below * below).sum(-2))
            Q = householder_product(below, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            lower = X.tril()
            if n != k:
                lower = cat([lower, lower.new_zeros(*X.shape[:-2], n, n - k)], dim=-1)
            Q = MAPS[self.orthogonal_map](lower - lower.mH)[..., :k]
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """What to learn so that the matrix becomes Q; with a base, Q becomes the base."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        given = Q
        n, k = Q.shape[-2:]
        wide = n < k
        if wide:
            Q, n, k = Q.mT, k, n
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            a, tau = geqrf(Q)
            diagonal = a.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal[tau == 0.0] *= -1  # LAPACK reflects nothing there, `householder_product` does
            return a.mT if wide else a
        if n != k:
            more = randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
            Q = _make_orthogonal(cat([Q, more], dim=-1))
        else:
            Q = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        self.base = Q
        begin = zeros_like(given)  # every map takes it to the identity
        begin.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return begin
