"""From a constraint to a transform that ends in it: the registries `biject_to` and `transform_to`.

Invariant: what `biject_to` gives is a bijection; what `transform_to` gives is cheap and may not be one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms
from .utils import NUMBERS

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Transforms by the class of the constraint they end in.

    Example:
        >>> from vistorch.distributions import biject_to, constraints
        >>> biject_to(constraints.unit_interval)
        SigmoidTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Say which transform ends in a constraint; without a factory, a decorator.

        Args:
            constraint: a class of constraints, or one of it.
            factory: from a constraint of the class to a transform.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {kind}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform that ends in a constraint."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _into(*kinds: Any, by: tuple = (biject_to, transform_to)) -> Callable:
    """Enter a factory for several constraints."""

    def enter(factory: Callable) -> Callable:
        for registry in by:
            for kind in kinds:
                registry.register(kind, factory)
        return factory

    return enter


def _shifted(first: Any, loc: Any, scale: Any) -> Any:
    return transforms.ComposeTransform([first, transforms.AffineTransform(loc, scale)])


_into(constraints.real)(lambda c: transforms.identity_transform)
_into(constraints.positive, constraints.nonnegative)(lambda c: transforms.ExpTransform())
_into(constraints.greater_than, constraints.greater_than_eq)(
    lambda c: _shifted(transforms.ExpTransform(), c.lower_bound, 1)
)
_into(constraints.less_than)(lambda c: _shifted(transforms.ExpTransform(), c.upper_bound, -1))


@_into(constraints.interval, constraints.half_open_interval)
def _to_interval(c: Any) -> Any:
    low, high = c.lower_bound, c.upper_bound
    if isinstance(low, NUMBERS) and isinstance(high, NUMBERS) and low == 0 and high == 1:
        return transforms.SigmoidTransform()
    return _shifted(transforms.SigmoidTransform(), low, high - low)


_into(constraints.simplex, by=(biject_to,))(lambda c: transforms.StickBreakingTransform())
_into(constraints.simplex, by=(transform_to,))(lambda c: transforms.SoftmaxTransform())
_into(constraints.lower_cholesky, by=(transform_to,))(lambda c: transforms.LowerCholeskyTransform())
_into(constraints.positive_definite, constraints.positive_semidefinite, by=(transform_to,))(
    lambda c: transforms.PositiveDefiniteTransform()
)
_into(constraints.corr_cholesky)(lambda c: transforms.CorrCholeskyTransform())


def _enter_compounds(to: ConstraintRegistry) -> None:
    """Constraints made of others go by the same registry as their parts."""
    to.register(
        constraints.independent,
        lambda c: transforms.IndependentTransform(to(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    to.register(
        constraints.cat, lambda c: transforms.CatTransform([to(part) for part in c.cseq], c.dim, c.lengths)
    )
    to.register(constraints.stack, lambda c: transforms.StackTransform([to(part) for part in c.cseq], c.dim))


_enter_compounds(biject_to)
_enter_compounds(transform_to)
