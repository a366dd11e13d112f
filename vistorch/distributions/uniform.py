"""Uniform numbers.

Invariant: the lower bound belongs to the distribution, the upper one does not.
"""

from __future__ import annotations

import math
from typing import Any

from . import constraints
from .family import Family

__all__ = ["Uniform"]


class Uniform(Family):
    """Numbers uniform in [low, high).

    Args:
        low: the lower bound.
        high: the upper bound.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Uniform
        >>> Uniform(0.0, 4.0).log_prob(vistorch.tensor(1.0))
        tensor(-1.3863)
    """

    has_rsample = True
    support = constraints.dependent_property(
        lambda self: constraints.interval(self.low, self.high), is_discrete=False, event_dim=0
    )
    arg_constraints = property(
        lambda self: {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}
    )

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: math.nan * self.high)
    stddev = property(lambda self: self._width / 12**0.5)
    variance = property(lambda self: self._width.pow(2) / 12)
    _width = property(lambda self: self.high - self.low)

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, low=low, high=high)

    def _rsample(self, shape: Any) -> Any:
        return self.low + self._uniform(shape, self.low) * self._width

    def _log_prob(self, value: Any) -> Any:
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return inside.log() - self._width.log()

    def _cdf(self, value: Any) -> Any:
        return ((value - self.low) / self._width).clamp(min=0, max=1)

    def _icdf(self, value: Any) -> Any:
        return value * self._width + self.low

    def _entropy(self) -> Any:
        return self._width.log()
