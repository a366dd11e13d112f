"""Points of a simplex from normal vectors.

Invariant: a vector of n numbers gives a point of n + 1.
"""

from __future__ import annotations

from typing import Any

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """A stick broken where normal numbers say.

    Args:
        loc: the means.
        scale: the standard deviations.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import LogisticNormal
        >>> d = LogisticNormal(vistorch.zeros(2), vistorch.ones(2))
        >>> d.loc.shape, d.scale.shape, d.sample().shape  # two breaks make three pieces
        (vistorch.Size([2]), vistorch.Size([2]), vistorch.Size([3]))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.simplex
    has_rsample = True

    loc = property(lambda self: self.base_dist.base_dist.loc)
    scale = property(lambda self: self.base_dist.base_dist.scale)

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)
