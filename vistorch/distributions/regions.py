"""The constraints that say for themselves what is inside: numbers, integers, vectors and matrices.

Invariant: bounds are numbers or tensors, shown as they were given.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..engine.core.tensor import Tensor

__all__ = [
    "boolean",
    "corr_cholesky",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "integer_interval",
    "interval",
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
    "simplex",
    "square",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A region of values: what is inside, whether it is made of points, how many dims one event has.

    Example:
        >>> import vistorch
        >>> positive.check(vistorch.tensor([1.0, -1.0]))
        tensor([ True, False])
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _shows: tuple[str, ...] = ()

    def check(self, value: Tensor) -> Any:
        """Whether each event of `value` is inside.

        Args:
            value: the events.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._shows)
        return f"{type(self).__name__[1:]}({shown})"


class _Real(Constraint):
    def check(self, value: Tensor) -> Any:
        return value == value  # false for what is not a number


class _From(Constraint):
    _shows = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _UpTo(Constraint):
    _shows = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(Constraint):
    _shows = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _GreaterThan(_From):
    def check(self, value: Tensor) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_From):
    def check(self, value: Tensor) -> Any:
        return self.lower_bound <= value


class _LessThan(_UpTo):
    def check(self, value: Tensor) -> Any:
        return value < self.upper_bound


class _Interval(_Between):
    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


def _whole(value: Tensor) -> Any:
    return value % 1 == 0


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value == 0) | (value == 1)


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return _whole(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_UpTo):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return _whole(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_From):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return _whole(value) & (value >= self.lower_bound)


# ---- vectors --------------------------------------------------------------------------------------------------------
class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Any:
        return boolean.check(value).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


# ---- matrices -------------------------------------------------------------------------------------------------------
class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Tensor) -> Any:
        slack = vistorch.finfo(value.dtype).eps * value.size(-1) * 10
        length = vistorch.linalg.norm(value.detach(), dim=-1)
        return super().check(value) & (length - 1.0).abs().le(slack).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        same = value.shape[-2] == value.shape[-1]
        return vistorch.full(value.shape[:-2], same, dtype=vistorch.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Any:
        square_ones = super().check(value)
        if not square_ones.all():
            return square_ones
        return vistorch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Any:
        symmetric_ones = super().check(value)
        if not symmetric_ones.all():
            return symmetric_ones
        return vistorch.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Any:
        symmetric_ones = super().check(value)
        if not symmetric_ones.all():
            return symmetric_ones
        return vistorch.linalg.cholesky_ex(value).info.eq(0)


boolean, one_hot, real, simplex = _Boolean(), _OneHot(), _Real(), _Simplex()
positive, nonnegative, unit_interval = _GreaterThan(0.0), _GreaterThanEq(0.0), _Interval(0.0, 1.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
multinomial = _Multinomial
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_definite, positive_semidefinite = _PositiveDefinite(), _PositiveSemidefinite()
