"""Categories as rows of zeros with a single one.

Invariant: numbers are drawn and weighed by a `Categorical` of the same batch.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..engine.base.size import Size
from ..nn.functional import one_hot
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .family import Family

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OfCategorical(Family):
    """A family that is given by probabilities of categories, and has a row of them as its event."""

    _made_of = ("_categorical",)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)
    _param = property(lambda self: self._categorical._param)

    def _begin_categories(self, probs: Any, logits: Any, validate_args: bool | None, **checks: Any) -> None:
        self._categorical = Categorical(probs, logits, **checks)
        shape = self._categorical.param_shape[-1:]
        Distribution.__init__(self, self._categorical.batch_shape, shape, validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)


class OneHotCategorical(OfCategorical):
    """A category as a row of zeros with a single one.

    Args:
        probs: the probabilities, or numbers in proportion to them.
        logits: their logarithms up to a constant in each row, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import OneHotCategorical
        >>> OneHotCategorical(vistorch.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.one_hot
    has_enumerate_support = True

    mean = property(lambda self: self.probs)
    mode = property(lambda self: self._rows(self.probs.argmax(dim=-1)))
    variance = property(lambda self: self.probs * (1 - self.probs))

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._begin_categories(probs, logits, validate_args)

    def _rows(self, index: Any) -> Any:
        return one_hot(index, self.probs.shape[-1]).to(self.probs)

    def _sample(self, sample_shape: Size) -> Any:
        return self._rows(self._categorical.sample(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        return self._categorical.log_prob(value.max(-1)[1])

    def _entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """The rows of the unit matrix.

        Args:
            expand: for each distribution of the batch, or once, to be broadcast.
        """
        n, batch = self.event_shape[0], self.batch_shape
        rows = vistorch.eye(n, dtype=self._param.dtype, device=self._param.device)
        rows = rows.view((n, *(1,) * len(batch), n))
        return rows.expand((n, *batch, n)) if expand else rows


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A `OneHotCategorical` whose samples pass the gradient straight to the probabilities.

    Args:
        probs: the probabilities, or numbers in proportion to them.
        logits: their logarithms up to a constant in each row, instead of `probs`.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import OneHotCategoricalStraightThrough
        >>> logits = vistorch.zeros(3, requires_grad=True)
        >>> sample = OneHotCategoricalStraightThrough(logits=logits).rsample()
        >>> sample[0].backward()
        >>> logits.grad
        tensor([ 0.2222, -0.1111, -0.1111])
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples, with the gradients of the probabilities in their place.

        Args:
            sample_shape: how many, as a shape.
        """
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
