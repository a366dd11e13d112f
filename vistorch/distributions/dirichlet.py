"""Points of a simplex.

Invariant: the numbers are PyTorch's; their gradient with respect to the concentrations is exact.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ..engine.ops.create.gamma_draws import dirichlet
from ..nn.functional import one_hot
from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Rows of positive numbers that add up to 1.

    Args:
        concentration: rows of positive numbers.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import Dirichlet
        >>> Dirichlet(vistorch.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}  # noqa: RUF012
    support = constraints.simplex
    has_rsample = True

    mean = property(lambda self: self.concentration / self._total)
    variance = property(lambda self: self.mean * (1 - self.mean) / (self._total + 1))
    _total = property(lambda self: self.concentration.sum(-1, True))
    _natural_params = property(lambda self: (self.concentration,))

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        Distribution.__init__(self, shape[:-1], shape[-1:], validate_args=validate_args)

    def _rsample(self, shape: Any) -> Any:
        return dirichlet(self.concentration.expand(shape))

    def _log_prob(self, value: Any) -> Any:
        a = self.concentration
        return vistorch.xlogy(a - 1.0, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    @property
    def mode(self) -> Any:
        """The peak of the density; a corner where all concentrations are below 1."""
        excess = (self.concentration - 1).clamp(min=0.0)
        mode = excess / excess.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = one_hot(mode[corner].argmax(dim=-1), excess.shape[-1]).to(mode)
        return mode

    def _entropy(self) -> Any:
        a, total = self.concentration, self.concentration.sum(-1)
        lost = (a.size(-1) - total) * total.digamma() + ((a - 1.0) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - lost

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
