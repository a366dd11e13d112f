"""The base of transforms, and their inverses.

Invariant: a transform with a cache returns for its last result the very argument it was made of, and the other way.
"""

from __future__ import annotations

from typing import Any

from .. import constraints
from ..distribution import not_given

NO_DIMS = "Too few dimensions on input"


class Transform:
    """A differentiable map of tensors that knows its inverse and how it stretches.

    A subclass gives `_call`, `_inverse` and `log_abs_det_jacobian`, and says from where to where it maps in `domain`
    and `codomain`.

    Args:
        cache_size: 1 to keep the last argument and result, 0 to keep nothing.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import ExpTransform
        >>> t = ExpTransform()
        >>> t(vistorch.tensor([0.0, 1.0])), t.inv(vistorch.tensor([1.0]))
        (tensor([1.0000, 2.7183]), tensor([0.]))
        >>> t.domain, t.codomain, t.bijective
        (Real(), GreaterThan(lower_bound=0.0), True)
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple = (None, None)
        super().__init__()

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> Any:
        """How many dims one event has, where the transform does not change that.

        Example:
            >>> from vistorch.distributions import ExpTransform, SoftmaxTransform
            >>> ExpTransform().event_dim, SoftmaxTransform().event_dim  # of numbers, of rows
            (0, 1)
        """
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    sign: Any = not_given(
        """1 where it grows everywhere, -1 where it falls.

        Example:
            >>> from vistorch.distributions import AffineTransform, ExpTransform
            >>> ExpTransform().sign, AffineTransform(0.0, -2.0).sign
            (1, -1)
        """
    )

    def _parts(self) -> tuple | None:
        """The arguments of another one like this; None where the class does not say."""
        return () if type(self).__init__ is Transform.__init__ else None

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache.

        Args:
            cache_size: 0 or 1.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import SigmoidTransform
            >>> x = vistorch.tensor(90.0)
            >>> plain, cached = SigmoidTransform(), SigmoidTransform().with_cache()
            >>> plain.inv(plain(x)), cached.inv(cached(x)) is x  # the sigmoid of 90 rounds to 1
            (tensor(15.9424), True)
        """
        if self._cache_size == cache_size:
            return self
        parts = self._parts()
        if parts is None:
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        return type(self)(*parts, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, x: Any) -> Any:
        """Map `x`."""
        if self._cache_size == 0:
            return self._call(x)
        old, kept = self._cached_x_y
        if x is old:
            return kept
        y = self._call(x)
        self._cached_x_y = (x, y)
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        kept, old = self._cached_x_y
        if y is old:
            return kept
        x = self._inverse(y)
        self._cached_x_y = (x, y)
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of how the transform stretches, for each event.

        Args:
            x: the argument.
            y: the result for it.

        Example:
            >>> import vistorch
            >>> from vistorch.distributions import ExpTransform
            >>> t, x = ExpTransform(), vistorch.tensor([0.0, 1.0])
            >>> t.log_abs_det_jacobian(x, t(x))  # the slope of exp at x is exp(x)
            tensor([0., 1.])
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result.

        Args:
            shape: that of the argument.

        Example:
            >>> from vistorch.distributions import StickBreakingTransform
            >>> StickBreakingTransform().forward_shape((5, 3))  # three breaks, four pieces
            (5, 4)
        """
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument.

        Args:
            shape: that of the result.

        Example:
            >>> from vistorch.distributions import CorrCholeskyTransform
            >>> CorrCholeskyTransform().inverse_shape((4, 4))  # so many correlations are free
            (6,)
        """
        return shape


class Alike(Transform):
    """A transform without parameters: all of its class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class _InverseTransform(Transform):
    """The inverse of a transform, which keeps the cache for both."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict:
        return dict(self.__dict__)  # the transform is what it is made of

    domain = constraints.dependent_property(lambda self: self._inv.codomain, is_discrete=False)
    codomain = constraints.dependent_property(lambda self: self._inv.domain, is_discrete=False)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)
    inv = property(lambda self: self._inv)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The inverse of the transform with another cache."""
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """What the transform stretches, taken back."""
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the transform's argument."""
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the transform's result."""
        return self._inv.forward_shape(shape)
