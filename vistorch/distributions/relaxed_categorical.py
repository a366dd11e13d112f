"""Categories that may be mixed.

Invariant: what is drawn is the logarithms of the weights; the exponential comes last.
"""

from __future__ import annotations

from typing import Any

import vistorch

from . import constraints
from .one_hot_categorical import OfCategorical
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OfCategorical):
    """The logarithms of `RelaxedOneHotCategorical` weights.

    Args:
        temperature: how far weights may be from 0 and 1.
        probs: the probabilities, or numbers in proportion to them.
        logits: their logarithms up to a constant in each row, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.real_vector
    has_rsample = True
    _keeps = ("temperature",)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        self._begin_categories(probs, logits, validate_args)

    def _rsample(self, shape: Any) -> Any:
        u = clamp_probs(self._uniform(shape, self.logits))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def _log_prob(self, value: Any) -> Any:
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        scale = vistorch.full_like(self.temperature, float(k)).lgamma() + self.temperature.log() * (k - 1)
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Weights near those of a single category, so that samples have gradients.

    Args:
        temperature: how far weights may be from 0 and 1.
        probs: the probabilities, or numbers in proportion to them.
        logits: their logarithms up to a constant in each row, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import RelaxedOneHotCategorical
        >>> d = RelaxedOneHotCategorical(vistorch.tensor(0.5), vistorch.tensor([1.0, 3.0]))
        >>> d.temperature, d.probs, d.logits
        (tensor(0.5000), tensor([0.2500, 0.7500]), tensor([-1.3863, -0.2877]))
        >>> d.support.check(d.rsample())  # weights that add up to 1
        tensor(True)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.simplex
    has_rsample = True

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
