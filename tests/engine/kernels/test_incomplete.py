"""The incomplete gamma functions and the slopes of gamma and beta numbers, against torch and finite differences."""

import numpy as np
import pytest
import torch

from vistorch.engine.kernels.incomplete import gamma_slope, igamma, igammac
from vistorch.engine.kernels.incomplete_beta import beta_slope

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def silent():
    """Kernels are run in silence."""
    with np.errstate(all="ignore"):
        yield


def gammas(low: float, high: float, count: int = 400):
    """Shapes over many sizes, and numbers of their distributions and off them."""
    a = 10 ** rng.uniform(low, high, count)
    x = rng.gamma(a)
    return np.concatenate((a, a)), np.concatenate((x, a * 10 ** rng.uniform(-0.7, 0.7, count)))


@pytest.mark.parametrize("low, high, rtol", [(-2, 0, 1e-12), (0, 1, 1e-12), (1, 3, 4e-9), (3, 6, 4e-9)])
def test_the_two_parts_against_torch(low, high, rtol):
    a, x = gammas(low, high)
    for ours, theirs in ((igamma, torch.igamma), (igammac, torch.igammac)):
        expected = theirs(torch.from_numpy(a), torch.from_numpy(x)).numpy()
        seen = expected > 1e-200
        # torch's own expansion for large shapes is good to nine digits
        np.testing.assert_allclose(ours(np, a, x)[seen], expected[seen], rtol=rtol, atol=1e-14)


def test_whole_shapes_have_a_closed_form():
    x = np.array([0.01, 0.5, 3.0, 9.0, 20.0, 60.0])
    for n in (1, 2, 9, 31):
        terms = np.cumprod(np.stack([np.ones_like(x), *(x / k for k in range(1, n))]), 0)
        np.testing.assert_allclose(igammac(np, np.full_like(x, n), x), np.exp(-x) * terms.sum(0), rtol=2e-13)


def differences(distribution, density, a, x):
    """-(dP/da) / (dP/dx), by central differences of a distribution function."""
    step = 1e-4 * a
    wide = (distribution(a + step, x) - distribution(a - step, x)) / (2 * step)
    narrow = (distribution(a + step / 2, x) - distribution(a - step / 2, x)) / step
    return -(4 * narrow - wide) / 3 / density


def test_the_slope_of_gamma_numbers_is_the_derivative_of_the_distribution():
    a, x = gammas(-1, 2.3)
    density = np.exp(
        torch.distributions.Gamma(torch.from_numpy(a), 1.0).log_prob(torch.from_numpy(x)).numpy()
    )
    expected = differences(lambda a, x: igamma(np, a, x), density, a, x)
    seen = density * x > 1e-3
    assert seen.sum() > 400
    np.testing.assert_allclose(gamma_slope(np, a, x)[seen], expected[seen], rtol=1e-6)


def test_the_slope_of_gamma_numbers_against_torch():
    a, x = gammas(-2, 5)
    expected = torch._standard_gamma_grad(torch.from_numpy(a), torch.from_numpy(x)).numpy()
    # torch's polynomials are good to three digits
    np.testing.assert_allclose(gamma_slope(np, a, x), expected, rtol=5e-3)


def beta_numbers(low: float, high: float, count: int = 400):
    a, b = 10 ** rng.uniform(low, high, (2, count))
    return a, b, np.clip(rng.beta(a, b), 1e-12, 1 - 1e-12)


def test_the_slope_of_beta_numbers_against_torch():
    a, b, x = beta_numbers(-1, 2)
    expected = torch._dirichlet_grad(*map(torch.from_numpy, (x, a, a + b))).numpy()
    ours = beta_slope(np, x, a, a + b)
    # torch's approximations: three digits in the middle, two at the edges
    error = np.abs(ours / expected - 1)
    assert np.median(error) < 1e-5 and np.quantile(error, 0.95) < 3e-3 and error.max() < 0.1


@pytest.mark.parametrize("a", [0.3, 2.0, 40.0])
def test_the_slope_of_beta_numbers_in_closed_form(a):
    """With b = 1 the distribution is x^a, so that dx/da = -x log(x) / a."""
    x = np.array([1e-4, 0.1, 0.4, 0.6, 0.9, 0.999])
    expected = -x * np.log(x) / a / (1 - x)
    np.testing.assert_allclose(
        beta_slope(np, x, np.full_like(x, a), np.full_like(x, a + 1)), expected, rtol=1e-10
    )


@pytest.mark.parametrize("b", [0.3, 2.0, 40.0, 900.0])
def test_many_beta_numbers_are_nearly_gamma_numbers(b):
    """For a = 1 the distribution is 1 - (1 - x)^b; its slope in a is that of -log(1 - U) by a numerical integral."""
    x = np.array([0.02, 0.3, 0.6, 0.95]) if b < 20 else np.array([0.2, 1.0, 3.0, 7.0]) / b
    # dx/da over 1 - x = x^(1-a) (1-x)^(-b) times the integral of (1-t)^(b-1) (mean log - log t) over [0, x]
    t = x[:, None] * np.linspace(0, 1, 400_001)[1:] ** 3
    mean_log = (
        torch.digamma(torch.tensor(1.0).double()) - torch.digamma(torch.tensor(1.0 + b).double())
    ).item()
    values = (1 - t) ** (b - 1) * (mean_log - np.log(t))
    area = ((values[:, 1:] + values[:, :-1]) / 2 * np.diff(t, axis=1)).sum(1) + t[:, 0] * (
        mean_log - np.log(t[:, 0]) + 1
    )
    expected = area / (1 - x) ** b
    np.testing.assert_allclose(
        beta_slope(np, x, np.ones_like(x), np.full_like(x, 1 + b)), expected, rtol=1e-6
    )


def test_halves_and_shapes():
    a, x = np.float32([[1.0], [9.0]]), np.float32([0.5, 2.0, 20.0])
    assert gamma_slope(np, a, x).shape == (2, 3) and gamma_slope(np, a, x).dtype == np.float32
    assert igamma(np, np.float64(2.0), np.zeros((0, 3))).shape == (0, 3)
