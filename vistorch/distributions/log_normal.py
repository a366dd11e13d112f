"""Numbers whose logarithm is normal.

Invariant: the numbers are the exponentials of those of `Normal`.
"""

from __future__ import annotations

from typing import Any

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """The exponential of a normal number.

    Args:
        loc: the mean of the logarithm.
        scale: its standard deviation.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import LogNormal
        >>> d = LogNormal(0.0, 1.0)
        >>> d.log_prob(vistorch.tensor(1.0)), d.mean  # `loc` and `scale` are those of the logarithm
        (tensor(-0.9189), tensor(1.6487))
        >>> d.loc, d.scale
        (tensor(0.), tensor(1.))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    has_rsample = True

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())
    variance = property(lambda self: self.scale.pow(2).expm1() * (2 * self.loc + self.scale.pow(2)).exp())

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def _entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc
