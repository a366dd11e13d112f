"""Divergences between families: the mean of log p, which is minus the entropy, less the mean of log q under p.

Log-densities are sums of few functions of x: x itself, its square, log x, log(1 - x) and exp(-x). So a family q is
described by those it needs, and a family p by their means.
Invariant: a pair is infinite where p reaches beyond the support of q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import vistorch

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .kl_within import _log_beta
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant


# ---- means under p --------------------------------------------------------------------------------------------------
def _mean_log_uniform(low: Any, high: Any) -> Any:
    """The mean of log x for x uniform between two bounds."""
    return (vistorch.xlogy(high, high) - vistorch.xlogy(low, low)) / (high - low) - 1


MEAN_LOG: dict[type, Callable] = {
    Beta: lambda p: p.concentration1.digamma() - p._total.digamma(),
    Exponential: lambda p: -p.rate.log() - euler_constant,
    Gamma: lambda p: p.concentration.digamma() - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _mean_log_uniform(p.low, p.high),
}
MEAN_LOG_OF_REST: dict[type, Callable] = {  # of log(1 - x)
    Uniform: lambda p: _mean_log_uniform(1 - p.high, 1 - p.low),
}


def _falling_uniform(p: Any, loc: Any, scale: Any) -> Any:
    ends = (-(p.low - loc) / scale).exp() - (-(p.high - loc) / scale).exp()
    return ends * scale / p._width


MEAN_FALLING: dict[type, Callable] = {  # of exp(-(x - loc) / scale)
    Exponential: lambda p, loc, scale: (loc / scale).exp() * p.rate * scale / (p.rate * scale + 1),
    Gamma: lambda p, loc, scale: (
        (loc / scale).exp() * (1 + (p.rate * scale).reciprocal()).pow(-p.concentration)
    ),
    Normal: lambda p, loc, scale: (0.5 * (p.scale / scale).pow(2) - (p.loc - loc) / scale).exp(),
    Uniform: _falling_uniform,
}


def _mean(p: Any) -> Any:
    """The mean; of a Pareto distribution also where it has none, so that no gradient comes from there."""
    return p.alpha * p.scale / (p.alpha - 1) if isinstance(p, Pareto) else p.mean


def _variance(p: Any) -> Any:
    if isinstance(p, Pareto):
        return p.alpha * (p.scale / (p.alpha - 1)).pow(2) / (p.alpha - 2)
    return p.variance


def _of(table: dict[type, Callable], p: Any, *args: Any) -> Any:
    return next(mean for kind, mean in table.items() if isinstance(p, kind))(p, *args)


# ---- the mean of log q under p --------------------------------------------------------------------------------------
def _beta(p: Any, q: Any) -> Any:
    rest = (q.concentration0 - 1) * _of(MEAN_LOG_OF_REST, p)
    return (q.concentration1 - 1) * _of(MEAN_LOG, p) + rest - _log_beta(q)


def _continuous_bernoulli(p: Any, q: Any) -> Any:
    return _mean(p) * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm()


def _exponential(p: Any, q: Any) -> Any:
    return q.rate.log() - q.rate * _mean(p)


def _gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    return a * q.rate.log() - a.lgamma() + (a - 1) * _of(MEAN_LOG, p) - q.rate * _mean(p)


def _gumbel(p: Any, q: Any) -> Any:
    return -q.scale.log() - (_mean(p) - q.loc) / q.scale - _of(MEAN_FALLING, p, q.loc, q.scale)


def _laplace(p: Any, q: Any) -> Any:
    """Under a normal p: the mean of |x - loc|."""
    off = p.loc - q.loc
    far = off / p.scale
    mean = math.sqrt(2 / math.pi) * p.scale * (-0.5 * far.pow(2)).exp()
    mean = mean + off * (math.sqrt(0.5) * far).erf()
    return -(2 * q.scale).log() - mean / q.scale


def _normal(p: Any, q: Any) -> Any:
    square = _variance(p) + (_mean(p) - q.loc).pow(2)
    return -0.5 * square / q.scale.pow(2) - q.scale.log() - 0.5 * math.log(2 * math.pi)


def _pareto(p: Any, q: Any) -> Any:
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _of(MEAN_LOG, p)


def _poisson(p: Any, q: Any) -> Any:
    """Under a coin p: no factorial but 1."""
    return p.probs * q.rate.log() - q.rate


def _uniform(p: Any, q: Any) -> Any:
    return -q._width.log()


MEAN_LOG_DENSITY: dict[type, Callable] = {
    Beta: _beta,
    ContinuousBernoulli: _continuous_bernoulli,
    Exponential: _exponential,
    Gamma: _gamma,
    Gumbel: _gumbel,
    Laplace: _laplace,
    Normal: _normal,
    Pareto: _pareto,
    Poisson: _poisson,
    Uniform: _uniform,
}


# ---- the pairs ------------------------------------------------------------------------------------------------------
def _enter(type_p: type, type_q: type, beyond: Callable | None = None) -> None:
    """A finite pair; `beyond` says for which parameters it is infinite all the same."""
    mean_log_q = MEAN_LOG_DENSITY[type_q]

    @register_kl(type_p, type_q)
    def across(p: Any, q: Any) -> Any:
        result = -p.entropy() - mean_log_q(p, q)
        return result if beyond is None else result.masked_fill(beyond(p, q), math.inf)


def _enter_infinite(type_p: type, like: str, *types_q: type) -> None:
    for type_q in types_q:
        register_kl(type_p, type_q)(lambda p, q: vistorch.full_like(getattr(p, like), math.inf))


_enter(Bernoulli, Poisson)
_enter(Beta, ContinuousBernoulli)
_enter(Beta, Exponential)
_enter(Beta, Gamma)
_enter(Beta, Normal)
_enter(Beta, Uniform, lambda p, q: (q.low > 0) | (q.high < 1))
_enter(ContinuousBernoulli, Exponential)
_enter(ContinuousBernoulli, Normal)
# PyTorch counts bounds of exactly 0 or 1 as too narrow, and one of the two is enough
_enter(ContinuousBernoulli, Uniform, lambda p, q: (q.low >= 0) | (q.high <= 1))
_enter(Exponential, Gamma)
_enter(Exponential, Gumbel)
_enter(Exponential, Normal)
_enter(Gamma, Exponential)
_enter(Gamma, Gumbel)
_enter(Gamma, Normal)
_enter(Gumbel, Normal)
_enter(Laplace, Normal)
_enter(Normal, Gumbel)
_enter(Normal, Laplace)
_enter(Pareto, Exponential, lambda p, q: p.alpha <= 1)
_enter(Pareto, Gamma, lambda p, q: p.alpha <= 1)
_enter(Pareto, Normal, lambda p, q: p.alpha <= 2)
_enter(Uniform, Beta, lambda p, q: (p.high > 1) | (p.low < 0))
_enter(Uniform, ContinuousBernoulli, lambda p, q: (p.high >= 1) | (p.low <= 0))
_enter(Uniform, Exponential, lambda p, q: p.low < 0)
_enter(Uniform, Gamma, lambda p, q: p.low < 0)
_enter(Uniform, Gumbel)
_enter(Uniform, Normal)
_enter(Uniform, Pareto, lambda p, q: p.low < q.scale)

_enter_infinite(Beta, "concentration1", Pareto)
_enter_infinite(ContinuousBernoulli, "probs", Pareto)
_enter_infinite(Exponential, "rate", Beta, ContinuousBernoulli, Pareto, Uniform)
_enter_infinite(Gamma, "concentration", Beta, ContinuousBernoulli, Pareto, Uniform)
_enter_infinite(Gumbel, "loc", Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_enter_infinite(Laplace, "loc", Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_enter_infinite(Normal, "loc", Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_enter_infinite(Pareto, "scale", Beta, ContinuousBernoulli, Uniform)
_enter_infinite(Poisson, "rate", Bernoulli, Binomial)
