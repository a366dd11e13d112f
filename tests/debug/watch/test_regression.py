"""What is said of predictions and targets, against numpy's own sums and R² as it is defined."""

import sys

import numpy as np
import pytest

import vistorch
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import load, watch
from vistorch.debug.watch.loss_inputs import values_of
from vistorch.debug.watch.regression import BINS, CAP, OUTPUTS, WINDOW, Values, reads, trim
from vistorch.debug.watch.transfer import Transfer
from vistorch.debug.watch.words import table_text
from vistorch.engine.memory.placement import CPU
from vistorch.utils.data import DataLoader, TensorDataset

F = nn.functional


def taken(p, t, step=1, name="mse_loss", values=None, indices=None, form=""):
    sight = values_of(name, np.asarray(p, np.float32), np.asarray(t, np.float32), CPU)
    sight.step, sight.indices, sight.form = step, indices, form
    trim(sight)
    values = Values() if values is None else values
    values.add(reads([sight], Transfer()))
    return values


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_their_definitions(seed):
    rng = np.random.default_rng(seed)
    t = rng.normal(3, 2, (50, 3)) * [1, 100, 1e-3]
    p = t + rng.normal(0, 1, (50, 3)) * [1, 10, 1e-2]
    t, p = t.astype(np.float32).astype(float), p.astype(np.float32).astype(float)
    found = taken(p, t).wire()
    for k, one in enumerate(found["scores"]):
        off = p[:, k] - t[:, k]
        assert one["r2"] == pytest.approx(1 - (off**2).sum() / ((t[:, k] - t[:, k].mean()) ** 2).sum())
        assert one["mae"] == pytest.approx(abs(off).mean()) and one["bias"] == pytest.approx(off.mean())
        assert one["rmse"] == pytest.approx(np.sqrt((off**2).mean()))
        # no constant does better: not one of many, by its own measure
        for c in np.quantile(t[:, k], np.linspace(0, 1, 41)):
            assert one["constant_mae"] <= abs(t[:, k] - c).mean() + 1e-9
            assert one["constant_rmse"] <= np.sqrt(((t[:, k] - c) ** 2).mean()) + 1e-9
    assert found["r2"] == pytest.approx(np.mean([one["r2"] for one in found["scores"]]))


def test_the_histogram_counts_every_residual():
    rng = np.random.default_rng(0)
    t = rng.normal(0, 1, (400, 1))
    off = rng.normal(0, 0.1, (400, 1))
    off[7] = 90.0
    found = taken(t + off, t).wire()
    assert found["bins"].shape == (1, BINS) and found["bins"].sum() == 400 and found["beyond"] == [1]
    low, high = found["span"][0]
    inner = np.histogram(off[abs(off) < high], BINS, (low, high))[0]
    assert (
        abs(found["bins"][0, :-1].astype(int) - inner[:-1]).max() <= 1
    )  # residuals are rounded to single precision


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("side", ["prediction", "target"])
def test_what_is_not_finite_is_no_prediction(bad, side):
    t = np.arange(10.0)[:, None]
    p = t + 0.5
    (p if side == "prediction" else t)[[2, 5]] = bad
    found = taken(p, t).wire()
    assert found["n"] == 8 and found["bad"] == 2
    assert found["scores"][0]["mae"] == pytest.approx(0.5) and np.isfinite(found["predicted"]).all()
    assert [one["error"] for one in found["worst"]] == pytest.approx([0.5] * 8)


def test_nothing_finite():
    found = taken(np.full((4, 2), np.nan), np.ones((4, 2))).wire()
    assert found["n"] == 0 and found["bad"] == 4 and found["scores"] == [] and found["r2"] is None
    assert found["worst"] == [] and found["bins"].sum() == 0


@pytest.mark.parametrize("size", [0.0, 1e-44, 1e38])
def test_residuals_of_any_size_are_counted(size):
    found = taken(np.full((6, 1), size), np.zeros((6, 1))).wire()
    assert found["bins"].sum() == 6 and np.isfinite(found["span"]).all()


