"""The largest singular values of a matrix by random projections (Halko, Martinsson and Tropp, 2009).

Invariant: the numbers drawn are PyTorch's, so that with one seed both libraries find the same factors.
"""

from __future__ import annotations

from typing import Any

from vistorch import linalg, matmul, randn
from vistorch.engine.core.tensor import Tensor

__all__ = ["pca_lowrank", "svd_lowrank"]


def _basis(A: Tensor, q: int, rounds: int) -> Tensor:
    """Orthonormal columns, q of them, that nearly span what A makes of anything."""
    basis = linalg.qr(matmul(A, randn(A.shape[-1], q, dtype=A.dtype, device=A.device))).Q
    for _ in range(rounds):
        basis = linalg.qr(matmul(A.mH, basis)).Q
        basis = linalg.qr(matmul(A, basis)).Q
    return basis


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V of the best approximation of rank q: A is nearly U diag(S) V^H.

    Args:
        A: (*, m, n).
        q: how many singular values, a few more than are wanted.
        niter: how often the projection is refined.
        M: taken from A first.

    Example:
        >>> import vistorch
        >>> U, S, V = vistorch.svd_lowrank(vistorch.diag(vistorch.tensor([3.0, 2.0])), q=2)
        >>> S.round(decimals=3)
        tensor([3., 2.])
    """
    if M is not None:
        A = A - M.broadcast_to(A.size())
    turned = A.shape[-2] < A.shape[-1]
    tall = A.mH if turned else A
    basis = _basis(tall, 6 if q is None else q, 2 if niter is None else niter)
    U, S, Vh = linalg.svd(matmul(basis.mH, tall), full_matrices=False)
    U, V = matmul(basis, U), Vh.mH
    return (V, S, U) if turned else (U, S, V)


def pca_lowrank(
    A: Any, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """The main directions of data, as `svd_lowrank` of its rows less their mean.

    Args:
        A: (*, m, n): m points.
        q: how many directions; 6, or as many as there are, if not given.
        center: take the mean away first.
        niter: how often the projection is refined.

    Example:
        >>> import vistorch
        >>> points = vistorch.tensor([[1.0, 0.0], [2.0, 0.0], [6.0, 0.0]])
        >>> vistorch.pca_lowrank(points, q=1)[2].abs()
        tensor([[1.],
                [0.]])
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter)
