"""Constraints: which values a parameter or a sample may have.

Invariant: `check` answers for each event of a batch, so that it drops `event_dim` dims of the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vistorch

from ..engine.core.tensor import Tensor
from .regions import (
    Constraint,
    boolean,
    corr_cholesky,
    greater_than,
    greater_than_eq,
    half_open_interval,
    integer_interval,
    interval,
    less_than,
    lower_cholesky,
    lower_triangular,
    multinomial,
    nonnegative,
    nonnegative_integer,
    one_hot,
    positive,
    positive_definite,
    positive_integer,
    positive_semidefinite,
    real,
    simplex,
    square,
    symmetric,
    unit_interval,
)

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


# ---- what depends on the instance ---------------------------------------------------------------------------------
class _Dependent(Constraint):
    """A constraint that only an instance can name.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Uniform, constraints
        >>> constraints.is_dependent(Uniform.support)  # a class does not know its bounds
        True
        >>> Uniform(0.0, 2.0).support
        Interval(lower_bound=0.0, upper_bound=2.0)
        >>> constraints.dependent(is_discrete=False, event_dim=0).event_dim
        0
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def _known(self, name: str) -> Any:
        value = getattr(self, "_" + name)
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    is_discrete = property(lambda self: self._known("is_discrete"))
    event_dim = property(lambda self: self._known("event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is known only to an instance.

    Args:
        constraint: any object.

    Example:
        >>> is_dependent(dependent), is_dependent(real)
        (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of a class that is a dependent constraint there, and the true one on an instance.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import constraints
        >>> class Below:
        ...     def __init__(self, bound):
        ...         self.bound = bound
        ...     @constraints.dependent_property(is_discrete=False, event_dim=0)
        ...     def support(self):
        ...         return constraints.less_than(self.bound)
        >>> constraints.is_dependent(Below.support)
        True
        >>> Below(3.0).support
        LessThan(upper_bound=3.0)
    """

    def __init__(
        self,
        fn: Callable | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# ---- made of others -------------------------------------------------------------------------------------------------
def _must_be_constraint(base: Any) -> None:
    if not isinstance(base, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(base).__name__}")


def _must_reach(value: Tensor, given: int, expected: int) -> None:
    if given < expected:
        raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")


def _all_of(result: Tensor, dims: int) -> Tensor:
    return result.reshape((*result.shape[: result.dim() - dims], -1)).all(-1)


class _OfBase(Constraint):
    """A constraint that asks another one."""

    def __init__(self, base_constraint: Any) -> None:
        _must_be_constraint(base_constraint)
        self.base_constraint = base_constraint

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim)


class _IndependentConstraint(_OfBase):
    """A constraint on vectors, matrices or more: it holds where another one does at every place of the last dims.

    Args:
        base_constraint: the other one.
        reinterpreted_batch_ndims: how many more dims an event has.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import constraints
        >>> rows = constraints.independent(constraints.positive, 1)
        >>> rows.check(vistorch.tensor([[1.0, 2.0], [1.0, -2.0]]))
        tensor([ True, False])
    """

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        n = reinterpreted_batch_ndims
        if not isinstance(n, int):
            raise AssertionError(f"reinterpreted_batch_ndims must be an int, got {type(n).__name__}")
        if n < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {n}")
        self.reinterpreted_batch_ndims = n

    event_dim = property(lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims)

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            _must_reach(value, result.dim() - self.reinterpreted_batch_ndims, self.event_dim)
        return _all_of(result, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_OfBase):
    """The support of a mixture: a value has to be inside for every component.

    Args:
        base_constraint: the support of the components.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import constraints
        >>> inside = constraints.MixtureSameFamilyConstraint(constraints.positive)
        >>> inside.check(vistorch.tensor([-1.0, 2.0]))
        tensor([False,  True])
    """

    def check(self, value: Tensor) -> Tensor:
        """Whether each event is inside.

        Args:
            value: the events, without a dim for the components.
        """
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        _must_reach(value, value.dim(), self.event_dim)
        kept = value.dim() - self.event_dim
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Several(Constraint):
    """Constraints side by side along a dim."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    is_discrete = property(lambda self: any(c.is_discrete for c in self.cseq))
    event_dim = property(lambda self: max(c.event_dim for c in self.cseq))

    def _has_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Several):
    """Constraints on parts of a value that are joined along a dim.

    Args:
        cseq: the constraints.
        dim: the dim.
        lengths: how long each part is; 1 if None.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import constraints
        >>> both = constraints.cat([constraints.positive, constraints.unit_interval], lengths=[1, 2])
        >>> both.check(vistorch.tensor([5.0, 0.5, 5.0]))
        tensor([ True,  True, False])
    """

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Tensor) -> Tensor:
        self._has_dim(value)
        parts = value.split(self.lengths, self.dim) if sum(self.lengths) == value.shape[self.dim] else None
        if parts is None:  # what is beyond the lengths is not looked at
            starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
            parts = [value.narrow(self.dim, s, n) for s, n in zip(starts, self.lengths, strict=True)]
        return vistorch.cat([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(_Several):
    """Constraints on the slices of a value along a dim, one for each.

    Args:
        cseq: the constraints.
        dim: the dim.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import constraints
        >>> both = constraints.stack([constraints.positive, constraints.unit_interval])
        >>> both.check(vistorch.tensor([[5.0, 0.5], [5.0, 0.5]]))
        tensor([[ True,  True],
                [False,  True]])
    """

    @property
    def event_dim(self) -> int:
        most = max(c.event_dim for c in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Tensor) -> Tensor:
        self._has_dim(value)
        parts = value.unbind(self.dim)
        return vistorch.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=False)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
cat, stack = _Cat, _Stack
real_vector = independent(real, 1)