def test_numbers_too_large_to_square():
    t = np.linspace(0, 1, 8)[:, None]
    found = taken(np.full((8, 1), 3e38), t).wire()
    assert found["scores"][0]["mae"] == pytest.approx(3e38, rel=1e-6)
    assert found["scores"][0]["r2"] < -1e70


def test_targets_that_are_all_the_same_have_no_r2():
    values = taken([[1.0, 2.0], [1.5, 2.5]], [[1.0, 0.0], [1.0, 1.0]])
    first, second = values.scores()
    assert first["r2"] is None and second["r2"] is not None and values.r2 is None and values.varied


def test_the_window_is_the_newest():
    values = Values()
    for step in range(1, 40):
        taken(np.full((50, 1), step), np.zeros((50, 1)), step, values=values)
    assert len(values.rows) == WINDOW
    assert values.rows[:, 0].tolist() == np.repeat(np.arange(1, 40), 50)[-WINDOW:].tolist()


def test_the_worst_samples_are_of_the_window():
    values = Values()
    for step in range(1, 40):  # the error falls: the first samples were the worst, and are long past
        taken(np.full((50, 64), 40.0 - step), np.zeros((50, 64)), step, values=values)
    assert {one["step"] for one in values.worst()} == {int(values.rows[0, 0])} != {1}


def test_the_worst_samples_come_first_with_their_place_in_the_dataset():
    t = np.zeros((20, 2))
    p = np.zeros((20, 2))
    p[[3, 11, 17]] = [[1, 1], [-5, 0], [2, 2]]
    found = taken(p, t, indices=list(range(100, 120))).worst()
    assert [one["index"] for one in found[:3]] == [111, 117, 103]
    assert found[0] == {"step": 1, "index": 111, "error": 2.5, "predicted": [-5.0, 0.0], "target": [0.0, 0.0]}


def test_a_sample_of_the_dataset_is_found_by_its_number():
    x = vistorch.linspace(0, 1, 24).reshape(-1, 1)
    y = 2 * x
    y[13] = 50.0
    net = nn.Linear(1, 1)
    opt = optim.SGD(net.parameters(), lr=0.001)
    with always(watch(net, opt)) as run:
        for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
            opt.zero_grad()
            F.mse_loss(net(a), b).backward()
            opt.step()
    assert run.state()["task"]["values"]["window"]["worst"][0]["index"] == 13


@pytest.mark.parametrize(
    ("shape", "outputs", "pooled"),
    [
        ((6,), 1, 0),
        ((6, 5), 5, 0),
        ((6, OUTPUTS + 1), 1, OUTPUTS + 1),
        ((6, 4, 3), 3, 0),
        ((6, 3, 8, 8), 3, 0),
        ((6, 64, 4, 4), 1, 64),
    ],
)
def test_outputs_by_shape(shape, outputs, pooled):
    rng = np.random.default_rng(0)
    t = rng.normal(size=shape)
    p = t + rng.normal(size=shape)
    found = taken(p, t).wire()
    assert len(found["scores"]) == outputs and found["pooled"] == pooled and found["shape"] == list(shape)
    p, t = p.astype(np.float32), t.astype(np.float32)
    if len(shape) == 4 and not pooled:
        p, t = np.moveaxis(p, 1, -1), np.moveaxis(t, 1, -1)
    p, t = p.reshape(-1, outputs), t.reshape(-1, outputs)
    assert found["n"] == min(len(p), WINDOW)
    if len(p) <= WINDOW:
        assert [one["mae"] for one in found["scores"]] == pytest.approx(abs(p - t).mean(0).tolist(), rel=1e-5)


def test_a_large_batch_is_cut_before_it_is_copied():
    p, t = np.zeros((5000, 3, 32, 32), np.float32), np.ones((5000, 3, 32, 32), np.float32)
    sight = values_of("mse_loss", p, t, CPU)
    trim(sight)
    assert sight.scores.size <= 2 * CAP and sight.scores.base is None
    values = Values()
    sight.step = 1
    values.add(reads([sight], Transfer()))
    assert values.given == 5000 and values.scores()[0]["mae"] == 1


