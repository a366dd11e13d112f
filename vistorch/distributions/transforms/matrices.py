"""Transforms to Cholesky factors and positive definite matrices.

Invariant: only the lower triangle of an argument is read.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ...nn.functional import pad, softplus
from .. import constraints
from ..utils import tril_matrix_to_vec, vec_to_tril_matrix
from .transform import NO_DIMS, Alike, Transform


class CorrCholeskyTransform(Transform):
    """The Cholesky factor of a correlation matrix from the numbers below its diagonal, row by row.

    Each number says, by its tanh, how much of what a row's length of 1 leaves goes to its element.

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import CorrCholeskyTransform
        >>> factor = CorrCholeskyTransform()(vistorch.tensor([0.5, -1.0, 2.0]))
        >>> (factor @ factor.T).diagonal()
        tensor([1., 1., 1.])
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = vistorch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + vistorch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = 1 - (y * y).cumsum(dim=-1)
        left = tril_matrix_to_vec(pad(left[..., :-1], [1, 0], value=1), diag=-1)
        t = tril_matrix_to_vec(y, diag=-1) / left.sqrt()
        return (t.log1p() - (-t).log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """The sum over the rows.

        Args:
            x: the argument.
            y: the result for it.
            intermediates: accepted; nothing is kept from the call.
        """
        # The last diagonal but one is always 1, and the elements above it are not free.
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        slopes = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return 0.5 * left.log().sum(-1) + slopes

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the matrices."""
        if len(shape) < 1:
            raise ValueError(NO_DIMS)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], d, d)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the numbers below the diagonal."""
        if len(shape) < 2:
            raise ValueError(NO_DIMS)
        d = shape[-1]
        if shape[-2] != d:
            raise ValueError("Input is not square")
        return (*shape[:-2], d * (d - 1) // 2)


class LowerCholeskyTransform(Alike):
    """Lower triangular matrices with a positive diagonal, by the exponential of the diagonal.

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import LowerCholeskyTransform
        >>> LowerCholeskyTransform()(vistorch.tensor([[0.0, 5.0], [2.0, 0.0]]))
        tensor([[1., 0.],
                [2., 1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Alike):
    """Positive definite matrices, as products of Cholesky factors.

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import PositiveDefiniteTransform
        >>> PositiveDefiniteTransform()(vistorch.tensor([[0.0, 5.0], [2.0, 0.0]]))
        tensor([[1., 2.],
                [2., 5.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(vistorch.linalg.cholesky(y))
