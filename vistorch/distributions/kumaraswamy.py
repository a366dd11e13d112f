"""Numbers between 0 and 1 with a distribution function in closed form.

Invariant: the numbers are powers of uniform ones.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers between 0 and 1, much like those of `Beta`.

    Args:
        concentration1: the weight of 1.
        concentration0: the weight of 0.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Kumaraswamy
        >>> Kumaraswamy(vistorch.tensor(1.0), vistorch.tensor(3.0)).mean
        tensor(0.2500)
    """

    arg_constraints = {  # noqa: RUF012
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self.mean.pow(2))

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        bounds = [vistorch.full_like(self.concentration0, bound) for bound in (0, 1)]
        steps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(Uniform(*bounds, validate_args=validate_args), steps, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        at, b = 1 + n / self.concentration1, self.concentration0
        return b * (at.lgamma() + b.lgamma() - (at + b).lgamma()).exp()

    @property
    def mode(self) -> Any:
        """Where the density is largest; nan where it has no peak."""
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        log_mode[(b < 1) | (a < 1)] = math.nan
        return log_mode.exp()

    def _entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
