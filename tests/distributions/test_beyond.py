"""What works here and not in torch: see docs/differences.md."""

import warnings
from typing import Any

import pytest

from tests.ops.library import L, attempt, torch


def test_several_wishart_samples_have_gradients() -> None:
    """Against differences of two nearby factors; torch cannot differentiate them."""
    noise = L.tensor([[1.5, 0.0], [-0.4, 0.7]], dtype=L.float64)

    def total(factor: Any) -> Any:
        L.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of singular samples
            return (L.distributions.Wishart(4.0, scale_tril=factor).rsample((2, 3)) * weights).sum()

    weights = L.arange(24.0, dtype=L.float64).reshape(2, 3, 2, 2).cos()
    leaf = noise.clone().requires_grad_()
    total(leaf).backward()
    for i, j in ((0, 0), (1, 0), (1, 1)):
        step = L.zeros(2, 2, dtype=L.float64)
        step[i, j] = 1e-6
        expected = (total(noise + step) - total(noise - step)) / 2e-6
        assert leaf.grad is not None
        assert L.allclose(leaf.grad[i, j], expected, rtol=1e-6)


@pytest.mark.parametrize("concentration", [0.4, 0.0, -0.2])
def test_generalized_pareto_in_double_precision(concentration: float) -> None:
    """Its density is the slope of its distribution function, which `icdf` takes back."""
    d = L.distributions.GeneralizedPareto(*(L.tensor(x, dtype=L.float64) for x in (0.5, 1.5, concentration)))
    value = L.tensor([0.7, 1.5, 4.0], dtype=L.float64, requires_grad=True)
    (slope,) = L.autograd.grad(d.cdf(value).sum(), [value])
    assert L.allclose(slope, d.log_prob(value).exp(), rtol=1e-10)
    assert L.allclose(d.icdf(d.cdf(value)), value, rtol=1e-10)


@pytest.mark.parametrize("name", ["Bernoulli", "Pareto", "Uniform", "LowRankMultivariateNormal"])
def test_divergences_of_batches_that_broadcast(name: str) -> None:
    def both(lib: Any) -> tuple:
        D = lib.distributions
        if name == "LowRankMultivariateNormal":
            factor, diag = lib.tensor([[1.0], [0.4]]), lib.tensor([[0.5, 1.5]])
            wide = D.LowRankMultivariateNormal(lib.zeros(3, 2), factor, diag)
            return wide, D.MultivariateNormal(lib.ones(2), lib.eye(2))
        few, many = lib.tensor([[0.2], [0.4]]), lib.tensor([0.6, 0.7, 0.8])
        if name == "Bernoulli":
            return D.Bernoulli(few), D.Bernoulli(many)
        return getattr(D, name)(few, few + 1), D.Exponential(many)

    p, q = both(L)
    shape = L.broadcast_shapes(p.batch_shape, q.batch_shape)
    kl = L.distributions.kl_divergence
    assert kl(p, q).shape == shape
    assert L.equal(kl(p, q), kl(p.expand(shape), q.expand(shape)))
    assert attempt(torch.distributions.kl_divergence, *both(torch)).error is not None
