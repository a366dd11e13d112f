"""The positive half of a distribution that is symmetric about 0.

Invariant: the density is twice that of the whole, and 0 below 0.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class Half(TransformedDistribution):
    """The absolute values of a symmetric distribution with a scale."""

    arg_constraints = {"scale": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    has_rsample = True

    scale = property(lambda self: self.base_dist.scale)
    mode = property(lambda self: vistorch.zeros_like(self.scale))

    def _begin_half(self, whole: Any, validate_args: bool | None) -> None:
        TransformedDistribution.__init__(self, whole, AbsTransform(), validate_args=validate_args)

    def _log_prob(self, value: Any) -> Any:
        value = vistorch.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return vistorch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        """The probability of a sample up to `value`.

        Args:
            value: samples.
        """
        self._check(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        """The samples up to which the probabilities are `prob`.

        Args:
            prob: probabilities.
        """
        return self.base_dist.icdf((prob + 1) / 2)

    def _entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
