"""Random positive definite matrices.

Invariant: samples are made of their triangular factors (Bartlett), with the numbers that PyTorch draws.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import vistorch

from ..engine.base.size import Size
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .factors import ONE_OF_THREE, OfFactor, log_diagonal
from .utils import NUMBERS, size_of

__all__ = ["Wishart"]


def _sum_of_digammas(x: Any, p: int) -> Any:
    """The derivative of the multivariate log-gamma function."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    return (x.unsqueeze(-1) - vistorch.arange(p, dtype=x.dtype, device=x.device) / 2).digamma().sum(-1)


class Wishart(OfFactor, ExponentialFamily):
    """Sums of squares of `df` normal vectors, as matrices; the covariance is given in one of three ways.

    Args:
        df: the degrees of freedom.
        covariance_matrix: the covariance of the vectors.
        precision_matrix: its inverse.
        scale_tril: its Cholesky factor.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Wishart
        >>> Wishart(vistorch.tensor(3.0), vistorch.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    arg_constraints = property(
        lambda self: {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }
    )
    _natural_params = property(lambda self: (-self.precision_matrix / 2, self._excess / 2))
    _rows = property(lambda self: self._event_shape[-1])
    _excess = property(lambda self: self.df - self._rows - 1)
    _each_df = property(lambda self: self.df.view((*self._batch_shape, 1, 1)))
    mean = property(lambda self: self._each_df * self.covariance_matrix)

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        ways = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        given = [(name, mat) for name, mat in ways.items() if mat is not None]
        if len(given) != 1:
            raise AssertionError(ONE_OF_THREE)
        name, mat = given[0]
        if mat.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        if isinstance(df, NUMBERS):
            batch = Size(mat.shape[:-2])
            self.df = vistorch.tensor(df, dtype=mat.dtype, device=mat.device)
        else:
            batch = vistorch.broadcast_shapes(mat.shape[:-2], df.shape)
            self.df = df.expand(batch)
        event = mat.shape[-2:]
        if self.df.le(event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        setattr(self, name, mat.expand((*batch, -1, -1)))
        if self.df.lt(event[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        Distribution.__init__(self, batch, event, validate_args=validate_args)
        self._keep_factor(covariance_matrix, precision_matrix, scale_tril)
        self._keep_squares()

    def _keep_squares(self) -> None:
        """The distributions of the squares of the triangular factor's diagonal."""
        factor = self._unbroadcasted_scale_tril
        steps = vistorch.arange(
            self._unbroadcasted_scale_tril.shape[-1], dtype=factor.dtype, device=factor.device
        )
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - steps)

    def _expand_into(self, new: Any, shape: Size) -> None:
        super()._expand_into(new, shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(shape + self._event_shape)
        new._keep_squares()

    def _matrix_shape(self) -> Size:
        return self._batch_shape + self._event_shape

    @property
    def mode(self) -> Any:
        """Where the density is largest; nowhere up to as many degrees of freedom as rows, and one."""
        factor = self._excess
        factor = factor.masked_fill(factor <= 0, math.nan)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """The variance of each element."""
        whole = self.covariance_matrix
        diag = whole.diagonal(dim1=-2, dim2=-1)
        return self._each_df * (whole.pow(2) + diag.unsqueeze(-1) * diag.unsqueeze(-2))

    # ---- samples -------------------------------------------------------------------------------------------------
    def _draw(self, sample_shape: Size) -> Any:
        n = self._rows
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=vistorch.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = vistorch.tril_indices(n, n, offset=-1)
        shape = (*sample_shape, *self._batch_shape, n * (n - 1) // 2)
        noise[..., i, j] = vistorch.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """Samples as functions of the parameters, with gradients.

        Args:
            sample_shape: how many, as a shape.
            max_try_correction: how often samples are drawn again; without it, 10 times.
        """
        sample = self._draw(size_of(sample_shape))
        # TRAP: PyTorch takes good samples for singular ones here, warns and draws them again, and so do we: its
        # numbers and its warning are what programs know.
        again = self._all_of_batch(self.support.check(sample))
        if not again.any():
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            drawn = self._draw(again[again].shape)
            sample[again.clone()] = drawn  # the mask is written below, and kept for the gradient
            again[again.clone()] = self._all_of_batch(~self.support.check(drawn))
            if not again.any():
                break
        return sample

    def _all_of_batch(self, bad: Any) -> Any:
        """Whether any of a batch is bad, for each sample."""
        dims = [-(i + 1) for i in range(len(self._batch_shape))]
        return bad.amax(dims) if dims else bad

    # ---- numbers -------------------------------------------------------------------------------------------------
    def _half_log_det(self) -> Any:
        return self._rows * math.log(2) / 2 + log_diagonal(self._unbroadcasted_scale_tril)

    def _log_prob(self, value: Any) -> Any:
        half = self.df / 2
        turned = vistorch.cholesky_solve(value, self._unbroadcasted_scale_tril)
        return (
            self._excess / 2 * vistorch.linalg.slogdet(value).logabsdet
            - turned.diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2
            - self.df * self._half_log_det()
            - vistorch.mvlgamma(half, p=self._rows)
        )

    def _entropy(self) -> Any:
        n, half = self._rows, self.df / 2
        return (
            (n + 1) * self._half_log_det()
            + vistorch.mvlgamma(half, p=n)
            - self._excess / 2 * _sum_of_digammas(half, n)
            + half * n
        )

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        n = self._rows
        half = y + (n + 1) / 2
        log_det = vistorch.linalg.slogdet(-2 * x).logabsdet
        return half * (math.log(2) * n - log_det) + vistorch.mvlgamma(half, p=n)
