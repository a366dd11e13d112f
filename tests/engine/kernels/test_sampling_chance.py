"""Gamma, Dirichlet and binomial draws: torch's numbers, and torch's words used."""

import numpy as np
import pytest
import torch

from vistorch.engine.kernels.sampling import normal
from vistorch.engine.kernels.sampling_binomial import binomial
from vistorch.engine.kernels.sampling_gamma import dirichlet, gamma
from vistorch.engine.random.mersenne_twister import Generator

rng = np.random.default_rng(0)
DTYPES = ("float32", "float64")


@pytest.fixture
def source():
    """Ours and torch's default generator, at the same seed."""
    torch.manual_seed(3)
    return Generator().manual_seed(3)


def same_words(generator) -> bool:
    return bool((generator.get_state() == torch.get_rng_state().numpy()).all())


@pytest.mark.parametrize("dtype", DTYPES)
def test_gamma_numbers_are_torchs(source, dtype):
    alpha = (10 ** rng.uniform(-2, 3, 3001)).astype(dtype)
    alpha[:3] = 0, 1, np.nan
    for part in (alpha, alpha[:7], alpha[:1].reshape(())):
        assert (gamma(source, part) == torch._standard_gamma(torch.tensor(part)).numpy()).all()
        assert same_words(source)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    "shapes", ["alike", "alike, near 1", "others", "others, near 1", "some zero", "large"]
)
def test_many_gamma_numbers_at_once_are_torchs(source, shapes, waits, dtype):
    """Near 1 a cube that is not positive comes often; a number of a pair waits before, or not, and after, or not."""
    for count in (1, 2, 17, 600, 4001):
        alpha = {
            "alike": lambda n: np.full(n, 2.5),
            "alike, near 1": lambda n: np.ones(n),
            "others": lambda n: rng.uniform(1, 10, n),
            "others, near 1": lambda n: rng.uniform(1, 1.5, n),
            "some zero": lambda n: np.where(rng.random(n) < 0.3, 0, rng.uniform(1, 9, n)),
            "large": lambda n: 10 ** rng.uniform(1, 6, n),
        }[shapes](count).astype(dtype)
        if waits:
            normal(source, (1,), "f8", 0.0, 1.0, True)
            torch.empty(1, dtype=torch.double).normal_()
        np.testing.assert_array_equal(
            gamma(source, alpha), torch._standard_gamma(torch.tensor(alpha)).numpy()
        )
        assert same_words(source)


def test_a_normal_number_that_waits_is_used_first(source):
    torch.empty(1).normal_()
    source.spare = None
    normal(source, (1,), "f4")
    assert (gamma(source, np.ones(4)) == torch._standard_gamma(torch.ones(4).double()).numpy()).all()
    assert same_words(source)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dirichlet_points_are_torchs(source, dtype):
    alpha = (10 ** rng.uniform(-2, 3, (300, 4))).astype(dtype)
    assert (dirichlet(source, alpha) == torch._sample_dirichlet(torch.tensor(alpha)).numpy()).all()
    assert same_words(source)


@pytest.mark.parametrize("dtype", DTYPES)
def test_binomial_counts_are_torchs(source, dtype):
    counts = rng.integers(0, 300, 2000).astype(dtype)
    p = rng.uniform(-0.05, 1.05, 2000).clip(0, 1).astype(dtype)
    p[0] = np.nan
    ours = binomial(source, counts, p)
    np.testing.assert_array_equal(ours, torch.binomial(torch.tensor(counts), torch.tensor(p)).numpy())
    assert same_words(source)


def test_binomial_comes_back_from_no_number(source):
    assert np.isnan(binomial(source, np.array([np.nan]), np.array([0.5]))).all()
    assert np.isinf(binomial(source, np.array([np.inf]), np.array([0.5]))).all()
