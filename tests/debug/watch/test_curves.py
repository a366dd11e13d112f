import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vistorch.debug.watch.curves import Curve
from vistorch.debug.watch.metrics import Metrics


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300),
    st.integers(1, 50),
    st.sampled_from([2, 8, 16]),
)
def test_columns_are_what_numpy_says_of_their_steps(values, chunk, columns):
    curve, steps = Curve(columns=columns), np.arange(len(values))
    for i in range(0, len(values), chunk):
        curve.add(steps[i : i + chunk], values[i : i + chunk])
    assert curve.used * curve.width >= len(values) > (curve.used - 1) * curve.width
    for c in range(curve.used):
        own = np.array(values[c * curve.width : (c + 1) * curve.width])
        assert curve.low[c, 0] == own.min() and curve.high[c, 0] == own.max()
        assert curve.count[c, 0] == len(own)
        assert curve.total[c, 0] == pytest.approx(own.sum(), rel=1e-9, abs=1e-6)
    assert curve.high.max() == max(values) and curve.low.min() == min(values)


def test_a_peak_outlives_a_million_steps_in_the_same_memory():
    curve = Curve(columns=64)
    held = curve.nbytes
    values = np.ones(1_000_000)
    values[123_456] = 77.0
    for i in range(0, len(values), 10_000):
        curve.add(np.arange(i, i + 10_000), values[i : i + 10_000])
    assert curve.nbytes == held and curve.used <= 64
    assert curve.high[123_456 // curve.width, 0] == 77 and (curve.high[: curve.used, 0] == 77).sum() == 1


def test_what_is_not_finite_is_counted_apart():
    curve = Curve(columns=4)
    curve.add([0, 1, 2], [np.nan, 2.0, np.inf])
    assert curve.bad[:3, 0].tolist() == [1, 0, 1] and curve.mean()[1, 0] == 2
    sent = curve.wire()
    assert np.isnan(sent["high"][0, [0, 2]]).all() and sent["bad"].tolist() == [[1, 0, 1]]


def test_rows_and_gaps():
    curve = Curve(rows=2, columns=8)
    curve.add([1, 5], [[1.0, 10.0], [2.0, 20.0]])
    sent = curve.wire(since=3)
    assert sent["from"] == 3 and sent["mean"].shape == (2, 3)
    assert sent["mean"][:, 2].tolist() == [2, 20] and np.isnan(sent["mean"][:, :2]).all()


def test_a_copy_is_restored_and_what_came_after_is_cut():
    curve = Curve(columns=8)
    curve.add(np.arange(5), np.arange(5.0))
    kept = curve.copy()
    curve.add(np.arange(5, 30), np.arange(5.0, 30))
    again = kept.restored()
    assert again.width == 1 and again.high[:5, 0].tolist() == [0, 1, 2, 3, 4]
    again.add([5], [9.0])
    assert kept.used == 5 and again.high[5, 0] == 9
    lost = curve.after(11)
    assert curve.width == 4 and lost.count[:3].sum() == 0 and lost.high.max() == 29


def test_a_million_steps_of_losses_rates_and_norms_stay_small():
    metrics = Metrics()
    rng = np.random.default_rng(0)
    losses = rng.random(1_000_000) + 1
    losses[[7, 654_321]] = 99.0, -5.0
    losses[500_000] = np.nan
    sizes = []
    for i in range(0, len(losses), 1000):
        steps = np.arange(i + 1, i + 1001)
        metrics.add_losses(steps, losses[i : i + 1000].tolist())
        metrics.add_rates([(i + 1, [1.0 / (1 + i // 100_000)])], i + 1000)
        metrics.add_norms([i + 500], [[1.0, 1e9 if i == 123_000 else 2.0]])
        sizes.append(metrics.loss.nbytes + metrics.lr.nbytes + metrics.flow.nbytes)
    assert sizes[0] == sizes[-1] < 250_000 and metrics.nbytes < 250_000
    loss, lr, flow = metrics.loss.wire(), metrics.lr.wire(), metrics.flow.wire()
    assert loss["mean"].shape[1] <= 2048 and loss["width"] == 512 and len(metrics.recent) == 20
    assert np.flatnonzero(loss["high"][0] == 99).tolist() == [8 // 512]
    assert np.flatnonzero(loss["low"][0] == -5).tolist() == [654_322 // 512] and loss["bad"].sum() == 1
    assert metrics.loss.count.sum() == 999_999 and metrics.lr.count.sum() == 1_000_000
    assert lr["high"].max() == 1.0 and lr["low"][0, -1] == np.float32(0.1)
    assert flow["high"].max() == 1e9 and np.argmax(flow["high"][1]) == 123_500 // flow["width"]
