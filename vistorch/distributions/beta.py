"""Numbers between 0 and 1.

Invariant: a beta number is the first of a Dirichlet row of two, and is drawn as one.
"""

from __future__ import annotations

from typing import Any

import vistorch

from . import constraints
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import NUMBERS, broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Numbers between 0 and 1, near 1 as far as `concentration1` outweighs `concentration0`.

    Args:
        concentration1: the weight of 1.
        concentration0: the weight of 0.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Beta
        >>> d = Beta(vistorch.tensor([1.0]), vistorch.tensor([3.0]))
        >>> d.mean, d.concentration1 / (d.concentration1 + d.concentration0)
        (tensor([0.2500]), tensor([0.2500]))
    """

    arg_constraints = {  # noqa: RUF012
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _made_of = ("_dirichlet",)

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(lambda self: self.concentration1 / self._total)
    mode = property(lambda self: self._dirichlet.mode[..., 0])
    _total = property(lambda self: self.concentration1 + self.concentration0)
    _natural_params = property(lambda self: (self.concentration1, self.concentration0))

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        if isinstance(concentration1, NUMBERS) and isinstance(concentration0, NUMBERS):
            both = vistorch.tensor([float(concentration1), float(concentration0)])
        else:
            both = vistorch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        Distribution.__init__(self, self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def variance(self) -> Any:
        """The variance."""
        total = self._total
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples as functions of the parameters, with gradients.

        Args:
            sample_shape: how many, as a shape.
        """
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def _log_prob(self, value: Any) -> Any:
        return self._dirichlet.log_prob(vistorch.stack([value, 1.0 - value], -1))

    def _entropy(self) -> Any:
        return self._dirichlet.entropy()

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()
