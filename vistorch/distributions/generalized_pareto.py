"""What lies beyond a high threshold.

Invariant: a concentration near 0 is taken as 0, where the tail is exponential.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .family import Family

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Family):
    """Numbers from `loc` on, with a tail that is a power, exponential, or ends.

    Args:
        loc: the least number.
        scale: the spread.
        concentration: above 0 the tail is a power, at 0 exponential, below 0 it ends.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import GeneralizedPareto
        >>> d, x = GeneralizedPareto(0.0, 1.0, 0.0), vistorch.tensor(2.0)
        >>> d.log_prob(x), d.log_survival_function(x), d.log_cdf(x)
        (tensor(-2.), tensor(-2.), tensor(-0.1454))
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    mode = property(lambda self: self.loc)

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From `loc` to the end of the tail."""
        end = vistorch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, end)

    def _tail(self) -> tuple[Any, Any]:
        """Where the tail is exponential, and the concentration with a 1 there."""
        k = self.concentration
        plain = vistorch.isclose(k, vistorch.zeros_like(k))
        return plain, vistorch.where(plain, vistorch.ones_like(k), k)

    def _off(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    def _rsample(self, shape: Any) -> Any:
        return self.icdf(self._uniform(shape, self.loc))

    def _log_prob(self, value: Any) -> Any:
        z = self._off(value)
        plain, k = self._tail()
        power = 1 / k + vistorch.ones_like(z)
        bent = vistorch.where(power == 0, power, power * (k * z).log1p())
        return -self.scale.log() - vistorch.where(plain, z, bent)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of a sample beyond `value`.

        Args:
            value: samples.
        """
        self._check(value)
        z = self._off(value)
        plain, k = self._tail()
        return vistorch.where(plain, -z, -(k * z).log1p() / k)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the probability of a sample up to `value`.

        Args:
            value: samples.
        """
        return (-self.log_survival_function(value).exp()).log1p()

    def _cdf(self, value: Any) -> Any:
        return self.log_cdf(value).exp()

    def _icdf(self, value: Any) -> Any:
        plain, k = self._tail()
        left = (-value).log1p()
        bent = self.loc + self.scale / k * (-k * left).expm1()
        return vistorch.where(plain, self.loc - self.scale * left, bent)

    @property
    def mean(self) -> Any:
        """The mean; none from a concentration of 1 on."""
        has = self.concentration < 1
        k = vistorch.where(has, self.concentration, 0.5)
        return vistorch.where(has, self.loc + self.scale / (1 - k), math.nan)

    @property
    def variance(self) -> Any:
        """The variance; none from a concentration of 0.5 on."""
        has = self.concentration < 0.5
        k = vistorch.where(has, self.concentration, 0.25)
        return vistorch.where(has, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), math.nan)

    def _entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1
