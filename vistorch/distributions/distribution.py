"""The base of all distributions: shapes, checks of parameters and samples, and what each of them may offer.

Invariant: the names, arguments and sentences are PyTorch's; nothing here knows what a distribution is made of.
"""

from __future__ import annotations

import warnings
from typing import Any

import vistorch

from ..engine.base.size import Size
from ..engine.core.tensor import Tensor
from . import constraints
from .utils import lazy_property, size_of

__all__ = ["Distribution"]


def not_given(meaning: str) -> property:
    """A property that a subclass has to give."""

    def missing(self: Any) -> Any:
        raise NotImplementedError

    return property(missing, doc=meaning)


class Distribution:
    """A distribution of tensors, of which a batch is kept together.

    Args:
        batch_shape: how many of them, as a shape.
        event_shape: the shape of one sample of one of them.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Normal
        >>> d = Normal(vistorch.zeros(3), 1.0)
        >>> d.batch_shape, d.event_shape, d.sample((2,)).shape
        (vistorch.Size([3]), vistorch.Size([]), vistorch.Size([2, 3]))
        >>> d.has_rsample, d.has_enumerate_support  # gradients reach the parameters; samples cannot be listed
        (True, False)
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether distributions check their parameters and samples by default.

        Args:
            value: True or False.

        Example:
            >>> from vistorch.distributions import Distribution, Normal
            >>> Distribution.set_default_validate_args(False)
            >>> Normal(0.0, -1.0)  # with the check: "Expected parameter scale ..."
            Normal(loc: 0.0, scale: -1.0)
            >>> Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = Size(),  # noqa: B008  it cannot be changed
        event_shape: Any = Size(),  # noqa: B008
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    # ---- shapes ----------------------------------------------------------------------------------------------------
    @property
    def batch_shape(self) -> Size:
        """How many distributions, as a shape."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample of one of them."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*size_of(sample_shape), *self._batch_shape, *self._event_shape))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions in a larger batch, without copies.

        Args:
            batch_shape: the shape wanted.
            _instance: a new object to fill, given by subclasses.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Normal
            >>> d = Normal(vistorch.tensor([0.0, 5.0]), 1.0).expand((3, 2))
            >>> d.batch_shape, d.loc[2]
            (vistorch.Size([3, 2]), tensor([0., 5.]))
        """
        raise NotImplementedError

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return self.__new__(type(self))

    # ---- what is allowed --------------------------------------------------------------------------------------------
    # of any type for a checker: a subclass may write a property, a dependent one, or the constraint itself
    arg_constraints: Any = not_given(
        """The constraint of each parameter.

        Example:
            >>> from vistorch.distributions import Normal
            >>> Normal(0.0, 1.0).arg_constraints
            {'loc': Real(), 'scale': GreaterThan(lower_bound=0.0)}
        """
    )
    support: Any = not_given(
        """The constraint of samples.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Beta
            >>> Beta(2.0, 2.0).support, Beta(2.0, 2.0).support.check(vistorch.tensor([0.5, 1.5]))
            (Interval(lower_bound=0.0, upper_bound=1.0), tensor([ True, False]))
        """
    )

    def _validate_parameters(self) -> None:
        try:
            limits = self.arg_constraints
        except NotImplementedError:
            limits = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for name, limit in limits.items():
            if constraints.is_dependent(limit):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # made from what is checked
            value = getattr(self, name)
            if not limit.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {limit!r}, but found invalid values:\n{value}"
                )

    def _check(self, value: Any) -> None:
        """`_validate_sample`, where validation is on."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Refuse what is no sample of this distribution."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event = value.size(), self._event_shape
        if shape[len(shape) - len(event) :] != event:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {event}.")
        expected = self._batch_shape + event
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != j and i != 1 and j != 1:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=2,
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    # ---- numbers ---------------------------------------------------------------------------------------------------
    @property
    def mean(self) -> Any:
        """The mean.

        Example:
            >>> from vistorch.distributions import Exponential
            >>> Exponential(4.0).mean  # four events an hour: a quarter of an hour from one to the next
            tensor(0.2500)
        """
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """Where the density or probability is largest.

        Example:
            >>> from vistorch.distributions import Gamma
            >>> skewed = Gamma(3.0, 1.0)
            >>> skewed.mode, skewed.mean
            (tensor(2.), tensor(3.))
        """
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance.

        Example:
            >>> from vistorch.distributions import Binomial
            >>> Binomial(16, probs=0.5).variance
            tensor(4.)
        """
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation.

        Example:
            >>> from vistorch.distributions import Binomial
            >>> Binomial(16, probs=0.5).stddev
            tensor(2.)
        """
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples, without gradients.

        Args:
            sample_shape: how many, as a shape.
        """
        with vistorch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples as functions of the parameters, with gradients.

        Args:
            sample_shape: how many, as a shape.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Normal
            >>> loc = vistorch.tensor(0.0, requires_grad=True)
            >>> Normal(loc, 1.0).rsample((4,)).sum().backward()
            >>> loc.grad  # each of the four moves as it does
            tensor(4.)
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """`sample((n,))`, an older name for it.

        Args:
            n: how many.

        Example:
            >>> import warnings
            >>> from vistorch.distributions import Normal
            >>> with warnings.catch_warnings(record=True) as said:
            ...     warnings.simplefilter("always")
            ...     print(Normal(0.0, 1.0).sample_n(5).shape, said[0].message)
            vistorch.Size([5]) `sample_n(n)` will be deprecated. Use `sample((n,))` instead.
        """
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability.

        Args:
            value: samples.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Bernoulli
            >>> log_p = Bernoulli(0.25).log_prob(vistorch.tensor([0.0, 1.0]))
            >>> log_p, log_p.exp()
            (tensor([-0.2877, -1.3863]), tensor([0.7500, 0.2500]))
        """
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of a sample up to `value`.

        Args:
            value: samples.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Uniform
            >>> Uniform(0.0, 4.0).cdf(vistorch.tensor([1.0, 3.0]))
            tensor([0.2500, 0.7500])
        """
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The samples up to which the probabilities are `value`.

        Args:
            value: probabilities.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Normal
            >>> Normal(0.0, 1.0).icdf(vistorch.tensor([0.025, 0.975]))  # between them lie 95 %
            tensor([-1.9600,  1.9600])
        """
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All samples there can be, along a new first dim.

        Args:
            expand: for each distribution of the batch, or once, to be broadcast.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Bernoulli
            >>> d = Bernoulli(vistorch.tensor([0.25, 0.5]))
            >>> every = d.enumerate_support(expand=False)
            >>> every.shape, d.log_prob(every).exp()  # a row for 0, a row for 1
            (vistorch.Size([2, 1]), tensor([[0.7500, 0.5000],
                    [0.2500, 0.5000]]))
        """
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Bernoulli
            >>> Bernoulli(vistorch.tensor([0.5, 0.9, 0.99])).entropy()  # the surer, the less
            tensor([0.6931, 0.3251, 0.0560])
        """
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import Categorical
            >>> Categorical(vistorch.tensor([[1.0, 1.0, 1.0, 1.0], [9.0, 9.0, 1.0, 1.0]])).perplexity()
            tensor([4.0000, 2.7683])
        """
        return self.entropy().exp()

    def __repr__(self) -> str:
        own = self.__dict__
        shown = [(name, own[name]) for name in self.arg_constraints if name in own]
        inside = ", ".join(f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in shown)
        return f"{type(self).__name__}({inside})"
