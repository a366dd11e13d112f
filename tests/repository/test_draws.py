"""A test draws the same numbers wherever it stands in the order."""

import random

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch")
rng = np.random.default_rng(7)


@pytest.mark.parametrize("time", ["first", "again"])
def test_the_same_numbers(time):
    assert rng.random() == np.random.default_rng(7).random()
    assert random.random() == random.Random(0).random()
    assert np.random.rand() == np.random.RandomState(0).rand()
    for L in (torch, vistorch):
        assert L.rand(1).item() == L.rand(1, generator=L.Generator().manual_seed(0)).item()
