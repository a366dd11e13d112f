"""Transforms one after the other, and transforms of whole blocks.

Invariant: the number of dims of an event is the least that all parts can work with.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import vistorch

from .. import constraints
from ..utils import lazy_property, sum_rightmost
from .transform import NO_DIMS, Transform


def _widened(region: Any, event_dim: int, name: str) -> Any:
    """A region as one of events with more dims."""
    if event_dim < region.event_dim:
        raise AssertionError(f"event_dim {event_dim} must be >= {name}.event_dim {region.event_dim}")
    return (
        constraints.independent(region, event_dim - region.event_dim)
        if event_dim > region.event_dim
        else region
    )


class ComposeTransform(Transform):
    """Transforms one after the other.

    Args:
        parts: the transforms, the first one first.
        cache_size: 1 to give all of them a cache.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import AffineTransform, ExpTransform
        >>> ComposeTransform([ExpTransform(), AffineTransform(1.0, 2.0)])(vistorch.zeros(1))
        tensor([3.])
    """

    def __init__(self, parts: Any, cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    def _parts(self) -> tuple:
        return (self.parts,)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """From where it maps."""
        if not self.parts:
            return constraints.real
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim += part.domain.event_dim - part.codomain.event_dim
            event_dim = max(event_dim, part.domain.event_dim)
        return _widened(self.parts[0].domain, event_dim, "domain")

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """To where it maps."""
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim += part.codomain.event_dim - part.domain.event_dim
            event_dim = max(event_dim, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, event_dim, "codomain")

    @lazy_property
    def bijective(self) -> bool:
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of the parts' signs."""
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Any:
        """The parts' inverses, the last one first."""
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Any) -> Any:
        """Map `x` by each part in turn."""
        return functools.reduce(lambda value, part: part(value), self.parts, x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the parts.

        Args:
            x: the argument.
            y: the result for it.
        """
        if not self.parts:
            return vistorch.zeros_like(x)
        event_dim = self.domain.event_dim
        terms = []
        for i, part in enumerate(self.parts):
            after = y if i == len(self.parts) - 1 else part(x)
            terms.append(
                sum_rightmost(part.log_abs_det_jacobian(x, after), event_dim - part.domain.event_dim)
            )
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = after
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result.

        Args:
            shape: that of the argument.
        """
        return functools.reduce(lambda now, part: part.forward_shape(now), self.parts, shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument.

        Args:
            shape: that of the result.
        """
        return functools.reduce(lambda now, part: part.inverse_shape(now), reversed(self.parts), shape)

    def __repr__(self) -> str:
        inside = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {inside}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dims count as dims of the event.

    Args:
        base_transform: the transform.
        reinterpreted_batch_ndims: how many dims.
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import ExpTransform, IndependentTransform
        >>> rows, x = IndependentTransform(ExpTransform(), 1), vistorch.ones(2, 3)
        >>> rows.log_abs_det_jacobian(x, rows(x))
        tensor([3., 3.])
    """

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _parts(self) -> tuple:
        return self.base_transform, self.reinterpreted_batch_ndims

    def _widen(self, region: Any) -> Any:
        return constraints.independent(region, self.reinterpreted_batch_ndims)

    domain = constraints.dependent_property(
        lambda self: self._widen(self.base_transform.domain), is_discrete=False
    )
    codomain = constraints.dependent_property(
        lambda self: self._widen(self.base_transform.codomain), is_discrete=False
    )
    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError(NO_DIMS)
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError(NO_DIMS)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the dims of the event.

        Args:
            x: the argument.
            y: the result for it.
        """
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result.

        Args:
            shape: that of the argument.
        """
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument.

        Args:
            shape: that of the result.
        """
        return self.base_transform.inverse_shape(shape)
