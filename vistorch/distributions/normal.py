"""Normal numbers.

Invariant: `sample` and `rsample` draw the same numbers as PyTorch's, each by its own way.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .exp_family import ExponentialFamily
from .utils import standard_normal

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """Normal numbers.

    Args:
        loc: the mean.
        scale: the standard deviation.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Normal
        >>> Normal(0.0, 1.0).log_prob(vistorch.tensor(0.0))
        tensor(-0.9189)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.stddev.pow(2))
    _natural_params = property(lambda self: (self.loc / self.variance, -0.5 * self.variance.reciprocal()))

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, scale=scale)

    def _sample(self, sample_shape: Any) -> Any:
        shape = self._extended_shape(sample_shape)
        return vistorch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def _rsample(self, shape: Any) -> Any:
        return self.loc + standard_normal(shape, self.loc) * self.scale

    def _log_prob(self, value: Any) -> Any:
        off = value - self.loc
        return -(off**2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def _cdf(self, value: Any) -> Any:
        return 0.5 * (1 + vistorch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def _icdf(self, value: Any) -> Any:
        return self.loc + self.scale * vistorch.erfinv(2 * value - 1) * math.sqrt(2)

    def _entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.pow(2) / y + 0.5 * (-math.pi / y).log()
