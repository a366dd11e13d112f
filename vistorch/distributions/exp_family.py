"""Exponential families: entropy and divergence from the natural parameters and the log-normalizer.

Invariant: the log-normalizer is differentiated by autograd, so that a subclass writes one formula.
"""

from __future__ import annotations

from typing import Any

import vistorch

from .distribution import not_given
from .family import Family

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Family):
    """A distribution with density exp(<t(x), theta> - F(theta) + k(x)).

    A subclass gives `_natural_params` (theta), `_log_normalizer` (F) and `_mean_carrier_measure` (the mean of k).

    Example:
        >>> from vistorch.distributions import ExponentialFamily, Gamma, Laplace
        >>> issubclass(Gamma, ExponentialFamily), issubclass(Laplace, ExponentialFamily)
        (True, False)
    """

    _natural_params: Any = not_given("Theta.")
    _mean_carrier_measure: Any = not_given("The mean of k.")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    def _entropy(self) -> Any:
        start = -self._mean_carrier_measure
        theta, total, slopes = slopes_of(self)
        result = start + total
        for t, slope in zip(theta, slopes, strict=True):
            result = result - (t * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return result


def slopes_of(p: Any) -> tuple[list, Any, tuple]:
    """The natural parameters as new leaves, the log-normalizer there, and its gradients."""
    theta = [t.detach().requires_grad_() for t in p._natural_params]
    total = p._log_normalizer(*theta)
    return theta, total, vistorch.autograd.grad(total.sum(), theta, create_graph=True)
