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


@pytest.mark.parametrize(
    "shape", [(192, 2000), (1003, 130), (2, 640, 64), (300, 1024), (40000, 3), (1200, 1100)]
)
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("ufunc", [np.add, np.multiply])
def test_running_sums_of_many_rows_are_those_of_accumulate(shape, number, ufunc, monkeypatch):
    monkeypatch.setattr(scans.threads.state, "asked", number)
    x = np.random.default_rng(3).standard_normal(shape).astype("f4")
    flat = x.reshape(-1)
    flat[:: flat.size // 50] = [np.nan, np.inf, -np.inf, -0.0, 3e38][number % 5]
    with np.errstate(all="ignore"):
        for given in (x, x[..., ::-1]):
            want = ufunc.accumulate(given.astype("f8"), -1).astype("f4")
            found = scans.along_rows(ufunc, given, np.dtype("f8"))
            assert found.shape == want.shape and found.flags.c_contiguous
            assert (
                np.array_equal(found, want, equal_nan=True) and (np.signbit(found) == np.signbit(want)).all()
            )


def test_running_sums_of_many_rows_in_complex_numbers():
    rng = np.random.default_rng(4)
    x = (rng.standard_normal((250, 200)) + 1j * rng.standard_normal((250, 200))).astype("c8")
    want = np.add.accumulate(x.astype("c16"), 1).astype("c8")
    assert (scans.along_rows(np.add, x, np.dtype("c16")) == want).all()
