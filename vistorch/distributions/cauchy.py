"""Numbers with tails so heavy that there is no mean.

Invariant: the numbers are PyTorch's.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .family import Family

__all__ = ["Cauchy"]


class Cauchy(Family):
    """The quotient of two normal numbers.

    Args:
        loc: the median.
        scale: the distance of the quartiles from it.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Cauchy
        >>> Cauchy(0.0, 1.0).cdf(vistorch.tensor(1.0))
        tensor(0.7500)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real
    has_rsample = True

    mean = property(lambda self: self._full(math.nan, self.loc))
    mode = property(lambda self: self.loc)
    variance = property(lambda self: self._full(math.inf, self.loc))

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, scale=scale)

    def _rsample(self, shape: Any) -> Any:
        eps = vistorch.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_()
        return self.loc + eps * self.scale

    def _log_prob(self, value: Any) -> Any:
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def _cdf(self, value: Any) -> Any:
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def _icdf(self, value: Any) -> Any:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def _entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
