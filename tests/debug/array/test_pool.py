"""What a block shows, against a slow reading of the rule, for any shape, strides and bad values."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.debug.array.arrays import REAL, blocked, exactly, is_float, parts, strided
from tests.debug.array.conftest import force
from vistorch.debug.array.blocks import choose_block, grid_of, lay_out, pieces
from vistorch.debug.array.measure import measure

HALF = Fraction(1, 2)
CLOSE = Fraction(1, 10**4)  # two entries as far from the mean as each other, but for rounding


def check(array, block, found):
    """Every cell by the rule; the extremes of all somewhere; return how many cells an extreme has displaced."""
    flat = [v for v in exactly(array.reshape(-1)) if math.isfinite(v)]
    low, high = (min(flat), max(flat)) if flat else (None, None)
    assert found.cells.shape == grid_of(array.shape, block)
    displaced = 0
    ends = found.cells if found.ends is None else found.ends
    assert ends.shape == found.cells.shape and ends.dtype == found.cells.dtype
    for cell, entries in parts(array, block):
        shown, other, entries = found.cells[cell].item(), ends[cell].item(), exactly(entries)
        if any(math.isnan(v) for v in entries):
            assert math.isnan(shown)
        elif math.inf in entries:
            assert shown == math.inf
        elif -math.inf in entries:
            assert shown == -math.inf
        else:
            assert shown in entries
            exact = [Fraction(v) for v in entries]
            mean = sum(exact) / len(exact)
            furthest = max(abs(v - mean) for v in exact)
            if abs(Fraction(shown) - mean) < furthest * (1 - CLOSE):
                assert shown in (low, high)
                displaced += 1
                continue
            # The other end of the range stands beside it if it is at least half as far from the mean, and only then.
            opposite = max(exact) if Fraction(shown) < mean else min(exact)
            apart = abs(opposite - mean)
            if apart > furthest * (HALF + CLOSE):
                assert {shown, other} == {min(entries), max(entries)}
            elif apart < furthest * (HALF - CLOSE):
                assert other == shown
            else:
                assert other in (shown, opposite)
        if not math.isfinite(shown):
            assert other == shown or (math.isnan(other) and math.isnan(shown))
    assert displaced <= 2 * lay_out(array).copies
    for extreme, other in ((low, high), (high, low)):
        if extreme is None or extreme in [*found.cells.reshape(-1).tolist(), *ends.reshape(-1).tolist()]:
            continue
        # only where worse, or the last of the other extreme, is in each of its blocks
        for cell, entries in parts(array, block):
            if extreme in exactly(entries):
                assert not math.isfinite(found.cells[cell]) or other in (
                    found.cells[cell].item(),
                    ends[cell].item(),
                )


@pytest.mark.parametrize("way", ["sorted", "walked"])
@settings(max_examples=250)
@given(blocked())
def test_each_block_shows_its_rule(way, given):
    array, block = given
    with pytest.MonkeyPatch.context() as patch:
        force(way, patch)
        found = measure(array, block)
    check(array, block, found)


# What a block of these values shows, and the other end where it shows both: the same table as in raster.test.ts.
SHOWN = [
    ([5], 5, None),
    ([1, 1, 1], 1, None),
    ([0, 0, 0, 9], 9, None),
    ([0, 0, 0, -9], -9, None),
    ([-1, 1], 1, -1),  # as far as each other: neither speaks for the block
    ([2, 3], 3, 2),
    ([-1, 1, -1], 1, -1),
    ([1, -1, 1], -1, 1),
    ([-1, 1, -1, 1, -1], 1, -1),
    ([0, 0, 0, 3, 1], 3, None),
    ([0, 1, 4], 4, 0),
    ([math.nan, 1, -1], math.nan, None),
    ([math.inf, 1, -math.inf], math.inf, None),
    ([-math.inf, 1, 1], -math.inf, None),
]


@pytest.mark.parametrize(("values", "shown", "end"), SHOWN, ids=str)
def test_the_rule_in_a_table(values, shown, end):
    x = np.array(
        [values, [-1000] * len(values), [1000] * len(values)], np.float32
    )  # no extreme is to be kept
    found = measure(x, (1, len(values)))
    ends = found.ends if found.ends is not None else found.cells
    np.testing.assert_array_equal(found.cells[0, 0], np.float32(shown))
    np.testing.assert_array_equal(ends[0, 0], np.float32(shown if end is None else end))


def test_signs_that_alternate_make_no_stripes():
    """Every other column negative, blocks of any width: all blocks show both, none shows one sign."""
    for width in range(2, 60):
        x = np.ones((4, 1000), np.float32)
        x[:, ::2] = -1
        found = measure(x, (2, width))
        whole = 1000 // width
        assert (found.cells[:, :whole] == -found.ends[:, :whole]).all()


@pytest.mark.parametrize("way", ["sorted", "walked"])
@settings(max_examples=60)
@given(blocked(dtypes=[d for d in REAL if is_float(d) and d.itemsize > 1]))
def test_a_picture_shows_means_and_all_that_is_bad(way, given):
    array, block = given
    with pytest.MonkeyPatch.context() as patch:
        force(way, patch)
        found = measure(array, block, lambda least, most: True)
    for cell, entries in parts(array, block):
        entries, shown = exactly(entries), found.cells[cell].item()
        bad = {v for v in entries if math.isinf(v)}
        if max(block, default=1) == 1 and len(entries) == 1 and math.isfinite(entries[0]):
            assert shown == entries[0]
        elif any(math.isnan(v) for v in entries):
            assert math.isnan(shown)
        elif bad:
            assert shown == max(bad)
        else:
            scale = max(abs(v) for v in entries)
            mean = float(sum(map(Fraction, entries)) / len(entries))
            assert abs(shown / 2 - mean / 2) <= 1e-6 * scale


def test_bad_values_survive_anywhere_in_a_large_array():
    x = np.zeros((700, 900), np.float32)
    x[0, 0], x[699, 899], x[350, 123] = np.nan, np.inf, -np.inf
    x[699, 0], x[10, 10] = -3, 5
    block = choose_block(x.shape, 40_000, (0, 1))
    found = measure(x, block)
    k = block[0]
    assert np.isnan(found.cells[0, 0]) and found.cells[-1, -1] == np.inf
    assert found.cells[350 // k, 123 // k] == -np.inf
    assert found.cells.min() != found.cells.min() and np.isfinite(found.cells).sum() == found.cells.size - 3
    assert found.cells[699 // k, 0] == -3 and found.cells[10 // k, 10 // k] == 5
    assert found.bad.at.tolist() == [0, 350 * 900 + 123, 699 * 900 + 899]
    assert found.bad.which.tolist() == [0, 2, 1]


def test_sums_that_overflow_do_not_change_what_is_furthest(way):
    x = np.full((40, 40), 3e38, np.float32)
    x[5, 7] = 1e38
    x[8:16, 8:16], x[10, 10], x[39, 39] = -3e38, 2e38, -3e38  # the last is shown, or the block had to show it
    for kind, factor in ((np.float32, 1), (np.float64, 5e269)):
        found = measure(x.astype(kind) * factor, (8, 8))
        assert found.cells[0, 0] == x[5, 7].astype(kind) * factor
        assert found.cells[1, 1] == x[10, 10].astype(kind) * factor
        assert np.isfinite(found.stats.std) and np.isfinite(found.stats.mean)


@given(
    st.lists(st.integers(1, 5000), min_size=1, max_size=6),
    st.integers(1, 50_000),
)
def test_blocks_are_few_enough_and_not_much_too_large(shape, cells):
    shape = tuple(shape)
    block = choose_block(shape, cells, tuple(range(len(shape)))[-2:])
    grid = grid_of(shape, block)
    assert math.prod(grid) <= cells
    assert all(1 <= k <= n for k, n in zip(block, shape, strict=True))
    if math.prod(shape) <= cells:
        assert set(block) == {1}


@pytest.mark.parametrize(
    ("shape", "block"),
    [
        ((1000, 1000), (5, 5)),
        ((10**7,), (250,)),
        ((512, 512, 3, 3), (8, 8, 1, 1)),
        ((64, 3, 224, 224), (1, 1, 16, 16)),
        ((1000, 100), (2, 2)),
    ],
)
def test_blocks_of_usual_shapes(shape, block):
    assert choose_block(shape, 40_000, tuple(range(len(shape)))[-2:]) == block


@given(blocked(), st.integers(1, 30))
def test_pieces_cover_everything_once_at_borders_of_blocks(given, limit):
    array, block = given
    seen = np.zeros(array.shape, int)
    for where in pieces(array.shape, block, limit):
        seen[where] += 1
        for s, k, n in zip(where, block, array.shape, strict=True):
            assert s.start % k == 0 and (s.stop % k == 0 or s.stop == n)
    assert (seen == 1).all()


@given(strided())
def test_a_layout_holds_each_stored_element_once(array):
    laid = lay_out(array)
    assert laid.array.size * laid.copies == array.size
    assert all(abs(s) > 0 for n, s in zip(laid.array.shape, laid.array.strides, strict=True) if n > 1)
