"""Student's numbers.

Invariant: a normal number is drawn first, then the sum of squares that divides it, as PyTorch does.
"""

from __future__ import annotations

import math
from typing import Any

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .family import Family
from .utils import broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Family):
    """A normal number over the root of an independent mean of squares.

    Args:
        df: the degrees of freedom.
        loc: the mode.
        scale: the spread.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import StudentT
        >>> StudentT(vistorch.tensor(3.0)).variance
        tensor(3.)
    """

    arg_constraints = {  # noqa: RUF012
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _made_of = ("_chi2",)

    mean = property(lambda self: self.loc.masked_fill(self.df <= 1, math.nan))
    mode = property(lambda self: self.loc)

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        Distribution.__init__(self, self.df.size(), validate_args=validate_args)

    @property
    def variance(self) -> Any:
        """The variance: infinite up to 2 degrees of freedom, none up to 1."""
        df = self.df
        finite = df > 2
        spread = self.scale.pow(2) * df / (df.masked_fill(~finite, 3.0) - 2)
        return spread.masked_fill(~finite, math.inf).masked_fill(df <= 1, math.nan)

    def _rsample(self, shape: Any) -> Any:
        x = standard_normal(shape, self.df)
        z = self._chi2.rsample(shape[: len(shape) - len(self._batch_shape)])
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def _log_prob(self, value: Any) -> Any:
        y, df = (value - self.loc) / self.scale, self.df
        total = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        total = total + (0.5 * df).lgamma() - (0.5 * (df + 1.0)).lgamma()
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - total

    def _entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta
