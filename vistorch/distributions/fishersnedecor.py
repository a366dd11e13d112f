"""Quotients of mean squares.

Invariant: the numerator is drawn first, as PyTorch does.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .distribution import Distribution
from .family import Family
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Family):
    """The quotient of two independent means of squares of normal numbers.

    Args:
        df1: the degrees of freedom of the numerator.
        df2: those of the denominator.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import FisherSnedecor
        >>> FisherSnedecor(vistorch.tensor(1.0), vistorch.tensor(4.0)).mean
        tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    has_rsample = True
    _made_of = ("_gamma1", "_gamma2")

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = (Gamma(df * 0.5, df) for df in (self.df1, self.df2))
        Distribution.__init__(self, self.df1.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean; none up to 2 degrees of freedom below."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """Where the density is largest; nowhere up to 2 degrees of freedom above."""
        peak = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return peak.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        """The variance; none up to 4 degrees of freedom below."""
        df1, df2 = self.df1, self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (df1 + df2 - 2) / (df1 * (df2 - 2).pow(2) * (df2 - 4))

    def _rsample(self, shape: Any) -> Any:
        many = shape[: len(shape) - len(self._batch_shape)]
        above, below = self._gamma1.rsample(many), self._gamma2.rsample(many)
        tiny = vistorch.finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def _log_prob(self, value: Any) -> Any:
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log()
        return constant + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
