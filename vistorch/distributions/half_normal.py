"""Absolute values of normal numbers.

Invariant: the numbers are those of `Normal`, without their signs.
"""

from __future__ import annotations

import math
from typing import Any

from .half_distribution import Half
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """The absolute value of a normal number of mean 0.

    Args:
        scale: the standard deviation of the normal number.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import HalfNormal
        >>> HalfNormal(1.0).log_prob(vistorch.tensor(0.0))
        tensor(-0.2258)
    """

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self._begin_half(Normal(0, scale, validate_args=False), validate_args)
