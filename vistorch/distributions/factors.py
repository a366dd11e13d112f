"""Batches of triangular factors: products, lengths and determinants, and one matrix given in one of three ways.

Invariant: a factor that was not expanded is used as it is, so that one matrix is factored once for a whole batch.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..engine.base.size import Size
from ..engine.core.tensor import Tensor
from .utils import lazy_property

ONE_OF_THREE = "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."


def times_vector(mat: Tensor, vec: Tensor) -> Tensor:
    """Each matrix times its vector."""
    return (mat @ vec.unsqueeze(-1)).squeeze(-1)


def solve_lower(factor: Tensor, right: Tensor) -> Tensor:
    """The inverse of lower triangular matrices, times others."""
    return vistorch.linalg.solve_triangular(factor, right, upper=False)


def square_length(factor: Tensor, vec: Tensor) -> Tensor:
    """X' (L L')^-1 x for each vector x."""
    if factor.dim() == 2:  # one factor for all: one triangle to solve, with all vectors as columns
        flat = solve_lower(factor, vec.reshape(-1, vec.shape[-1]).T).pow(2).sum(0)
        return flat.reshape(vec.shape[:-1])
    return solve_lower(factor, vec.unsqueeze(-1)).squeeze(-1).pow(2).sum(-1)


def log_diagonal(factor: Tensor) -> Tensor:
    """The logarithm of the determinant of a triangular matrix."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def square_sum(mat: Tensor) -> Tensor:
    """The trace of M M'."""
    return mat.pow(2).flatten(-2).sum(-1)


def factor_of_inverse(mat: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of a positive definite matrix."""
    turned = vistorch.linalg.cholesky(mat.flip((-2, -1)))
    upper = turned.flip((-2, -1)).mT
    return solve_lower(upper, vistorch.eye(mat.shape[-1], dtype=mat.dtype, device=mat.device))


class OfFactor:
    """What has a covariance, given as such, by its inverse, or by its Cholesky factor."""

    _unbroadcasted_scale_tril: Tensor

    def _matrix_shape(self) -> Size:
        raise NotImplementedError

    def _keep_factor(self, covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> None:
        """Keep the factor of the one that was given."""
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = vistorch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = factor_of_inverse(precision_matrix)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return vistorch.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape())
