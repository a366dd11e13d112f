"""Absolute values of Cauchy numbers.

Invariant: the numbers are those of `Cauchy`, without their signs.
"""

from __future__ import annotations

import math
from typing import Any

from .cauchy import Cauchy
from .half_distribution import Half

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The absolute value of a Cauchy number of median 0.

    Args:
        scale: the median.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import HalfCauchy
        >>> HalfCauchy(1.0).cdf(vistorch.tensor(1.0))
        tensor(0.5000)
    """

    mean = property(lambda self: self._full(math.inf, self.scale))
    variance = property(lambda self: self.base_dist.variance)

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self._begin_half(Cauchy(0, scale, validate_args=False), validate_args)
