"""A test draws the same numbers wherever it stands in the order."""

import random

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch")
rng = np.random.default_rng(7)
TOLD = []


@pytest.mark.parametrize("time", ["first", "again"])
def test_the_same_numbers(time):
    TOLD.append(
        (rng.random(), random.random(), np.random.rand(), torch.rand(1).item(), vistorch.rand(1).item())
    )
    assert TOLD[0] == TOLD[-1]
    assert TOLD[0][0] == np.random.default_rng(7).random()
