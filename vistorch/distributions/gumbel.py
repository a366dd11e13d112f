"""The largest of many numbers.

Invariant: the uniform numbers it starts from leave out 0 and 1.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import NUMBERS, broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """The limit of the largest of many exponential numbers.

    Args:
        loc: the mode.
        scale: the spread.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Gumbel
        >>> Gumbel(0.0, 1.0).log_prob(vistorch.tensor(0.0))
        tensor(-1.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real

    mean = property(lambda self: self.loc + self.scale * euler_constant)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = vistorch.finfo(self.loc.dtype)
        bounds: Any = limits.tiny, 1 - limits.eps
        if not (isinstance(loc, NUMBERS) and isinstance(scale, NUMBERS)):
            bounds = [vistorch.full_like(self.loc, bound) for bound in bounds]
        steps = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-vistorch.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(Uniform(*bounds, validate_args=validate_args), steps, validate_args=validate_args)

    def _log_prob(self, value: Any) -> Any:
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def _entropy(self) -> Any:
        return self.scale.log() + (1 + euler_constant)
