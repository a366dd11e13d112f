"""Distinct values and counts against torch."""

import itertools

import numpy as np
import pytest
import torch

from vistorch.engine.kernels import counting

from .arrays import FLOATS, INTEGERS, SHAPES, array, same, same_error, strided, tensor

ALL = (*FLOATS, *INTEGERS, "bool")
ASKED = list(itertools.product([False, True], repeat=2))


def check(x, got, want, inverse, counts):
    want = list(want) if isinstance(want, tuple) else [want]
    if x is not None and inverse and x.dtype.kind == "f":
        # The nans are all kept and come last; which of them is which is open.
        nan = np.isnan(x)
        assert np.array_equal(np.sort(got[1][nan]), np.sort(want[1].numpy()[nan]))
        got = (got[0], np.where(nan, -1, got[1]), got[2])
        want[1] = np.where(nan, -1, want[1].numpy())
    assert (got[1] is not None) == inverse
    assert (got[2] is not None) == counts
    got = [part for part in got if part is not None]
    assert len(got) == len(want)
    for ours, theirs in zip(got, want, strict=True):
        if ours.dtype.kind == "f":
            # Which of two equal zeros torch shows depends on what else was asked for.
            ours, theirs = ours + 0, theirs + 0
        same(ours, theirs)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
def test_unique(dtype, name):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        for ties in (True, False):
            x = strided(array(rng, shape, dtype, ties))
            before = x.copy()
            for inverse, counts in ASKED:
                asked = {"return_inverse": inverse, "return_counts": counts}
                got = getattr(counting, name)(np, x, **asked)
                check(x, got, getattr(torch, name)(tensor(x), **asked), inverse, counts)
            same(x, before)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
def test_unique_along_an_axis(dtype, name):
    rng = np.random.default_rng(2)
    # No nans for unique: torch's comparison of rows with nans is no order.
    special = name == "unique_consecutive"
    for shape in [(1,), (9,), (0,), (0, 3), (40, 2), (3, 40), (2, 3, 5), (12, 1, 2)]:
        for axis in range(-1, len(shape)):
            if 0 in shape and shape[axis] != 0:
                continue
            x = strided(array(rng, shape, dtype, special=special))
            for inverse, counts in ASKED:
                asked = {"return_inverse": inverse, "return_counts": counts}
                got = getattr(counting, name)(np, x, axis=axis, **asked)
                check(None, got, getattr(torch, name)(tensor(x), dim=axis, **asked), inverse, counts)


def test_unique_shows_the_zero_that_came_first():
    for x in ([1, 0.0, -0.0], [-0.0, 1, 0.0, -0.0]):
        for inverse in (False, True):
            same(
                counting.unique(np, np.array(x), return_inverse=inverse)[0],
                np.array([x[1] if x[0] else x[0], 1]),
            )


def test_unique_rows_with_nans_keep_every_such_row_at_the_end():
    nan = np.nan
    values, inverse, counts = counting.unique(
        np, np.array([[nan, 1], [1, 2], [nan, 1], [1, 2]]), True, True, True, 0
    )
    same(values, np.array([[1, 2], [nan, 1], [nan, 1]]))
    assert inverse.tolist() == [1, 0, 2, 0]
    assert counts.tolist() == [2, 1, 1]


def test_errors_of_unique():
    for name in ("unique", "unique_consecutive"):
        for shape, axis in [((0, 3), 1), ((0, 0), 0)]:
            x = np.zeros(shape)
            same_error(
                lambda n=name, x=x, a=axis: getattr(counting, n)(np, x, axis=a),
                lambda n=name, x=x, a=axis: getattr(torch, n)(tensor(x), dim=a),
            )


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bincount(dtype):
    rng = np.random.default_rng(3)
    for size in (0, 1, 30):
        x = rng.integers(0, 9, size).astype(dtype)
        for minlength in (0, 4, 20):
            same(
                counting.bincount(np, x, minlength=minlength), torch.bincount(tensor(x), minlength=minlength)
            )
            for kind in ("float32", "float64", "int64", "bool"):
                weights = rng.integers(-3, 4, size).astype(kind)
                got = counting.bincount(np, x, weights, minlength)
                same(got, torch.bincount(tensor(x), tensor(weights), minlength))


def test_errors_of_bincount():
    for x, weights, minlength in [
        (np.array([-1]), None, 0),
        (np.array([[1]]), None, 0),
        (np.array(1), None, 0),
        (np.zeros((3, 0), int), None, 0),
        (np.array([1]), None, -1),
        (np.array([1]), np.ones(2), 0),
        (np.array([1]), np.ones((1, 1)), 0),
    ]:
        theirs = None if weights is None else tensor(weights)
        same_error(
            lambda x=x, w=weights, m=minlength: counting.bincount(np, x, w, m),
            lambda x=x, w=theirs, m=minlength: torch.bincount(tensor(x), w, m),
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_histc(dtype):
    rng = np.random.default_rng(4)
    for _ in range(60):
        size = rng.choice([0, 1, 2, 50, 3000])
        x = (rng.standard_normal(size) * rng.choice([0.01, 1, 1000])).astype(dtype)
        bins = int(rng.choice([1, 3, 10, 100]))
        same(counting.histc(np, x, bins), torch.histc(tensor(x), bins))
        low, high = np.sort(np.round(rng.standard_normal(2), 2)).tolist()
        same(counting.histc(np, x, bins, low, high), torch.histc(tensor(x), bins, low, high))
        x = np.round(x)
        same(counting.histc(np, x, bins, -2, 3), torch.histc(tensor(x), bins, -2, 3))
    for x, ends in [([2, 2, 2], (0, 0)), ([0, 1], (-1, -1)), ([np.nan, 1], (0, 2)), ([np.inf, 1], (0, 1))]:
        x = np.array(x, dtype)
        same(counting.histc(np, x, 4, *ends), torch.histc(tensor(x), 4, *ends))
    x = rng.standard_normal((3, 4)).astype(dtype)
    same(counting.histc(np, x.T, 4), torch.histc(tensor(x).T, 4))


def test_errors_of_histc():
    for x, bins, low, high in [
        ([1.0], 0, 0, 0),
        ([1.0], -3, 0, 0),
        ([1.0], 4, 3, 0),
        ([1.0, np.inf], 4, 0, 0),
        ([1.0, np.nan], 4, 0, 0),
        ([1.0], 4, np.nan, 2),
        ([1.0], 4, 0, np.inf),
        ([1.0], 4, -np.inf, 2.5),
    ]:
        x = np.array(x, "float32")
        same_error(
            lambda x=x, b=bins, lo=low, hi=high: counting.histc(np, x, b, lo, hi),
            lambda x=x, b=bins, lo=low, hi=high: torch.histc(tensor(x), b, lo, hi),
        )
