"""Normal vectors.

Invariant: all is computed from the Cholesky factor of the covariance.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ..engine.base.size import Size
from . import constraints
from .distribution import Distribution
from .factors import ONE_OF_THREE, OfFactor, log_diagonal, square_length, times_vector
from .family import Family
from .utils import standard_normal

__all__ = ["MultivariateNormal"]


class MultivariateNormal(OfFactor, Family):
    """Normal vectors with a covariance, which is given in one of three ways.

    Args:
        loc: the mean.
        covariance_matrix: the covariance.
        precision_matrix: its inverse.
        scale_tril: its Cholesky factor.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import MultivariateNormal
        >>> MultivariateNormal(vistorch.zeros(2), vistorch.eye(2)).log_prob(vistorch.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _keeps = ("_unbroadcasted_scale_tril",)

    mean = mode = property(lambda self: self.loc)

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        ways = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        given = [(name, mat) for name, mat in ways.items() if mat is not None]
        if len(given) != 1:
            raise ValueError(ONE_OF_THREE)
        name, mat = given[0]
        if mat.dim() < 2:
            said = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{said} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = vistorch.broadcast_shapes(mat.shape[:-2], loc.shape[:-1])
        setattr(self, name, mat.expand((*batch, -1, -1)))
        self.loc = loc.expand((*batch, -1))
        Distribution.__init__(self, batch, self.loc.shape[-1:], validate_args=validate_args)
        self._keep_factor(covariance_matrix, precision_matrix, scale_tril)

    def _matrix_shape(self) -> Size:
        return self._batch_shape + self._event_shape + self._event_shape

    @property
    def variance(self) -> Any:
        """The variance of each element."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def _rsample(self, shape: Any) -> Any:
        return self.loc + times_vector(self._unbroadcasted_scale_tril, standard_normal(shape, self.loc))

    def _log_prob(self, value: Any) -> Any:
        factor = self._unbroadcasted_scale_tril
        length = square_length(factor, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + length) - log_diagonal(factor)

    def _entropy(self) -> Any:
        half = log_diagonal(self._unbroadcasted_scale_tril)
        total = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half
        return total.expand(self._batch_shape) if self._batch_shape else total
