"""Categories by number.

Invariant: `probs` add up to 1 in each row, and so do the exponentials of `logits`.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ..engine.base.size import Size
from . import constraints
from .chances import Chances, one_of
from .distribution import Distribution

__all__ = ["Categorical"]


class Categorical(Chances):
    """A category, 0 to n - 1, with the probabilities of a row of n.

    Args:
        probs: the probabilities, or numbers in proportion to them.
        logits: their logarithms up to a constant in each row, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Categorical
        >>> Categorical(vistorch.tensor([1.0, 3.0])).log_prob(vistorch.tensor(0))
        tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.dependent_property(
        lambda self: constraints.integer_interval(0, self._num_events - 1), is_discrete=True, event_dim=0
    )
    has_enumerate_support = True
    _binary = False
    _keeps = ("_given", "_num_events")

    mean = variance = property(lambda self: self._full(math.nan, self.probs))
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._given, value = one_of(probs, logits)
        if value.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = value - value.logsumexp(dim=-1, keepdim=True)
        self._num_events = value.size()[-1]
        Distribution.__init__(self, value.size()[:-1], validate_args=validate_args)

    def _sample(self, sample_shape: Size) -> Any:
        rows = self.probs.reshape(-1, self._num_events)
        drawn = vistorch.multinomial(rows, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        index, logits = vistorch.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def _entropy(self) -> Any:
        finite = self.logits.clamp(min=vistorch.finfo(self.logits.dtype).min)  # 0 * -inf would be nan
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All categories.

        Args:
            expand: for each distribution of the batch, or once, to be broadcast.
        """
        return self._counts(self._num_events, expand, vistorch.long)
