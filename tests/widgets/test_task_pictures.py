"""Drawings of a regression and of a language model: the same bytes each time, and they show what was counted."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.debug.watch import test_language, test_regression
from vistorch.debug.watch import WatchRecord
from vistorch.widgets._frame.display import Display
from vistorch.widgets.watch.tasks import POINTS


def drawn(record, theme="light"):
    data = Display(record).picture(theme)[1]
    ElementTree.fromstring(data)  # well formed
    return data.decode()


def points_of(text):
    return re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="2" ', text)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("make", [test_regression.trained, test_language.trained])
def test_the_same_training_gives_the_same_bytes(make, theme):
    assert drawn(make().record(), theme) == drawn(make().record(), theme)


def test_points_stand_where_prediction_and_target_are():
    run = test_regression.trained()
    text = drawn(run.record())
    w = run.state()["task"]["values"]["validation"]
    worst = min((one["r2"], k) for k, one in enumerate(w["scores"]))[1]
    x, y = w["target"][worst], w["predicted"][worst]
    found = np.array(points_of(text), float)
    assert len(found) == len(x) <= POINTS
    # one scale for both sides: a straight line through all of them
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    across, up = np.ptp(found[:, 0]) / np.ptp(x), np.ptp(found[:, 1]) / np.ptp(y)
    np.testing.assert_allclose(found[:, 0], found[0, 0] + across * (x - x[0]), atol=0.02)
    np.testing.assert_allclose(found[:, 1], found[0, 1] - up * (y - y[0]), atol=0.02)
    assert up * (high - low) == pytest.approx(152, abs=0.1)
    assert "best constant" in text and "R²" in text and "accuracy" not in text


def test_bars_are_as_tall_as_losses():
    run = test_language.trained()
    text = drawn(run.record())
    w = run.state()["task"]["tokens"]["validation"]
    bars = [float(h) for h in re.findall(r'height="([\d.]+)" fill="#14705f"/>', text)]
    most = 1.1 * max(math.log(w["vocabulary"]), float(w["position"].max()))
    assert bars == pytest.approx([152 * float(v) / most for v in w["position"]], abs=0.02)
    assert "at random" in text and "hardest tokens" in text


def test_nothing_finite_and_markup_break_nothing():
    values = test_regression.taken(np.full((4, 2), np.nan), np.ones((4, 2)))
    state = test_regression.trained().state()
    task = {**state["task"], "values": {"window": values.wire(), "validation": None}}
    assert "nothing finite to show" in drawn(WatchRecord({**state, "task": task}, ""))
    kept = {**state["task"]["values"]["window"], "outputs": ["<img src=x>", "b & c"]}
    text = drawn(WatchRecord({**state, "task": {**task, "values": {"window": kept, "validation": None}}}, ""))
    assert "<img" not in text and "&lt;img" in text


def test_a_file_of_an_earlier_version_has_no_task():
    state = test_regression.trained().state()
    del state["task"]
    assert "loss by step" in drawn(WatchRecord(state, ""))
