"""Counts of categories in a number of draws.

Invariant: the number of draws is one for the whole batch.
"""

from __future__ import annotations

from math import inf
from typing import Any

import vistorch

from ..engine.base.size import Size
from . import constraints
from .binomial import Binomial
from .one_hot_categorical import OfCategorical
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OfCategorical):
    """How often each category comes in `total_count` draws.

    Args:
        total_count: the number of draws.
        probs: the probabilities, or numbers in proportion to them.
        logits: their logarithms up to a constant in each row, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Multinomial
        >>> Multinomial(4, vistorch.tensor([0.0, 1.0])).sample()
        tensor([0., 4.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.dependent_property(
        lambda self: constraints.multinomial(self.total_count), is_discrete=True, event_dim=1
    )
    _keeps = ("total_count",)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._begin_categories(probs, logits, validate_args)

    def _sample(self, sample_shape: Size) -> Any:
        drawn = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, drawn, vistorch.ones_like(drawn)).type_as(self.probs)

    def _log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, value)
        # A category that cannot come and did not come adds nothing.
        powers = logits.masked_fill((value == 0) & (logits == -inf), 0) * value
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + powers.sum(-1)

    def _entropy(self) -> Any:
        n = vistorch.tensor(self.total_count)
        each = Binomial(self.total_count, probs=self.probs)
        counts = each.enumerate_support(expand=False)[1:]
        repeated = (each.log_prob(counts).exp() * (counts + 1).lgamma()).sum([0, -1])
        return n * self._categorical.entropy() - (n + 1).lgamma() + repeated
