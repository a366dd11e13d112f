"""Normal vectors with a covariance of few factors and a diagonal.

Invariant: no matrix of the size of the covariance is made unless it is asked for: what is factored is the capacitance
I + W' D^-1 W, by the lemmas of the matrix determinant and of Woodbury.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ..engine.base.size import Size
from ..engine.core.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .factors import log_diagonal, solve_lower, square_length, times_vector
from .family import Family
from .utils import lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def _and_identity(mat: Tensor) -> Tensor:
    return mat + vistorch.eye(mat.shape[-1], dtype=mat.dtype, device=mat.device)


class LowRankMultivariateNormal(Family):
    """Normal vectors with the covariance W W' + D.

    Args:
        loc: the mean.
        cov_factor: W, a matrix of few columns.
        cov_diag: the diagonal of D.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import LowRankMultivariateNormal
        >>> LowRankMultivariateNormal(vistorch.zeros(2), vistorch.ones(2, 1), vistorch.ones(2)).covariance_matrix
        tensor([[2., 1.],
                [1., 2.]])
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _keeps = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    mean = mode = property(lambda self: self.loc)

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            mean, self.cov_factor, diag = vistorch.broadcast_tensors(
                loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = mean[..., 0], diag[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = vistorch.linalg.cholesky(_and_identity(self._weighed() @ cov_factor))
        Distribution.__init__(self, self.loc.shape[:-1], event, validate_args=validate_args)

    # ---- what the lemmas need ------------------------------------------------------------------------------------
    def _weighed(self) -> Tensor:
        """W' D^-1."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)

    def _log_det(self) -> Tensor:
        return 2 * log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def _square_length(self, off: Tensor) -> Tensor:
        """X' C^-1 x for each vector x, C the covariance."""
        whole = (off.pow(2) / self._unbroadcasted_cov_diag).sum(-1)
        return whole - square_length(self._capacitance_tril, times_vector(self._weighed(), off))

    def _matrix_shape(self) -> Size:
        return self._batch_shape + self._event_shape + self._event_shape

    # ---- the covariance in full ----------------------------------------------------------------------------------
    @lazy_property
    def variance(self) -> Any:
        """The variance of each element."""
        total = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return total.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        factor = root * vistorch.linalg.cholesky(_and_identity(scaled @ scaled.mT))
        return factor.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        whole = factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed()
        return whole.expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        taken = solve_lower(self._capacitance_tril, self._weighed())
        whole = self._unbroadcasted_cov_diag.reciprocal().diag_embed() - taken.mT @ taken
        return whole.expand(self._matrix_shape())

    # ---- numbers -------------------------------------------------------------------------------------------------
    def _rsample(self, shape: Any) -> Any:
        few = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        each = standard_normal(shape, self.loc)
        shared = times_vector(self._unbroadcasted_cov_factor, few)
        return self.loc + shared + self._unbroadcasted_cov_diag.sqrt() * each

    def _log_prob(self, value: Any) -> Any:
        length = self._square_length(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + length)

    def _entropy(self) -> Any:
        total = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return total.expand(self._batch_shape) if self._batch_shape else total
