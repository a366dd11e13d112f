"""Successes before a number of failures.

Invariant: the numbers are Poisson numbers of a gamma rate, as PyTorch's are.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..nn.functional import logsigmoid
from . import constraints
from .chances import Trials
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Trials):
    """How many trials succeed before `total_count` of them fail.

    Args:
        total_count: the numbers of failures; they need not be whole.
        probs: the probabilities of success.
        logits: their log-odds, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import NegativeBinomial
        >>> NegativeBinomial(3.0, vistorch.tensor(0.5)).mean
        tensor(3.)
    """

    arg_constraints = {  # noqa: RUF012
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    mean = property(lambda self: self.total_count * self.logits.exp())
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0))
    variance = property(lambda self: self.mean / (-self.logits).sigmoid())

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._begin_counted(total_count, probs, logits, validate_args)

    @lazy_property
    def _gamma(self) -> Gamma:
        # no checks: a count of 0 makes a shape of 0
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def _sample(self, sample_shape: Any) -> Any:
        return vistorch.poisson(self._gamma.sample(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        n, logits = self.total_count, self.logits
        ways = (n + value).lgamma() - (1.0 + value).lgamma() - n.lgamma()
        ways = ways.masked_fill(n + value == 0.0, 0.0)  # inf - inf: nothing comes of no trials for sure
        return n * logsigmoid(-logits) + value * logsigmoid(logits) + ways
