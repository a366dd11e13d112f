"""Waiting times whose rate grows or falls with time.

Invariant: expanded, it is built anew, for its transforms hold the parameters.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..engine.base.size import Size
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """A power of an exponential number.

    Args:
        scale: the scale.
        concentration: one over the power.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Weibull
        >>> Weibull(vistorch.tensor(2.0), vistorch.tensor(1.0)).mean
        tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}  # noqa: RUF012
    support = constraints.positive

    mean = property(lambda self: self.scale * (1 + self.concentration_reciprocal).lgamma().exp())

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(vistorch.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list:
        self.concentration_reciprocal = self.concentration.reciprocal()
        return [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]

    def _expand_into(self, new: Any, shape: Size) -> None:
        new.scale, new.concentration = self.scale.expand(shape), self.concentration.expand(shape)
        new.base_dist = self.base_dist.expand(shape)
        new.transforms = new._steps()

    @property
    def mode(self) -> Any:
        """Where the density is largest."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Any:
        """The variance."""
        r = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * r).lgamma().exp() - (2 * (1 + r).lgamma()).exp())

    def _entropy(self) -> Any:
        r = self.concentration_reciprocal
        return euler_constant * (1 - r) + (self.scale * r).log() + 1
