"""Failures before the first success.

Invariant: a distribution given by `probs` refuses a probability of 0, which would never end.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from .chances import Trials
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(Trials):
    """How many trials fail before one succeeds.

    Args:
        probs: the probabilities of success.
        logits: their log-odds, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> from vistorch.distributions import Geometric
        >>> Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support = constraints.nonnegative_integer

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: vistorch.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._begin_trials(validate_args, probs, logits)
        if not self._validate_args or self._given == "logits":
            return
        p = self.probs
        if not (p > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(p).__name__} of shape {tuple(p.shape)}) of distribution {self!r} to "
                f"be positive but found invalid values:\n{p.data[~(p > 0)]}"
            )

    def _sample(self, sample_shape: Any) -> Any:
        p = self.probs
        u = self._uniform(self._extended_shape(sample_shape), p, vistorch.finfo(p.dtype).tiny, 1)
        return (u.log() / (-p).log1p()).floor()

    def _log_prob(self, value: Any) -> Any:
        value, p = broadcast_all(value, self.probs)
        # no failure before a sure success: 0 * log(0) would be nan
        fails = p.masked_fill((p == 1) & (value == 0), 0)
        return value * (-fails).log1p() + self.probs.log()

    def _entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
