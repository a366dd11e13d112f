"""Divergences within a family.

Invariant: a formula is written with as few differences of large numbers as the parameters allow.
"""

from __future__ import annotations

import math
from typing import Any

from ..nn.functional import softplus
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exponential import Exponential
from .factors import log_diagonal, solve_lower, square_length, square_sum
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost


# ---- categories and counts ------------------------------------------------------------------------------------------
@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    def side(chance: Any, its: Any, sign: int) -> Any:
        term = chance * (softplus(sign * q.logits) - softplus(sign * p.logits))
        return term.masked_fill(its == 0, math.inf).masked_fill(chance == 0, 0)

    return side(p.probs, q.probs, -1) + side(1 - p.probs, 1 - q.probs, 1)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


# ---- numbers --------------------------------------------------------------------------------------------------------
def _log_beta(d: Any) -> Any:
    a, b = d.concentration1, d.concentration0
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    a, b, total = p.concentration1, p.concentration0, p._total
    moved = (a - q.concentration1) * a.digamma() + (b - q.concentration0) * b.digamma()
    return _log_beta(q) - _log_beta(p) + moved + (q._total - total) * total.digamma()


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    apart = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    def constant(d: Any) -> Any:
        return d._cont_bern_log_norm() + (-d.probs).log1p()

    return p.mean * (p.logits - q.logits) + constant(p) - constant(q)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    constants = a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return constants + ((a - b) * (a.digamma() - a.sum(-1, True).digamma())).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    constants = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return constants + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, off = p.scale / q.scale, (p.loc - q.loc) / q.scale
    tail = ((1 + ratio).lgamma() - off).exp()
    return off - ratio.log() + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, off = p.scale / q.scale, (p.loc - q.loc).abs()
    return off / q.scale - ratio.log() + ratio * (-off / p.scale).exp() - 1


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    return (q._width / p._width).log().masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


# ---- vectors --------------------------------------------------------------------------------------------------------
def _same_event(p: Any, q: Any, said: str) -> int:
    """The length of the vectors of both."""
    if p.event_shape != q.event_shape:
        gap = " " * 25  # as PyTorch's sentences have it
        raise ValueError(
            f"KL-divergence between two {said} with{gap}different event shapes cannot be computed"
        )
    return p.event_shape[0]


def _factors(p: Any) -> list:
    """Matrices F, so that the covariance is the sum of all F F'."""
    if isinstance(p, MultivariateNormal):
        return [p._unbroadcasted_scale_tril]
    return [p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag.sqrt().diag_embed()]


def _spread(q: Any, factor: Any) -> Any:
    """The trace of C^-1 F F', C the covariance of `q`."""
    if isinstance(q, MultivariateNormal):
        return square_sum(solve_lower(q._unbroadcasted_scale_tril, factor))
    whole = square_sum(factor * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1))
    return whole - square_sum(solve_lower(q._capacitance_tril, q._weighed()) @ factor)


def _log_det(p: Any) -> Any:
    return (
        2 * log_diagonal(p._unbroadcasted_scale_tril) if isinstance(p, MultivariateNormal) else p._log_det()
    )


def _length(q: Any, off: Any) -> Any:
    if isinstance(q, MultivariateNormal):
        return square_length(q._unbroadcasted_scale_tril, off)
    return q._square_length(off)


def _vectors(p: Any, q: Any, said: str = "(Low Rank) Multivariate Normals") -> Any:
    n = _same_event(p, q, said)
    spread = sum(_spread(q, factor) for factor in _factors(p))
    return 0.5 * (_log_det(q) - _log_det(p) + spread + _length(q, q.loc - p.loc) - n)


register_kl(MultivariateNormal, LowRankMultivariateNormal)(_vectors)
register_kl(LowRankMultivariateNormal, MultivariateNormal)(_vectors)
register_kl(MultivariateNormal, MultivariateNormal)(lambda p, q: _vectors(p, q, "Multivariate Normals"))
register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)(
    lambda p, q: _vectors(p, q, "Low Rank Multivariate Normals")
)


# ---- made of others -------------------------------------------------------------------------------------------------
@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)