def test_a_target_that_was_worked_out_counts_only_where_it_is_known():
    """A difference by hand keeps the difference: beside a far larger prediction nothing is left of the target."""
    t = np.float32([[0.1], [0.2], [0.3], [0.4]])
    p = np.float32([[0.1], [1e8], [0.3], [0.2]])
    recovered = p - (p - t)
    assert recovered[1] != t[1]
    found = taken(p, recovered, name="squared difference").wire()
    assert found["n"] == 3 and found["bad"] == 1
    np.testing.assert_allclose(found["target"][0], t[[0, 2, 3], 0], atol=1e-7)


def test_another_form_begins_anew():
    values = taken(np.zeros((4, 2)), np.ones((4, 2)))
    taken(np.zeros((5, 3)), np.ones((5, 3)), values=values)
    assert values.outputs == 3 and values.wire()["n"] == 5


def plain_run():
    net = nn.Linear(1, 1)
    with watch(net) as run:
        opt = optim.SGD(net.parameters(), lr=0.1)
        F.mse_loss(net(vistorch.ones(3, 1)), vistorch.tensor([[1.0], [2.0], [3.0]])).backward()
        opt.step()
    return run


def trained():
    vistorch.manual_seed(0)
    x = vistorch.linspace(-3, 3, 40).reshape(-1, 1)
    y = vistorch.cat([vistorch.sin(x), 2 * x], 1)
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2))
    opt = optim.SGD(net.parameters(), lr=0.01)
    with watch(net, opt, ["sine", "double"], title="waves") as run:
        for i in range(60):
            opt.zero_grad()
            F.mse_loss(net(x), y).backward()
            opt.step()
            if i % 20 == 19:
                with vistorch.no_grad():
                    net.eval()
                    F.mse_loss(net(x), y)
                    net.train()
    return run


def test_the_text_says_how_good_it_is_and_is_stable():
    a, b = trained(), trained()
    assert a.text() == b.text()
    lines = a.text().splitlines()
    assert any(line.startswith("R² ") and "mean of 2 outputs; worst" in line for line in lines)
    one = table_text(plain_run())
    assert "R² " in one and "(best constant " in one and "outputs" not in one
    assert any(line.startswith("validation R² ") for line in lines)
    assert [line.split()[0] for line in lines[-2:]] == ["sine", "double"] and "accuracy" not in a.text()


def test_it_is_kept_in_a_file_and_in_a_table(tmp_path, monkeypatch):
    run = trained()
    run.save(tmp_path / "run.zip")
    old = load(tmp_path / "run.zip")
    assert old.text() == run.text()
    task, kept = run.state()["task"], old.wire()["task"]
    assert kept["values"]["window"]["scores"] == task["values"]["window"]["scores"]
    assert np.array_equal(
        kept["values"]["validation"]["predicted"], task["values"]["validation"]["predicted"]
    )

    class Frame(dict):
        def __len__(self):
            return len(self["step"])

    class Series(np.ndarray):
        def to_numpy(self):
            return np.asarray(self)

    monkeypatch.setitem(sys.modules, "pandas", type(sys)("pandas"))
    sys.modules["pandas"].DataFrame = lambda columns: Frame({k: v.view(Series) for k, v in columns.items()})
    frame = run.to_dataframe()
    known = np.flatnonzero(~np.isnan(frame["validation_r2"]))
    assert frame["step"][known].tolist() == [20, 40, 60]
    assert frame["validation_r2"][known].tolist() == [check["r2"] for check in run.state()["validation"]]
    assert [axes.get_xlabel() for axes in run.figure().axes] == ["step", "target"]


def test_nothing_is_kept_of_a_graph():
    import gc
    import weakref

    net = nn.Linear(3, 2)
    x, y = vistorch.randn(4, 3), vistorch.randn(4, 2)
    with watch(net) as run:
        out = net(x)
        node = weakref.ref(out.grad_fn)
        F.l1_loss(out, y)
        del out
        gc.collect()
        assert node() is None
    assert run.says == []
