"""Sums of long rows and columns: as accurate as adding pairwise, whatever the length, the order and the values."""

import numpy as np
import pytest

from vistorch.engine.kernels import totals

SHAPES = [
    (40, 300),
    (40, 251),
    (40, 512),
    (9, 1000),
    (3, 9001),
    (2, 70_000),
    (1, 65_537),
    (300, 70),
    (64, 4096),
]


@pytest.mark.parametrize("code", "fd")
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_rows_and_columns_are_as_accurate_as_numpys_pairwise(shape, code):
    eps = np.finfo(code).eps
    for x in (np.random.default_rng(0).random(shape), np.full(shape, 0.1)):
        x = x.astype(code)
        exact = x.astype(np.longdouble)
        for dims in ((1,), (0,), (0, 1)):
            made = totals.total(np, x, dims)
            assert made.dtype == x.dtype
            np.testing.assert_allclose(np.longdouble(made), exact.sum(dims), rtol=8 * eps)
        np.testing.assert_allclose(np.longdouble(totals.everything(np, x)), exact.sum(), rtol=8 * eps)


def test_what_is_not_finite_stays_in_its_row():
    x = np.ones((64, 1000), "f4")
    x[3, 7], x[5, 999], x[9, 0], x[9, 1] = np.nan, np.inf, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        made = totals.total(np, x, (1,))
    assert np.isnan(made[[3, 9]]).all() and made[5] == np.inf
    assert (np.delete(made, [3, 5, 9]) == 1000).all()


@pytest.mark.parametrize("shape", [(1 << 11, 1 << 10), (7, 300_001), (1 << 20, 3)])
def test_the_number_of_threads_changes_no_bit_of_a_sum_along_memory(shape):
    import vistorch as torch

    x = torch.tensor(np.random.default_rng(0).standard_normal(shape).astype("f4"))
    before, made = torch.get_num_threads(), []
    try:
        for n in (1, 3, 4):
            torch.set_num_threads(n)
            made.append([x.sum().numpy(), x.sum(1).numpy()])
    finally:
        torch.set_num_threads(before)
    for other in made[1:]:
        for a, b in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
