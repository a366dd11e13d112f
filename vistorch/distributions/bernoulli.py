"""Coins.

Invariant: `log_prob` comes from log-odds, so that it stays finite where probabilities round to 0 or 1.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from .chances import Trials
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(Trials, ExponentialFamily):
    """1 with probability `probs`, else 0.

    Args:
        probs: the probabilities.
        logits: their log-odds, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Bernoulli
        >>> Bernoulli(0.25).log_prob(vistorch.tensor(1.0))
        tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    _natural_params = property(lambda self: (self.probs.logit(),))

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._begin_trials(validate_args, probs, logits)

    @property
    def mode(self) -> Any:
        """The likelier side, nan where there is none."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = math.nan
        return mode

    def _sample(self, sample_shape: Any) -> Any:
        return vistorch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def _entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 and 1.

        Args:
            expand: for each distribution of the batch, or once, to be broadcast.
        """
        return self._counts(2, expand)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp().log1p()
