"""The record: what travels, in whole and in parts; files, frames, figures, terminals."""

import io
import json
import sys
import zipfile

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, conv_net, pictures, small_training
from tests.debug.watch.test_measures import always
from vistorch import optim
from vistorch.debug.watch import Line, WatchRecord, load, watch
from vistorch.utils.data import DataLoader, TensorDataset
from vistorch.widgets._frame.wire import pack


def trained(**options):
    net, (x, y) = conv_net(), pictures(24)
    opt = optim.SGD(net.parameters(), lr=0.05)
    loader = DataLoader(TensorDataset(x, y), batch_size=8)
    run = always(watch(net, opt, classes=["left", "right", "none"], **options))
    with run:
        for _ in range(3):
            for a, b in loader:
                opt.zero_grad()
                F.cross_entropy(net(a), b).backward()
                opt.step()
            with vistorch.no_grad():
                F.cross_entropy(net(x), y)
    assert run.says == []
    return run


def same(a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


def test_an_empty_run_has_every_section():
    record = watch(title="soon").record()
    assert record.kind == "watch" and record.text() == "soon\nWaiting"
    state = record.wire()
    assert state["head"]["loss"] is None and state["head"]["accuracy"] is None and state["classes"] == []
    assert pack("watch", state).startswith(b"VT1\0")


def test_the_record_travels_and_is_small():
    record = trained(title="squares").record()
    sent = pack("watch", record.wire())
    assert len(sent) < 160_000
    sections = "version title head classes several loss validation accuracy mistakes flow health filters log snapshots"
    sections += " task findings"
    assert sorted(record.wire()) == sorted([*sections.split(), "text"])
    assert json.dumps(record.wire()["head"])  # plain values only


def test_the_text_is_stable():
    a, b = trained(), trained()
    assert a.text() == b.text() and "validation accuracy" in a.text() and "right / seen" in a.text()


def test_a_delta_holds_what_changed():
    net, opt, loop = small_training()
    with always(watch(net, opt)) as run:
        loop(5)
        run.refresh()
        first = run.delta(0)
        assert first["since"] == 0 and sorted({*first} - {"since"}) == sorted(run.state())
        nothing = run.delta(first["version"])
        assert sorted(nothing) == ["head", "since", "version"]
        loop(3)
        run.refresh()
        some = run.delta(first["version"])
    curve = some["loss"]["curve"]
    assert curve["from"] == 5 and curve["mean"].shape == (1, 4) and "validation" not in some
    whole = first["loss"]["curve"]["mean"][0].tolist()
    spliced = [*whole[: curve["from"]], *curve["mean"][0].tolist()]
    assert same(np.array(spliced, np.float32), run.state()["loss"]["curve"]["mean"][0])
    assert some["head"]["step"] == 8 and some["accuracy"]["window"]["seen"].sum() == 80


def test_a_delta_after_a_rewind_is_whole():
    net, opt, loop = small_training()
    with always(watch(net, opt)) as run:
        loop(3, lambda i: run.snapshot() if i == 1 else None)
        run.refresh()
        version = run.delta(0)["version"]
        run.rewind(2)
        loop(1)
        run.refresh()
        found = run.delta(version)
    assert found["loss"]["curve"]["from"] == 0 and found["head"]["step"] == 2
    assert found["mistakes"]["whole"] and len(found["log"]["items"]) == 2


def test_mistakes_come_once():
    net, (x, y) = conv_net(), pictures(24)
    opt = optim.SGD(net.parameters(), lr=0.0)
    with always(watch(net, opt)) as run:

        def step():
            F.cross_entropy(net(x), y).backward()
            opt.step()
            run.refresh()

        step()
        first = run.delta(0)
        step()
        second = run.delta(first["version"])
        third = run.delta(second["version"])
    assert first["mistakes"]["whole"] and not second["mistakes"]["whole"] and "mistakes" not in third
    numbers = [first["mistakes"]["after"], second["mistakes"]["after"]]
    assert len(second["mistakes"]["items"]) == numbers[1] - numbers[0] > 0
    assert {m["step"] for m in second["mistakes"]["items"]} == {2}


def test_mistakes_are_bounded():
    run = trained()
    cells = run.metrics.mistakes.cells
    assert all(len(cell) <= 8 for cell in cells.values())
    assert len(run.record().wire()["mistakes"]["items"]) <= 32 <= 8 * 9 * 2


# ---- files ---------------------------------------------------------------------------------------------------------
def test_a_file_gives_the_record_back(tmp_path):
    run = trained(title="squares")
    run.save(tmp_path / "run.zip")
    record = run.record()
    again = load(tmp_path / "run.zip")
    volatile = ("version", "head")
    assert isinstance(again, WatchRecord) and again.text() == record.text()
    for name, value in record.state.items():
        if name not in volatile:
            assert same(again.state[name], value), name


def test_a_file_that_is_no_record_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"nothing")
    with zipfile.ZipFile(tmp_path / "b", "w") as file:
        file.writestr("watch.json", '{"format": "other"}')
    with zipfile.ZipFile(tmp_path / "c", "w") as file:
        file.writestr("watch.json", '{"format": "vistorch watch 1", "state": {"x": {"npy": 0}}, "text": ""}')
    held = io.BytesIO()
    np.save(held, np.array([{}], object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "d", "w") as file:
        file.writestr("watch.json", '{"format": "vistorch watch 1", "state": {"x": {"npy": 0}}, "text": ""}')
        file.writestr("0.npy", held.getvalue())
    for name in "abcd":
        with pytest.raises(ValueError, match="is no saved watch record"):
            load(tmp_path / name)


# ---- frames and figures --------------------------------------------------------------------------------------------
def test_a_figure():
    figure = trained().figure()
    left, right = figure.axes
    assert left.lines[0].get_xdata().tolist() == list(range(1, 10)) and len(left.lines[1].get_xdata()) == 3
    assert len(right.patches) == 3 and left.get_ylabel() == "loss"
    assert watch().figure().axes


def test_a_frame_says_what_is_missing_or_is_the_curve(monkeypatch):
    class Frame(dict):
        def __init__(self, data):
            super().__init__({k: Column(v) for k, v in data.items()})

        def __len__(self):
            return len(next(iter(self.values())))

    class Column(np.ndarray):
        def __new__(cls, values):
            return np.asarray(values).view(cls)

        def to_numpy(self):
            return np.asarray(self)

    run = trained()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_dataframe needs pandas"):
        run.to_dataframe()
    monkeypatch.setitem(sys.modules, "pandas", type(sys)("pandas"))
    sys.modules["pandas"].DataFrame = Frame
    frame = run.to_dataframe()
    assert frame["step"].tolist() == list(range(1, 10)) and frame["lr"].tolist() == pytest.approx([0.05] * 9)
    assert (frame["loss_min"] == frame["loss"]).all()
    checks = run.state()["validation"]
    assert [frame["validation_loss"][i] for i in (2, 5, 8)] == [c["loss"] for c in checks]
    assert np.isnan(frame["validation_accuracy"][[0, 1, 3]]).all()


# ---- terminals -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bar", [True, False])
def test_a_line_and_a_table(monkeypatch, bar):
    if not bar:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    elif "tqdm" not in sys.modules:
        monkeypatch.setitem(sys.modules, "tqdm", _fake_tqdm())
    net, opt, loop = small_training()
    out = io.StringIO()
    with watch(net, opt, steps=10, notify=Line(out)) as run:
        loop(10)
    text = out.getvalue()
    assert "loss" in text and run.text() + "\n" in text and "right / seen" in text
    assert run.says == [] and "Finished after step 10 of 10" in text


def _fake_tqdm():
    class Bar:
        def __init__(self, total, file, **_):
            self.n, self.file = 0, file

        def set_postfix_str(self, text, refresh=True):
            self.file.write(f"\r{self.n} {text}")

        def close(self):
            self.file.write("\n")

    module = type(sys)("tqdm")
    module.tqdm = Bar
    return module


def test_a_class_nobody_saw_and_who_it_is_taken_for():
    net, opt, _ = small_training()
    with watch(net, opt, classes=["a", "b", "c", "d"]) as run:
        run.observe(np.eye(4)[[0, 1, 1, 1]], [0, 0, 0, 1])
    lines = run.text().splitlines()
    assert lines[-3].split() == ["class", "accuracy", "right", "/", "seen", "most", "often", "read", "as"]
    assert (
        lines[-2].split() == "a 33.3 % 1 / 3 b (2)".split() and lines[-1].split() == "b 100.0 % 1 / 1".split()
    )
