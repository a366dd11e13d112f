"""Coins that may fall in between.

Invariant: what is drawn is the log-odds; the sigmoid comes last.
"""

from __future__ import annotations

from typing import Any

from . import constraints
from .chances import Trials
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Trials):
    """The log-odds of a `RelaxedBernoulli` number.

    Args:
        temperature: how far numbers may be from 0 and 1.
        probs: the probabilities of 1.
        logits: their log-odds, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support = constraints.real
    _keeps = ("_given", "temperature")

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        self._begin_trials(validate_args, probs, logits)

    def _rsample(self, shape: Any) -> Any:
        p = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(self._uniform(shape, p))
        return (u.log() - (-u).log1p() + p.log() - (-p).log1p()) / self.temperature

    def _log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, value)
        off = logits - value.mul(self.temperature)
        return self.temperature.log() + off - 2 * off.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """A coin that falls near 0 or 1, so that its samples have gradients.

    Args:
        temperature: how far numbers may be from 0 and 1.
        probs: the probabilities of 1.
        logits: their log-odds, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import RelaxedBernoulli
        >>> d = RelaxedBernoulli(vistorch.tensor(1.0), vistorch.tensor(0.5))
        >>> d.temperature, d.probs, d.logits
        (tensor(1.), tensor(0.5000), tensor(0.))
        >>> d.log_prob(vistorch.tensor([0.25, 0.5]))  # at this temperature as good as uniform
        tensor([0., 0.])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support = constraints.unit_interval
    has_rsample = True

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)
