"""Exponential waiting times.

Invariant: the numbers are PyTorch's.
"""

from __future__ import annotations

from typing import Any

import vistorch

from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Waiting times with a constant rate.

    Args:
        rate: one over the mean.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Exponential
        >>> Exponential(2.0).log_prob(vistorch.tensor(0.0))
        tensor(0.6931)
    """

    arg_constraints = {"rate": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: vistorch.zeros_like(self.rate))
    variance = property(lambda self: self.rate.pow(-2))
    _natural_params = property(lambda self: (-self.rate,))

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, rate=rate)

    def _rsample(self, shape: Any) -> Any:
        waits = vistorch.empty(shape, dtype=self.rate.dtype, device=self.rate.device)
        return waits.exponential_() / self.rate

    def _log_prob(self, value: Any) -> Any:
        return self.rate.log() - self.rate * value

    def _cdf(self, value: Any) -> Any:
        return 1 - (-self.rate * value).exp()

    def _icdf(self, value: Any) -> Any:
        return -(-value).log1p() / self.rate

    def _entropy(self) -> Any:
        return 1.0 - self.rate.log()

    def _log_normalizer(self, x: Any) -> Any:
        return -(-x).log()
