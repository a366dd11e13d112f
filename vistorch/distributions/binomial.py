"""Successes in a number of trials.

Invariant: the numbers are PyTorch's; each distribution of the batch has its own number of trials.
"""

from __future__ import annotations

from typing import Any

import vistorch

from . import constraints
from .chances import Trials

__all__ = ["Binomial"]


class Binomial(Trials):
    """How many of `total_count` trials succeed.

    Args:
        total_count: the numbers of trials.
        probs: the probabilities of success.
        logits: their log-odds, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Binomial
        >>> Binomial(2, vistorch.tensor(0.5)).log_prob(vistorch.tensor(1.0)).exp()
        tensor(0.5000)
    """

    arg_constraints = {  # noqa: RUF012
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.dependent_property(
        lambda self: constraints.integer_interval(0, self.total_count), is_discrete=True, event_dim=0
    )
    has_enumerate_support = True

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._begin_counted(total_count, probs, logits, validate_args)

    def _sample(self, sample_shape: Any) -> Any:
        shape = self._extended_shape(sample_shape)
        return vistorch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def _log_prob(self, value: Any) -> Any:
        n, logits = self.total_count, self.logits
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        # log(1 + exp(logits)) without overflow; the halves give max(x, 0) a slope of 1/2 at 0
        above = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        return value * logits + ways - n * (above + (-logits.abs()).exp().log1p())

    def _only_count(self, asked: str) -> int:
        """The number of trials, where it is one for the whole batch."""
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asked}`.")
        return count

    def _entropy(self) -> Any:
        self._only_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 to `total_count`.

        Args:
            expand: for each distribution of the batch, or once, to be broadcast.
        """
        return self._counts(1 + self._only_count("enumerate_support"), expand)
