"""Divergences between all pairs that torch has a formula for."""

from typing import Any

import numpy as np
import pytest

from tests.distributions.compare import agree
from tests.distributions.laws import LAWS
from tests.distributions.record import TRIGAMMA, Law, Make, Tensors
from tests.ops.library import L, attempt, numpy_of, renamed, torch

BY_NAME = {law.name: law for law in reversed(LAWS)}
PAIRS = sorted({(p.__name__, q.__name__) for p, q in torch.distributions.kl._KL_REGISTRY})
# Both of a pair are given these, where the pair needs a support within the other's, or one number of trials.
MORE = {
    ("Binomial", "Binomial"): [
        (lambda D, t: D.Binomial(4, t([0.2, 0.7])), lambda D, t: D.Binomial(4, t([0.4, 0.6]))),
        (lambda D, t: D.Binomial(4, t([0.2, 0.7])), lambda D, t: D.Binomial(3, t([0.4, 0.6]))),
    ],
    ("Pareto", "Pareto"): [(lambda D, t: D.Pareto(t([2.0]), t([1.5])), lambda D, t: D.Pareto(1.0, t([2.0])))],
    ("Uniform", "Uniform"): [(lambda D, t: D.Uniform(t([0.2]), 0.5), lambda D, t: D.Uniform(0.0, t([0.7])))],
    ("Independent", "Independent"): [
        (
            lambda D, t: D.Independent(D.Normal(t([[0.5, 1.0]]), 1.0), 1),
            lambda D, t: D.Independent(D.Normal(0.0, t([[2.0, 1.0]])), 1),
        )
    ],
    ("TransformedDistribution", "TransformedDistribution"): [
        (lambda D, t: D.LogNormal(t([0.5]), 1.0), lambda D, t: D.LogNormal(0.0, t([0.5]))),
        (lambda D, t: D.Gumbel(t([0.5]), 1.0), lambda D, t: D.LogNormal(0.0, t([0.5]))),
        (
            lambda D, t: D.RelaxedBernoulli(t([0.5]), t([0.2])),
            lambda D, t: D.RelaxedBernoulli(t([0.5]), t([0.3])),
        ),
    ],
    ("ExponentialFamily", "ExponentialFamily"): [
        (
            lambda D, t: D.Wishart(t(4.0), t([[2.0, 0.5], [0.5, 1.0]])),
            lambda D, t: D.Wishart(3.5, t.fixed(EYE)),
        ),
        (lambda D, t: D.Normal(t(4.0), t(1.0)), lambda D, t: D.Dirichlet(t([2.0, 1.0]))),
        (lambda D, t: D.Poisson(t(4.0)), lambda D, t: D.Normal(t(4.0), 1.0)),
    ],
    ("Chi2", "Gamma"): [(lambda D, t: D.Chi2(t([3.0])), lambda D, t: D.Gamma(t([2.0, 1.5]), t(0.4)))],
    ("Bernoulli", "Bernoulli"): [
        (lambda D, t: D.Bernoulli(t([0.0, 1.0, 0.5, 1.0])), lambda D, t: D.Bernoulli(t([0.0, 0.3, 1.0, 1.0])))
    ],
}
for low, high in ((-0.5, 0.5), (0.1, 0.9), (0.0, 1.0), (1.5, 3.0)):
    for type_q, q in {
        "Beta": lambda D, t: D.Beta(t([1.5]), t([0.7])),
        "ContinuousBernoulli": lambda D, t: D.ContinuousBernoulli(t([0.3])),
        "Exponential": lambda D, t: D.Exponential(t([0.7])),
        "Gamma": lambda D, t: D.Gamma(t([1.7]), t([0.7])),
        "Pareto": lambda D, t: D.Pareto(t([0.5]), t([0.7])),
    }.items():
        p = lambda D, t, low=low, high=high: D.Uniform(t([low]), t([high]))  # noqa: E731
        MORE.setdefault(("Uniform", type_q), []).append((p, q))
for type_p, p in {
    "Beta": lambda D, t: D.Beta(t([1.5]), t([0.7])),
    "ContinuousBernoulli": lambda D, t: D.ContinuousBernoulli(t([0.3])),
}.items():
    for low, high in ((-0.5, 0.5), (-0.5, 1.5), (0.0, 1.0), (0.1, 0.9)):
        q = lambda D, t, low=low, high=high: D.Uniform(t([low]), t([high]))  # noqa: E731
        MORE.setdefault((type_p, "Uniform"), []).append((p, q))
EYE = [[1.0, 0.0], [0.0, 1.0]]
UNBROADCAST = ("Bernoulli", "Pareto", "Uniform", "LowRankMultivariateNormal")
LOOSE = Law(
    "pair", [], [], tolerance={"float32": (3e-4, 1e-4), **TRIGAMMA}
)  # differences of sums of all terms


