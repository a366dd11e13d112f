"""Sorting and selection against torch, over ties, nans, all dtypes and shapes."""

import numpy as np
import pytest
import torch

from vistorch.engine.kernels import order

from .arrays import FLOATS, INTEGERS, SHAPES, array, same, same_but_for_zeros, same_error, strided, tensor

SORTABLE = (*FLOATS, *INTEGERS, "bool")
NUMBERS = (*FLOATS, *INTEGERS)


def cases(dtype, seed, special=True):
    rng = np.random.default_rng(seed)
    for shape in SHAPES:
        for axis in range(-1, max(len(shape), 1)):
            for ties in (True, False):
                yield strided(array(rng, shape, dtype, ties, special)), axis


def points_at(x, axis, values, indices, keepdim):
    """Assert that indices name the values."""
    if x.ndim == 0:
        assert indices == 0
        return
    wide = indices if keepdim else np.expand_dims(indices, axis)
    found = np.take_along_axis(x, wide, axis)
    same(found if keepdim else np.squeeze(found, axis), values)


@pytest.mark.parametrize("dtype", SORTABLE)
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype, descending):
    for x, axis in cases(dtype, 1):
        before = x.copy()
        values, indices = order.sort(np, x, axis, descending)
        want = torch.sort(tensor(x), dim=axis, descending=descending, stable=True)
        same(values, want.values)
        same(indices, want.indices)
        same(x, before)


def test_sort_takes_unsigned_types_torch_has_no_sort_for():
    for dtype in ("uint16", "uint32", "uint64"):
        x = np.array([3, np.iinfo(dtype).max, 0, 3, 1 << 15], dtype=dtype)
        values, indices = order.sort(np, x)
        same(values, np.sort(x))
        assert indices.tolist() == [2, 0, 3, 4, 1]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sort_of_the_ends_of_the_range(dtype):
    ends = np.iinfo(dtype)
    x = np.array([0, ends.min, 1, ends.max, ends.min], dtype=dtype)
    for descending in (False, True):
        values, indices = order.sort(np, x, descending=descending)
        want = torch.sort(tensor(x), descending=descending, stable=True)
        same(values, want.values)
        same(indices, want.indices)


def test_argsort_and_msort():
    x = array(np.random.default_rng(2), (4, 5), "float32")
    same(order.argsort(np, x, 0, True), torch.argsort(tensor(x), dim=0, descending=True, stable=True))
    same(order.msort(np, x), torch.msort(tensor(x)))
    same(order.msort(np, x[0, 0]), torch.msort(tensor(x[0, 0])))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("largest", [True, False])
def test_topk(dtype, largest):
    for x, axis in cases(dtype, 3):
        n = x.shape[axis] if x.ndim else 1
        for k in {0, 1, n // 3, n - 1, n} - {-1}:
            if k > n:
                continue
            values, indices = order.topk(np, x, k, axis, largest)
            want = torch.topk(tensor(x), k, axis, largest).values
            same_but_for_zeros(values, want)
            if x.ndim:
                points_at(x, axis, values, indices, True)
                assert all(
                    len(set(row)) == k
                    for row in np.moveaxis(indices, axis, -1).reshape(-1, max(k, 1)).tolist()
                )
            assert indices.dtype == np.int64
            assert indices.shape == want.shape


def test_topk_without_ties_has_torch_indices():
    rng = np.random.default_rng(4)
    for dtype in FLOATS:
        x = rng.permutation(1000).reshape(4, 250).astype(dtype)
        same(order.topk(np, x, 7)[1], torch.topk(tensor(x), 7).indices)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("keepdim", [False, True])
def test_kthvalue_median_nanmedian(dtype, keepdim):
    for x, axis in cases(dtype, 5):
        n = x.shape[axis] if x.ndim else 1
        if n == 0:
            continue
        runs = [(order.median, torch.median, ()), (order.nanmedian, torch.nanmedian, ())]
        runs += [(order.kthvalue, torch.kthvalue, (k,)) for k in {1, (n + 1) // 2, n}]
        for ours, theirs, extra in runs:
            values, indices = ours(np, x, *extra, axis, keepdim)
            want = theirs(tensor(x), *extra, axis, keepdim)
            same_but_for_zeros(values, want.values)
            points_at(x, axis, values, indices, keepdim)
            assert indices.dtype == np.int64
            if ours is order.median and x.dtype.kind == "f":
                nan = np.isnan(values)
                same(indices[nan], want.indices.numpy()[nan])


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
def test_mode(dtype):
    # torch's order of nans, and of ties in rows longer than 16, is an accident of its sort.
    for x, axis in cases(dtype, 6, special=False):
        n = x.shape[axis] if x.ndim else 1
        if n == 0:
            continue
        values, indices = order.mode(np, x, axis)
        want = torch.mode(tensor(x), axis)
        same_but_for_zeros(values, want.values)
        points_at(x, axis, values, indices, False)
        if n <= 16:
            same(indices, want.indices)


def test_mode_takes_the_last_position_and_counts_no_nans():
    nan = np.nan
    x = np.array([[1, nan, 2, nan, 0, 2], [nan, nan, nan, 3, 1, 2], [nan] * 6])
    values, indices = order.mode(np, x, 1)
    same(values, np.array([2, 1, nan]))
    assert indices.tolist() == [5, 4, 0]
    assert order.mode(np, np.array([4] * 40 + [3] * 40))[1] == 79


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmax_argmin(dtype, name):
    ours, theirs = getattr(order, name), getattr(torch, name)
    for x, axis in cases(dtype, 7):
        for keepdim in (False, True):
            if x.size:
                same(ours(np, x, None, keepdim), theirs(tensor(x), None, keepdim))
            if x.ndim == 0 or x.shape[axis]:
                same(ours(np, x, axis, keepdim), theirs(tensor(x), axis, keepdim))


def test_errors():
    x, none, scalar = np.ones((2, 3), "float32"), np.ones((0, 3), "float32"), np.float32(1).reshape(())
    for name, a, args in [
        ("topk", x, (4,)),
        ("topk", x, (-1,)),
        ("topk", scalar, (2,)),
        ("topk", none, (1, 0)),
        ("kthvalue", x, (4,)),
        ("kthvalue", x, (0, -2)),
        ("kthvalue", scalar, (2,)),
        ("kthvalue", none, (1, 0)),
        ("median", none, (0,)),
        ("nanmedian", none, (-2,)),
        ("mode", none, (0,)),
        ("argmax", none, ()),
        ("argmin", none, (0,)),
    ]:
        same_error(
            lambda n=name, a=a, r=args: getattr(order, n)(np, a, *r),
            lambda n=name, a=a, r=args: getattr(torch, n)(tensor(a), *r),
        )


def test_empty_rows_elsewhere():
    x = np.ones((0, 3), "float32")
    for ours, theirs in [
        (order.median, torch.median),
        (order.nanmedian, torch.nanmedian),
        (order.mode, torch.mode),
    ]:
        values, indices = ours(np, x, 1)
        want = theirs(tensor(x), 1)
        same(values, want.values)
        same(indices, want.indices)
    same(order.argmax(np, x, 1), torch.argmax(tensor(x), 1))
    same(order.kthvalue(np, x, 2, 1)[1], torch.kthvalue(tensor(x), 2, 1).indices)
