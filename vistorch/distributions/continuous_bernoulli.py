"""Numbers between 0 and 1 with an exponential density.

Invariant: near a probability of one half, where closed forms cancel, series are used.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from .chances import Trials, one_of
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Trials, ExponentialFamily):
    """Numbers between 0 and 1, whose density is that of a coin's sides, for all numbers between them.

    Args:
        probs: the parameter, between 0 and 1.
        logits: its log-odds, instead of `probs`.
        lims: between which values of `probs` series are used.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import ContinuousBernoulli
        >>> ContinuousBernoulli(vistorch.tensor(0.5)).mean
        tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _keeps = ("_given", "_lims")
    _natural_params = property(lambda self: (self.logits,))

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._given, value = one_of(probs, logits)
        (value,) = broadcast_all(value)
        if self._given == "probs":
            if validate_args is not None and not constraints.unit_interval.check(value).all():
                raise ValueError("The parameter probs has invalid values")
            value = clamp_probs(value)
        self._lims = lims
        self._begin(validate_args, **{self._given: value})

    @lazy_property
    def probs(self) -> Any:
        """The parameter, kept off 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    # ---- closed forms, and series near one half ------------------------------------------------------------------
    def _far(self) -> Any:
        """Whether closed forms hold."""
        low, high = self._lims
        return (self.probs <= low) | (self.probs > high)

    def _where_far(self, closed: Any, near: Any) -> Any:
        return vistorch.where(self._far(), closed, near)

    def _cut(self) -> Any:
        """The parameter, with one that is harmless in closed forms where series are used."""
        return self._where_far(self.probs, self._lims[0] * vistorch.ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Any:
        """The logarithm of the constant that makes the density's integral 1."""
        p = self._cut()
        closed = ((-p).log1p() - p.log()).abs().log() - (1.0 - 2.0 * p).abs().log()
        x = (self.probs - 0.5).pow(2)
        return self._where_far(closed, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        """The mean."""
        p = self._cut()
        closed = p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        return self._where_far(closed, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def variance(self) -> Any:
        """The variance."""
        p = self._cut()
        closed = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + 1.0 / ((-p).log1p() - p.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        return self._where_far(closed, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def _rsample(self, shape: Any) -> Any:
        return self.icdf(self._uniform(shape, self.probs))

    def _log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, value)
        coin = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - coin

    def _cdf(self, value: Any) -> Any:
        p = self._cut()
        closed = (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = self._where_far(closed, value)
        return inside.masked_fill(value <= 0.0, 0.0).masked_fill(value >= 1.0, 1.0)

    def _icdf(self, value: Any) -> Any:
        p = self._cut()
        fails = (-p).log1p()
        closed = ((-p + value * (2.0 * p - 1.0)).log1p() - fails) / (p.log() - fails)
        return self._where_far(closed, value)

    def _entropy(self) -> Any:
        fails = (-self.probs).log1p()
        return self.mean * (fails - self.probs.log()) - self._cont_bern_log_norm() - fails

    def _log_normalizer(self, x: Any) -> Any:
        low, high = (limit - 0.5 for limit in self._lims)
        far = (x <= low) | (x > high)
        cut = vistorch.where(far, x, low * vistorch.ones_like(x))
        closed = cut.expm1().abs().log() - cut.abs().log()
        return vistorch.where(far, closed, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
