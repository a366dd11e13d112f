"""Sums of squares of normal numbers.

Invariant: it is a `Gamma` under another name of its parameter.
"""

from __future__ import annotations

from typing import Any

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers.

    Args:
        df: the degrees of freedom.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Chi2
        >>> d = Chi2(vistorch.tensor(3.0))
        >>> d.df, d.mean, d.variance
        (tensor(3.), tensor(3.), tensor(6.))
    """

    arg_constraints = {"df": constraints.positive}  # noqa: RUF012
    _made_of = ("concentration", "rate")

    df = property(lambda self: self.concentration * 2)

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)
