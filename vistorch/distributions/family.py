"""Distributions that are made of tensors: how they begin, expand, and check before they answer.

A family writes its formulas as `_log_prob`, `_cdf`, `_icdf`, `_entropy`, `_rsample` and `_sample`; the public methods
check the value first, where PyTorch does. It names what else it is made of than its parameters (tensors, or
distributions of the same batch) in `_made_of`, and what is copied as it is in `_keeps`.
Invariant: a parameter's shape is the batch shape and then the parameter's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vistorch

from ..engine.base.namespace import own_module
from ..engine.base.size import Size
from ..engine.core.tensor import Tensor
from .distribution import Distribution
from .utils import broadcast_all, size_of

PACKAGE = __name__.rpartition(".")[0]


class Family(Distribution):
    """Distributions that are made of tensors, or of other distributions, of one batch."""

    _made_of: tuple[str, ...] = ()
    _keeps: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Parameters are set by name."""

    def _begin(self, validate_args: bool | None, **parameters: Any) -> None:
        """Broadcast the parameters, keep them, and start."""
        tensors = broadcast_all(*parameters.values())
        for name, t in zip(parameters, tensors, strict=True):
            setattr(self, name, t)
        Distribution.__init__(self, tensors[0].size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions in a larger batch, without copies.

        Args:
            batch_shape: the shape wanted.
            _instance: a new object to fill, given by subclasses.
        """
        home = next(c for c in type(self).__mro__ if own_module(c).startswith(PACKAGE + "."))
        new = self._get_checked_instance(home, _instance)
        shape = size_of(batch_shape)
        self._expand_into(new, shape)
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_into(self, new: Any, shape: Size) -> None:
        """Give a new object this one's parts, expanded."""
        own = self.__dict__
        skip = len(self._batch_shape)
        for name in {**dict.fromkeys(self.arg_constraints), **dict.fromkeys(self._made_of)}:
            part = own.get(name)
            if isinstance(part, Tensor):
                setattr(new, name, part.expand((*shape, *part.shape[skip:])))
            elif part is not None:
                setattr(new, name, part.expand(shape))
        for name in self._keeps:
            setattr(new, name, own[name])

    # ---- the public methods, and the formulas behind them -----------------------------------------------------------
    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples, without gradients.

        Args:
            sample_shape: how many, as a shape.
        """
        with vistorch.no_grad():
            return self._sample(size_of(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples as functions of the parameters, with gradients.

        Args:
            sample_shape: how many, as a shape.
        """
        return self._rsample(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability.

        Args:
            value: samples.
        """
        self._check(value)
        return self._log_prob(value)

    def cdf(self, value: Any) -> Any:
        """The probability of a sample up to `value`.

        Args:
            value: samples.
        """
        if type(self)._cdf is not Family._cdf:  # without a formula, no value is looked at
            self._check(value)
        return self._cdf(value)

    def icdf(self, value: Any) -> Any:
        """The samples up to which the probabilities are `value`.

        Args:
            value: probabilities.
        """
        return self._icdf(value)

    def entropy(self) -> Any:
        """The entropy."""
        return self._entropy()

    def _sample(self, sample_shape: Size) -> Any:
        return self.rsample(sample_shape)

    def _rsample(self, shape: Size) -> Any:
        raise NotImplementedError

    def _log_prob(self, value: Any) -> Any:
        raise NotImplementedError

    def _cdf(self, value: Any) -> Any:
        raise NotImplementedError

    def _icdf(self, value: Any) -> Any:
        raise NotImplementedError

    def _entropy(self) -> Any:
        raise NotImplementedError

    # ---- what formulas need ----------------------------------------------------------------------------------------
    def _uniform(self, shape: Any, like: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Numbers uniform in [low, high), of the type and at the place of a parameter."""
        return vistorch.empty(shape, dtype=like.dtype, device=like.device).uniform_(low, high)

    def _full(self, value: float, like: Tensor) -> Tensor:
        """One number for each sample."""
        return vistorch.full(self._extended_shape(), value, dtype=like.dtype, device=like.device)

    def _counts(self, n: int, expand: bool, dtype: Any = None) -> Tensor:
        """The numbers 0 to n - 1 along a new first dim; of the parameter's type, if no other is named."""
        like: Any = self._param  # type: ignore[attr-defined]  of those that are given by probabilities
        values = vistorch.arange(n, dtype=like.dtype if dtype is None else dtype, device=like.device)
        values = values.view((-1, *(1,) * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values
