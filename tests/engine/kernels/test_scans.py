"""Scans against torch, the way of numpy and the way without accumulate."""

import numpy as np
import pytest
import torch

from vistorch.engine.kernels import scans

from .arrays import FLOATS, INTEGERS, SHAPES, Doubling, array, same, strided, tensor


@pytest.mark.parametrize("xp", [np, Doubling()], ids=["accumulate", "doubling"])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_cummax_cummin(name, dtype, xp):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        for axis in range(-1, max(len(shape), 1)):
            x = strided(array(rng, shape, dtype))
            before = x.copy()
            values, indices = getattr(scans, name)(xp, x, axis)
            want = getattr(torch, name)(tensor(x), axis)
            same(values, want.values)
            same(indices, want.indices)
            same(x, before)


@pytest.mark.parametrize("xp", [np, Doubling()], ids=["accumulate", "doubling"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_logcumsumexp(dtype, xp):
    rng = np.random.default_rng(2)
    exact = {"rtol": 1e-6 if dtype == "float32" else 1e-14, "atol": 1e-6 if dtype == "float32" else 1e-14}
    with np.errstate(all="ignore"):
        for shape in SHAPES:
            for axis in range(-1, max(len(shape), 1)):
                for special in (False, True):
                    x = strided(array(rng, shape, dtype, False, special)) * np.asarray(30, dtype)
                    got = scans.logcumsumexp(xp, x, axis)
                    want = torch.logcumsumexp(tensor(x), axis).numpy()
                    assert got.dtype == want.dtype and got.shape == want.shape
                    np.testing.assert_allclose(got, want, **exact)


def test_logcumsumexp_of_large_and_infinite_values():
    x = np.array([-np.inf, -np.inf, 1000, 1000, -2000, np.inf, np.inf, -np.inf, np.nan, 1])
    with np.errstate(all="ignore"):
        got = scans.logcumsumexp(np, x, 0)
    two = 1000 + np.log(2)
    np.testing.assert_array_equal(
        got, [-np.inf, -np.inf, 1000, two, two, np.inf, np.inf, np.inf, np.nan, np.nan]
    )
