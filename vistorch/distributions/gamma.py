"""Gamma numbers.

Invariant: the numbers are PyTorch's; their gradient with respect to the shape is exact.
"""

from __future__ import annotations

from typing import Any

import vistorch

from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma numbers.

    Args:
        concentration: the shape.
        rate: one over the scale.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Gamma
        >>> Gamma(1.0, 2.0).log_prob(vistorch.tensor(1.0))
        tensor(-1.3069)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))
    _natural_params = property(lambda self: (self.concentration - 1, -self.rate))

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, concentration=concentration, rate=rate)

    def _rsample(self, shape: Any) -> Any:
        value = vistorch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=vistorch.finfo(value.dtype).tiny)  # 0 is not inside the support
        return value

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density.

        Args:
            value: samples, tensors or numbers.
        """
        return super().log_prob(vistorch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device))

    def _log_prob(self, value: Any) -> Any:
        a, rate = self.concentration, self.rate
        return vistorch.xlogy(a, rate) + vistorch.xlogy(a - 1, value) - rate * value - a.lgamma()

    def _cdf(self, value: Any) -> Any:
        return vistorch.igamma(self.concentration, self.rate * value)

    def _entropy(self) -> Any:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()
