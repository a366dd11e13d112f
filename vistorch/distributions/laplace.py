"""Numbers with two exponential tails.

Invariant: the numbers are PyTorch's.
"""

from __future__ import annotations

from typing import Any

import vistorch

from . import constraints
from .family import Family

__all__ = ["Laplace"]


class Laplace(Family):
    """The difference of two exponential numbers.

    Args:
        loc: the mean.
        scale: the mean distance from it.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Laplace
        >>> Laplace(0.0, 1.0).log_prob(vistorch.tensor(0.0))
        tensor(-0.6931)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real
    has_rsample = True

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: 2**0.5 * self.scale)

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, scale=scale)

    def _rsample(self, shape: Any) -> Any:
        u = self._uniform(shape, self.loc, vistorch.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def _log_prob(self, value: Any) -> Any:
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def _cdf(self, value: Any) -> Any:
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * (-off.abs() / self.scale).expm1()

    def _icdf(self, value: Any) -> Any:
        off = value - 0.5
        return self.loc - self.scale * off.sign() * (-2 * off.abs()).log1p()

    def _entropy(self) -> Any:
        return 1 + (2 * self.scale).log()
