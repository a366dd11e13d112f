"""Divergences between distributions: which formula serves two classes.

Invariant: of all formulas entered for classes that the two derive from, the nearest to the first one serves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .distribution import Distribution
from .exp_family import ExponentialFamily, slopes_of
from .utils import sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable:
    """Enter a function of two distributions as the divergence between two classes.

    Args:
        type_p: the class of the first distribution.
        type_q: the class of the second one.

    Example:
        >>> from vistorch.distributions import Normal, kl_divergence
        >>> class Mine(Normal):
        ...     pass
        >>> @register_kl(Mine, Normal)
        ... def kl_mine_normal(p, q):
        ...     return "by my own formula"
        >>> kl_divergence(Mine(0.0, 1.0), Normal(0.0, 1.0))
        'by my own formula'
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        # PyTorch takes any class, and libraries enter bases of their own
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def enter(fun: Callable) -> Callable:
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()
        return fun

    return enter


def _find(type_p: type, type_q: type) -> Any:
    """The formula for two classes; None where there is none."""
    line_p, line_q = type_p.__mro__, type_q.__mro__
    near = [(line_p.index(p), line_q.index(q), p, q) for p, q in _KL_REGISTRY if p in line_p and q in line_q]
    if not near:
        return None
    *_, left_p, left_q = min(near, key=lambda m: (m[0], m[1]))
    *_, right_p, right_q = min(near, key=lambda m: (m[1], m[0]))
    if _KL_REGISTRY[left_p, left_q] is not _KL_REGISTRY[right_p, right_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({left_p.__name__}, "
            f"{right_q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left_p, left_q]


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The Kullback-Leibler divergence of `p` from `q`: the mean of log(p / q) under `p`.

    Args:
        p: a distribution.
        q: another one.

    Example:
        >>> from vistorch.distributions import Normal
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    kinds = type(p), type(q)
    if kinds not in _KL_MEMOIZE:
        _KL_MEMOIZE[kinds] = _find(*kinds)
    formula = _KL_MEMOIZE[kinds]
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return formula(p, q)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_families(p: Any, q: Any) -> Any:
    """Within one family, the Bregman divergence of the log-normalizer."""
    if type(p) is not type(q):
        gap = " " * 29  # as PyTorch's sentence has it
        raise NotImplementedError(
            f"The cross KL-divergence between different exponential families cannot{gap}be computed using Bregman "
            "divergences"
        )
    theta, total, slopes = slopes_of(p)
    to = q._natural_params
    result = q._log_normalizer(*to) - total
    for mine, its, slope in zip(theta, to, slopes, strict=True):
        result = result - sum_rightmost((its - mine) * slope, len(q.event_shape))
    return result
