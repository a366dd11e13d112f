"""searchsorted, bucketize and the quantiles against torch."""

import numpy as np
import pytest
import torch

from vistorch.engine.kernels import search

from .arrays import FLOATS, INTEGERS, array, same, same_error, strided, tensor


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(dtype, right):
    rng = np.random.default_rng(1)
    for shape in [(0,), (1,), (9,), (40,), (3, 8), (2, 3, 17), (2, 0)]:
        for special in (False, True):
            row = np.sort(strided(array(rng, shape, dtype, special=special)), axis=-1)
            for last in (0, 1, 50):
                values = array(rng, (*shape[:-1], last), dtype)
                same(
                    search.searchsorted(np, row, values, right),
                    torch.searchsorted(tensor(row), tensor(values), right=right),
                )
                if row.ndim == 1:
                    values = strided(array(rng, (2, last), dtype))
                    want = torch.searchsorted(tensor(row), tensor(values), right=right)
                    same(search.searchsorted(np, row, values, right), want)
                    same(
                        search.bucketize(np, values, row, right),
                        torch.bucketize(tensor(values), tensor(row), right=right),
                    )
                    same(search.searchsorted(np, row, values, side="right" if right else "left"), want)
            if row.ndim == 1:
                value = array(rng, (), dtype)
                same(
                    search.searchsorted(np, row, value, right),
                    torch.searchsorted(tensor(row), tensor(value), right=right),
                )


def test_searchsorted_with_a_sorter():
    rng = np.random.default_rng(2)
    for shape in [(9,), (3, 20)]:
        row = rng.standard_normal(shape)
        sorter = np.argsort(row, axis=-1)
        values = rng.standard_normal(shape)
        want = torch.searchsorted(tensor(row), tensor(values), sorter=tensor(sorter))
        same(search.searchsorted(np, row, values, sorter=sorter), want)


def test_errors_of_searchsorted():
    a, two, scalar = np.ones(3), np.ones((2, 3)), np.ones(())
    for row, values, options in [
        (a, a, {"side": "x"}),
        (a, a, {"side": "left", "right": True}),
        (two, scalar, {}),
        (scalar, a, {}),
        (two, a, {}),
        (two, np.ones((3, 2)), {}),
        (a, a, {"sorter": np.array([0, 1])}),
        (a, a, {"sorter": np.array([0, 1, 7])}),
        (a, a, {"sorter": np.array([0, -1, 2])}),
    ]:
        theirs = {k: tensor(v) if k == "sorter" else v for k, v in options.items()}
        same_error(
            lambda r=row, v=values, o=options: search.searchsorted(np, r, v, **o),
            lambda r=row, v=values, o=theirs: torch.searchsorted(tensor(r), tensor(v), **o),
        )
    same_error(lambda: search.bucketize(np, a, two), lambda: torch.bucketize(tensor(a), tensor(two)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("ignore_nan", [False, True])
def test_quantile(dtype, interpolation, ignore_nan):
    rng = np.random.default_rng(3)
    theirs = torch.nanquantile if ignore_nan else torch.quantile
    with np.errstate(all="ignore"):
        for shape in [(), (1,), (7,), (40,), (4, 5), (2, 3, 5)]:
            for axis in [None, *range(-1, max(len(shape), 1))]:
                for special in (False, True):
                    x = strided(array(rng, shape, dtype, False, special))
                    for q in (np.array(0.3), np.array([0, 0.25, 0.5, 0.77, 1]), rng.random(3), np.zeros(0)):
                        q = q.astype(dtype)
                        for keepdim in (False, True):
                            got = search.quantile(np, x, q, axis, keepdim, interpolation, ignore_nan)
                            want = theirs(
                                tensor(x), tensor(q), axis, keepdim, interpolation=interpolation
                            ).numpy()
                            assert isinstance(got, np.ndarray)
                            assert got.shape == want.shape and got.dtype == want.dtype
                            # torch's lerp may round the product and the sum in one.
                            np.testing.assert_allclose(got, want, rtol=0, atol=4 * np.finfo(dtype).eps)


def test_errors_of_quantile():
    a = np.ones(3, "float32")
    half = np.array([0.5], "float32")
    for x, q, i in [
        (a, half, "x"),
        (a, half * 3, "linear"),
        (a, half * np.float32(np.nan), "linear"),
        (a[:0], half, "linear"),
        (a.astype(int), half, "linear"),
        (a, half.astype(float), "linear"),
        (a, half[None], "linear"),
    ]:
        same_error(
            lambda x=x, q=q, i=i: search.quantile(np, x, q, interpolation=i),
            lambda x=x, q=q, i=i: torch.quantile(tensor(x), tensor(q), interpolation=i),
        )
