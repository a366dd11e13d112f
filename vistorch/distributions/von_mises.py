"""Angles.

Invariant: samples are drawn in double precision, whatever the type, as PyTorch does. Bessel functions are exact, where
PyTorch's polynomials are good to about 6 digits.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ..engine.base.size import Size
from . import constraints
from .family import Family
from .utils import lazy_property

__all__ = ["VonMises"]


class VonMises(Family):
    """An angle, from -pi to pi, with a density like that of normal numbers.

    Args:
        loc: the mean angle.
        concentration: how close angles are to it.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import VonMises
        >>> VonMises(vistorch.tensor(0.0), vistorch.tensor(1.0)).variance
        tensor(0.5536)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}  # noqa: RUF012
    support = constraints.real

    mean = mode = property(lambda self: self.loc)

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, concentration=concentration)

    @lazy_property
    def variance(self) -> Any:
        """The circular variance: 1 less the mean of the cosine."""
        k = self.concentration
        return 1 - vistorch.special.i1e(k) / vistorch.special.i0e(k)

    def _log_prob(self, value: Any) -> Any:
        k = self.concentration
        log_bessel = vistorch.special.i0e(k).log() + k
        return k * (value - self.loc).cos() - math.log(2 * math.pi) - log_bessel

    @lazy_property
    def _proposal_r(self) -> Any:
        """The parameter of the wrapped Cauchy distribution that candidates come from."""
        k = self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return vistorch.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))

    def _sample(self, sample_shape: Size) -> Any:
        loc, k, r = self.loc.double(), self.concentration.double(), self._proposal_r
        x = loc.new_zeros(self._extended_shape(sample_shape))
        done = vistorch.zeros_like(x, dtype=vistorch.bool)
        while not done.all():
            u1, u2, u3 = vistorch.rand((3, *x.shape), dtype=x.dtype, device=x.device).unbind()
            z = (math.pi * u1).cos()
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accept = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
            # also where one was accepted before: so the numbers stay PyTorch's
            x = vistorch.where(accept, (u3 - 0.5).sign() * f.acos(), x)
            done = done | accept
        return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)
