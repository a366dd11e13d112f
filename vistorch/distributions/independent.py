"""Batch dims as dims of the event.

Invariant: nothing is computed here but sums over those dims.
"""

from __future__ import annotations

from typing import Any

from ..engine.base.size import Size
from . import constraints
from .distribution import Distribution
from .family import Family
from .utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Family):
    """A distribution whose last batch dims count as dims of the event.

    Args:
        base_distribution: the distribution.
        reinterpreted_batch_ndims: how many dims.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Independent, Normal
        >>> Independent(Normal(vistorch.zeros(3), 1.0), 1).event_shape
        vistorch.Size([3])
    """

    arg_constraints: Any = {}  # noqa: RUF012
    _keeps = ("reinterpreted_batch_ndims",)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    has_enumerate_support = property(
        lambda self: not self.reinterpreted_batch_ndims > 0 and self.base_dist.has_enumerate_support
    )
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        most = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > most:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {most}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = most - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        Distribution.__init__(self, shape[:cut], shape[cut:], validate_args=validate_args)

    def _expand_into(self, new: Any, shape: Size) -> None:
        super()._expand_into(new, shape)
        new.base_dist = self.base_dist.expand(shape + self.event_shape[: self.reinterpreted_batch_ndims])

    @constraints.dependent_property
    def support(self) -> Any:
        """The support of the distribution, for whole events."""
        inside = self.base_dist.support
        n = self.reinterpreted_batch_ndims
        return constraints.independent(inside, n) if n else inside

    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples of the distribution.

        Args:
            sample_shape: how many, as a shape.
        """
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples of the distribution, with gradients.

        Args:
            sample_shape: how many, as a shape.
        """
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, summed over the dims of the event.

        Args:
            value: samples.
        """
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def cdf(self, value: Any) -> Any:
        """Not defined for whole events."""
        raise NotImplementedError

    def _entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All samples there can be, where no batch dim belongs to the event.

        Args:
            expand: for each distribution of the batch, or once, to be broadcast.
        """
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
