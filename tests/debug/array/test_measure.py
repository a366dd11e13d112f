"""Statistics over all elements against numpy and exact arithmetic; positions; counts between given borders."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.debug.array.arrays import REAL, exactly, is_float, strided
from tests.debug.array.conftest import force
from vistorch.debug.array.blocks import choose_block
from vistorch.debug.array.measure import measure
from vistorch.debug.array.scales import scales_for

WAYS = pytest.mark.parametrize("way", ["sorted", "walked"])


def measured(array, way, block=None):
    with pytest.MonkeyPatch.context() as patch:
        force(way, patch)
        return measure(array, block or (1,) * array.ndim)


@WAYS
@settings(max_examples=250)
@given(strided())
def test_statistics_are_those_of_all_elements(way, array):
    found = measured(array, way)
    stats, flat = found.stats, exactly(array.reshape(-1))
    finite = sorted(v for v in flat if math.isfinite(v))
    assert stats.count == array.size and stats.finite == len(finite)
    assert stats.nan == sum(map(math.isnan, flat))
    assert (stats.posinf, stats.neginf) == (flat.count(math.inf), flat.count(-math.inf))
    assert stats.zeros == finite.count(0)
    if not finite:
        assert (stats.min, stats.max, stats.mean, stats.std, stats.median) == (None,) * 5
        return
    assert (stats.min, stats.max) == (finite[0], finite[-1])
    assert flat[stats.argmin] == finite[0] and flat[stats.argmax] == finite[-1]
    exact = [Fraction(v) for v in finite]
    mean = sum(exact) / len(exact)
    size = max(abs(finite[0]), abs(finite[-1]))
    assert abs(stats.mean - float(mean)) <= 1e-13 * size
    if len(exact) > 1:
        variance = sum((v - mean) ** 2 for v in exact) / (len(exact) - 1)
        # roots of fractions: by their scale, which may be beyond that of floats
        std = float(variance / Fraction(size or 1) ** 2) ** 0.5 * size
        assert abs(stats.std / 2 - std / 2) <= 1e-9 * size
    else:
        assert stats.std is None
    middle = finite[(len(finite) - 1) // 2]
    assert stats.median == middle or (
        way == "walked" and array.dtype.itemsize > 2 and abs(stats.median - middle) <= abs(middle) * 2**-8
    )


@WAYS
@given(strided(dtypes=[d for d in REAL if is_float(d)]))
def test_bad_values_are_listed_with_their_positions(way, array):
    found = measured(array, way)
    flat = array.reshape(-1).astype(np.float64)
    places = np.flatnonzero(~np.isfinite(flat))
    assert found.bad.at.tolist() == places[:512].tolist()
    kinds = [0 if math.isnan(v) else 1 if v > 0 else 2 for v in flat[places[:512]]]
    assert found.bad.which.tolist() == kinds
    assert (found.bad.nan, found.bad.posinf, found.bad.neginf) == (
        np.isnan(flat).sum(),
        (flat == np.inf).sum(),
        (flat == -np.inf).sum(),
    )


@WAYS
@settings(max_examples=300)
@given(strided(ranks=2, longest=30), st.sampled_from([None, "wide"]))
def test_counts_are_exact_between_the_borders_that_are_given(way, array, spread):
    found = measured(array, way)
    scales, chosen = scales_for(found.stats, found.spread)
    flat = array.reshape(-1)
    flat = flat.astype(np.float64)
    flat = flat[np.isfinite(flat)]
    assert 0 <= chosen < len(scales)
    for scale in scales:
        assert math.isfinite(scale.lo) and math.isfinite(scale.hi) and scale.lo < scale.hi
        assert len(scale.edges) == 61 and len(scale.counts) == 60
        assert (np.diff(scale.edges) >= 0).all()
        assert scale.under == (flat < scale.lo).sum() and scale.over == (flat > scale.hi).sum()
        below = [(flat < e).sum() for e in scale.edges[1:-1]]
        noted = np.diff([scale.under, *below, flat.size - scale.over])
        assert scale.counts.tolist() == noted.tolist()
        assert scale.beyond == scale.under + scale.over


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "i8", "f2"])
@pytest.mark.parametrize("shape", [(600, 700), (420_000,), (3, 140_001)])
@pytest.mark.parametrize("what", ["normal", "heavy", "uniform", "offset", "sparse", "positive"])
def test_large_arrays(kind, shape, what):
    rng = np.random.default_rng(1)
    x = {
        "normal": lambda: rng.standard_normal(shape),
        "heavy": lambda: rng.standard_t(1.2, shape),
        "uniform": lambda: rng.random(shape),
        "offset": lambda: rng.random(shape) + 1000,
        "sparse": lambda: np.where(rng.random(shape) < 0.9, 0, rng.standard_normal(shape)),
        "positive": lambda: np.exp(rng.standard_normal(shape) * 2),
    }[what]()
    if kind[0] == "i":
        x = x * 100
    x = np.clip(x, -6e4, 6e4).astype(kind)
    found = measure(x, choose_block(shape, 40_000, tuple(range(len(shape)))[-2:]))
    wide = x.astype(np.float64).reshape(-1)
    stats = found.stats
    assert (stats.min, stats.max, stats.zeros) == (x.min(), x.max(), (x == 0).sum())
    np.testing.assert_allclose(stats.mean, wide.mean(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(stats.std, wide.std(ddof=1), rtol=1e-9)
    median = np.sort(wide)[(wide.size - 1) // 2]
    np.testing.assert_allclose(stats.median, median, rtol=2**-24 if kind in ("f8", "i4", "i8") else 0)
    seen = np.stack([found.cells, found.cells if found.ends is None else found.ends])
    assert seen.min() == stats.min and seen.max() == stats.max
    scales, _ = scales_for(stats, found.spread)
    for scale in scales:
        below = [(wide < e).sum() for e in scale.edges[1:-1]]
        under, over = (wide < scale.lo).sum(), (wide > scale.hi).sum()
        assert scale.counts.tolist() == np.diff([under, *below, wide.size - over]).tolist()
        assert (scale.under, scale.over) == (under, over)
        if scale.curve == "linear":  # equal steps, but for a twentieth of one
            steps = np.linspace(scale.lo, scale.hi, 61)
            assert np.abs(scale.edges - steps).max() <= (steps[1] - steps[0]) / 20


def test_integers_beyond_the_doubles_are_exact(way):
    x = np.array([2**53 + 1, -(2**53) - 3, 5, 2**63 - 1])
    found = measure(x, (1,))
    assert found.stats.max == 2**63 - 1 and found.stats.min == -(2**53) - 3
    assert found.cells.tolist() == x.tolist()
    assert found.cells.dtype == np.int64


def test_an_expanded_array_is_measured_once_for_all(way):
    huge = np.broadcast_to(np.array([[1.0], [np.nan], [3.0]], np.float32), (3, 10**12))
    found = measure(huge, (1, 10**11))
    assert found.stats.count == 3 * 10**12 and found.stats.nan == 10**12
    assert found.stats.mean == 2 and found.stats.zeros == 0
    assert found.cells.shape == (3, 10) and found.cells[2, 9] == 3 and np.isnan(found.cells[1]).all()
    assert found.bad.at.tolist() == list(range(10**12, 10**12 + 512))


@pytest.mark.parametrize("kind", ["f4", "f8", "i4"])
def test_values_beside_the_borders_of_bins_are_counted_on_their_side(kind):
    starts = (np.arange(0x3F80, 0x4500, 7, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)
    before = np.nextafter(starts.astype(np.float32), np.float32(0)).astype(np.float64)
    middles = (starts + before) / 2  # a double there is rounded to the start of a bin
    beside = [v for x in (starts, before, middles) for v in (x, np.nextafter(x, 0), np.nextafter(x, 1e9))]
    x = np.concatenate([*beside, *[-v for v in beside], [0.0, -0.0]])
    if kind == "i4":
        x = x * 2**18
    x = x.astype(kind)
    spread = measured(x, "walked").spread
    spread.histograms = []
    wide = x.astype(np.float64)
    asked = np.concatenate([starts, -starts, middles, [0.0]]) * (2**18 if kind == "i4" else 1)
    counts, noted = spread.below(asked)
    assert counts.tolist() == [(wide < e).sum() for e in noted]
    assert np.abs(noted - asked).max() <= np.abs(asked).max() * 2**-7
    for q in (0.5, 0.9, 0.99):
        hi = spread.size(q)
        assert spread.beyond(-hi, hi) == ((wide < -hi).sum(), (wide > hi).sum())
