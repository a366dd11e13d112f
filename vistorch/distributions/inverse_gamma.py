"""One over gamma numbers.

Invariant: the numbers are one over those of `Gamma`.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """One over a gamma number.

    Args:
        concentration: the shape.
        rate: the rate of the gamma number, which is the scale here.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import InverseGamma
        >>> d = InverseGamma(vistorch.tensor(3.0), vistorch.tensor(1.0))
        >>> d.mean, d.rate / (d.concentration - 1)
        (tensor(0.5000), tensor(0.5000))
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    has_rsample = True

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)
    mode = property(lambda self: self.rate / (self.concentration + 1))

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        step = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, step, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean, infinite up to a shape of 1."""
        a = self.concentration
        return vistorch.where(a > 1, self.rate / (a - 1), math.inf)

    @property
    def variance(self) -> Any:
        """The variance, infinite up to a shape of 2."""
        a = self.concentration
        return vistorch.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def _entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
