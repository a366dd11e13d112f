"""The larger or smaller of each element and a number, by the shorter way of long arrays."""

import numpy as np
import pytest
import torch

import vistorch as L
from vistorch.engine.kernels import bounds


def numbers(n, kind):
    x = np.random.default_rng(0).standard_normal(n).astype(kind)
    x[:: max(n // 7, 1)] = np.resize([np.nan, np.inf, -np.inf, 0, -0.0], len(x[:: max(n // 7, 1)]))
    return x


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i4", "u1"])
@pytest.mark.parametrize("n", [0, 1, bounds.LONG - 1, bounds.LONG, bounds.LONG + 5])
def test_bounds_are_maximum_and_minimum(n, kind):
    x = numbers(n, kind) if kind[0] == "f" else np.arange(n).astype(kind)
    for bound in (0, 1, 0.5, -0.25, np.inf, -np.inf, np.nan) if kind[0] == "f" else (0, 3):
        for ours, numpys in ((bounds.at_least, np.maximum), (bounds.at_most, np.minimum)):
            want = numpys(x, bound)
            found = ours(x, bound)
            assert found.dtype == want.dtype
            np.testing.assert_array_equal(found, want)
            kept = x.copy()
            assert ours(kept, bound, out=kept) is kept
            np.testing.assert_array_equal(kept, want)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [bounds.LONG, 50_000, (1 << 20) + 7])
def test_of_a_long_array_zeros_keep_their_sign(n, threads):
    """As in PyTorch, and whatever computes them: 1 / relu(-0) is -inf."""
    before = L.get_num_threads()
    try:
        L.set_num_threads(threads)
        x = L.full((n,), -0.0)
        for y in (x.relu(), x.clamp(min=0), x.clamp_min(0), x.clone().relu_(), x.clone().clamp_(min=0)):
            assert y.signbit().all()
        assert not (-x).clamp(max=-0.0).signbit().any()
    finally:
        L.set_num_threads(before)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_functions_are_those_of_torch(kind):
    x = numbers(5 * 4099, kind).reshape(5, 4099)
    for name, args in (("relu", ()), ("clamp", (0.5,)), ("clamp", (None, 2)), ("clamp_min", (-1,))):
        made = getattr(L, name)(L.tensor(x), *args).numpy()
        want = getattr(torch, name)(torch.tensor(x), *args).numpy()
        assert np.array_equal(made, want, equal_nan=True)
    made = L.relu_(L.tensor(x)).numpy()
    assert np.array_equal(made, torch.relu(torch.tensor(x)).numpy(), equal_nan=True)