def couples(pair: tuple[str, str], dtype: str) -> list:
    """Ways to make both of a pair: those of the records whose batches broadcast, and more."""
    laws = [BY_NAME.get(name) for name in pair]
    made = [] if None in laws else [(p, q) for p in laws[0].builds for q in laws[1].builds]
    return [both for both in [*made, *MORE.get(pair, [])] if fits(both, dtype)]


def fits(both: tuple[Make, Make], dtype: str) -> bool:
    """Whether torch can broadcast the two, and both are of the type asked for, as numbers alone are not."""
    kinds = [Tensors(torch, dtype) for _ in both]
    shapes = [make(torch.distributions, t).batch_shape for make, t in zip(both, kinds, strict=True)]
    typed = dtype == "float32" or all(t.leaves for t in kinds)
    return typed and attempt(torch.broadcast_shapes, *shapes).error is None


def divergence(both: tuple, t: Tensors) -> Any:
    """Of both as they are; where torch does not broadcast its masks and factors, of both expanded."""
    kl = t.lib.distributions.kl_divergence
    shape = t.lib.broadcast_shapes(*(d.batch_shape for d in both))
    if any(isinstance(d, tuple(getattr(t.lib.distributions, n) for n in UNBROADCAST)) for d in both):
        return kl(*(d.expand(shape) for d in both))
    return kl(*both)


def test_the_same_pairs() -> None:
    mine = {(p.__name__, q.__name__) for p, q in L.distributions.kl._KL_REGISTRY}
    assert mine == set(PAIRS)


@pytest.mark.parametrize("pair", [*PAIRS, ("Chi2", "Gamma"), ("StudentT", "Normal")], ids="-".join)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_divergence(pair: tuple[str, str], dtype: str) -> None:
    """Values and gradients by all parameters of both, and refusals."""
    asked = couples(pair, dtype)
    assert asked, f"no way to make {pair}"
    for p, q in asked:
        agree(LOOSE, lambda D, t, p=p, q=q: (p(D, t), q(D, t)), divergence, dtype)


FINITE = (
    ("Normal", "Gumbel"),
    ("Gamma", "Gumbel"),
    ("Uniform", "Beta"),
    ("Normal", "Laplace"),
    ("Beta", "Gamma"),
)


@pytest.mark.parametrize("pair", FINITE, ids="-".join)
def test_divergence_is_the_mean_of_the_difference(pair: tuple[str, str]) -> None:
    """Not torch, but the definition: the mean of log p - log q over samples of p."""
    ways = {
        "Normal": lambda D: D.Normal(0.5, 1.2),
        "Gumbel": lambda D: D.Gumbel(0.2, 1.5),
        "Gamma": lambda D: D.Gamma(2.0, 1.5),
        "Uniform": lambda D: D.Uniform(0.1, 0.9),
        "Beta": lambda D: D.Beta(1.5, 2.5),
        "Laplace": lambda D: D.Laplace(0.2, 1.5),
    }
    p, q = (ways[name](L.distributions) for name in pair)
    L.manual_seed(5)
    x = p.sample((200_000,))
    gaps = numpy_of(p.log_prob(x) - q.log_prob(x)).astype(np.float64)
    expected = float(L.distributions.kl_divergence(p, q))
    assert abs(gaps.mean() - expected) < 5 * gaps.std() / len(gaps) ** 0.5


def test_registering() -> None:
    """The nearest formula serves, an ambiguous one is warned of, and a missing one is refused, as in torch."""

    def story(lib: Any) -> list:
        D = lib.distributions

        class A(D.Distribution):
            arg_constraints = {}  # noqa: RUF012

        class B(A):
            pass

        seen = []
        seen.append(attempt(D.kl_divergence, B(), A()).sentence)
        D.register_kl(A, A)(lambda p, q: "A, A")
        seen.append(D.kl_divergence(B(), B()))
        D.register_kl(B, A)(lambda p, q: "B, A")
        seen.append(D.kl_divergence(B(), B()))
        D.register_kl(A, B)(lambda p, q: "A, B")
        answer = attempt(D.kl_divergence, B(), B())
        seen += [answer.value, answer.warned]
        D.register_kl(B, B)(lambda p, q: "B, B")
        seen += [D.kl_divergence(B(), B()), D.kl_divergence(A(), A())]
        module = D.kl._KL_REGISTRY
        for key in [key for key in module if issubclass(key[0], A)]:
            del module[key]
        D.kl._KL_MEMOIZE.clear()
        return seen

    assert story(L) == [renamed(t) if isinstance(t, str) else t for t in story(torch)]
    with pytest.raises(TypeError):
        L.distributions.register_kl(3, L.distributions.Normal)
