"""Mixtures of distributions of one family.

Invariant: the components lie along the last batch dim of their distribution.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..engine.base.size import Size
from ..engine.library_name import library
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .family import Family

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Family):
    """A sample of one of several components, which is chosen at random.

    Args:
        mixture_distribution: a `Categorical`, which chooses.
        component_distribution: the components, along its last batch dim.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Categorical, MixtureSameFamily, Normal
        >>> parts = Normal(vistorch.tensor([-1.0, 3.0]), 1.0)
        >>> d = MixtureSameFamily(Categorical(vistorch.ones(2)), parts)
        >>> d.mean, d.variance
        (tensor(1.), tensor(5.))
        >>> d.component_distribution is parts, d.mixture_distribution.probs
        (True, tensor([0.5000, 0.5000]))
    """

    arg_constraints: Any = {}  # noqa: RUF012
    has_rsample = False
    _keeps = ("_num_component", "_event_ndims")

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                f" The Mixture distribution needs to be an  instance of {library}.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                f"The Component distribution needs to be an instance of {library}.distributions.Distribution"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        mixed, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for a, b in zip(reversed(mixed), reversed(batch), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        chosen, there = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if chosen != there:
            raise ValueError(
                f"`mixture_distribution component` ({chosen}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({there})"
            )
        self._num_component = chosen
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        Distribution.__init__(self, batch, event, validate_args=validate_args)

    def _expand_into(self, new: Any, shape: Size) -> None:
        super()._expand_into(new, shape)
        new._component_distribution = self._component_distribution.expand((*shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(shape)

    @constraints.dependent_property
    def support(self) -> Any:
        """The support of the components."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _pad(self, x: Any) -> Any:
        """With a dim for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _mean_over_components(self, x: Any) -> Any:
        probs = self._mixture_distribution.probs
        mixed = len(self._mixture_distribution.batch_shape)
        missing = 0 if mixed == 1 else len(self.batch_shape) - mixed
        weights = probs.reshape(
            (*probs.shape[:-1], *(1,) * missing, probs.shape[-1], *(1,) * self._event_ndims)
        )
        return (weights * x).sum(dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self._mean_over_components(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        """The mean of the variances, and the variance of the means."""
        parts = self._component_distribution
        between = (parts.mean - self._pad(self.mean)).pow(2.0)
        return self._mean_over_components(parts.variance) + self._mean_over_components(between)

    def cdf(self, x: Any) -> Any:
        """The probability of a sample up to `x`.

        Args:
            x: samples.
        """
        return (self._component_distribution.cdf(self._pad(x)) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        """The logarithm of the density, or of the probability.

        Args:
            x: samples.
        """
        self._check(x)
        weights = vistorch.log_softmax(self._mixture_distribution.logits, dim=-1)
        return (self._component_distribution.log_prob(self._pad(x)) + weights).logsumexp(dim=-1)

    def entropy(self) -> Any:
        """Not known in closed form."""
        raise NotImplementedError

    def _sample(self, sample_shape: Size) -> Any:
        event = self.event_shape
        chosen = self._mixture_distribution.sample(sample_shape)
        parts = self._component_distribution.sample(sample_shape)
        dim = len(sample_shape) + len(self.batch_shape)
        index = chosen.reshape((*chosen.shape, *(1,) * (len(event) + 1)))
        index = index.repeat((*(1,) * chosen.dim(), 1, *event))
        return parts.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
