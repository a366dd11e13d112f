"""The GPU benchmark runs (over a stand-in, so its figures mean nothing), and says why it does not."""

import sys
import time

import pytest

from benchmarks import first_call, gpu
from vistorch import cuda


def test_it_runs(strict_gpu, capsys, monkeypatch):
    monkeypatch.setattr(gpu, "other", lambda: (gpu.vistorch, "cpu", lambda: None))
    assert gpu.main(calls=1, rounds=1, rows=["add"]) == 0
    first, *rows = capsys.readouterr().out.splitlines()
    assert first.startswith("Stand-in GPU 0: vistorch there, ")
    assert [row.split()[0] for row in rows] == ["add"]


def test_a_row_that_fails_says_why_and_the_others_run(strict_gpu, capsys, monkeypatch):
    def broken(lib, make):
        raise RuntimeError("no such kernel\nand more")

    monkeypatch.setattr(gpu, "ROWS", {"broken": broken, "add": gpu.add})
    monkeypatch.setattr(gpu, "CAPTURED", {})
    monkeypatch.setattr(gpu, "CORE", ())
    assert gpu.main(calls=1, rounds=1) == 1
    _, failed, ran = capsys.readouterr().out.splitlines()
    assert failed.split(None, 1) == ["broken", "failed: RuntimeError: no such kernel"]
    assert ran.startswith("add")


@pytest.mark.parametrize("name", gpu.ROWS)
def test_every_row_can_be_called(name):
    import vistorch

    def small(*shape):
        return vistorch.ones(*[n if n < 100 and len(shape) > 2 else min(n, 8) for n in shape])

    if name in ("resnet18_256", "lenet_1024", "max_pool", "convolution"):
        shapes = {"resnet18_256": 2, "lenet_1024": 2, "max_pool": 1, "convolution": 1}
        gpu.ROWS[name](vistorch, lambda *s: vistorch.ones(*s)[: shapes[name]] if len(s) == 4 else small(*s))
        return
    gpu.ROWS[name](vistorch, small)()


def test_captured_rows_are_replayed(monkeypatch):
    """Where nothing is captured the step runs as it is written: what a row calls is the same step."""
    import vistorch

    cuda.simulate(1)
    small = {"lenet_4_captured": (gpu._images(2, gpu.models.lenet, True), "lenet_4")}
    monkeypatch.setattr(gpu, "CAPTURED", small)
    monkeypatch.setattr(gpu, "other", lambda: (vistorch, "cpu", lambda: None))
    monkeypatch.setitem(gpu.ROWS, "lenet_4", gpu._images(2, gpu.models.lenet))
    said = gpu.measure("lenet_4_captured", 1, 1, 0.1)
    assert said.startswith("lenet_4_captured") and "eager" in said and "ratio" in said


def test_rows_against_one_core_and_the_copy_rate(monkeypatch):
    import vistorch

    cuda.simulate(1)
    small = {"product": lambda lib, make: lambda: make(8, 8) @ make(8, 8), "add": gpu.add}
    monkeypatch.setattr(gpu, "ROWS", {**small, "convolution": gpu.add})
    monkeypatch.setattr(gpu, "MOVED", {"add": 12_000})
    monkeypatch.setattr(gpu, "other", lambda: (vistorch, "cpu", lambda: None))
    assert gpu.measure("convolution_core", 1, 1, 0.1).endswith("times")
    assert gpu.measure("add", 1, 1, 0.1, rate=1e9).endswith("of the copy rate")


def test_every_ratio_of_the_plan_has_a_row():
    names = {*gpu.ROWS, *gpu.CAPTURED, *gpu.CORE}
    for wanted in "lenet_4 lenet_1024 resnet18_256 gpt_64".split():
        assert {wanted, f"{wanted}_captured"} <= names
    assert {
        "product",
        "product_tf32",
        "product_bfloat16",
        "chain",
        "adam",
        "product_core",
        "convolution_core",
    } <= names
    assert set(gpu.MOVED) <= names


def test_simulated_devices_claim_no_speed(capsys):
    cuda.simulate(1)
    assert gpu.main() == 1
    assert capsys.readouterr().out.startswith("not run: 1 simulated")


def test_the_first_call_goes_on_when_a_step_fails(tmp_path, capsys):
    steps = (
        first_call.Step("bad", 20, ("-c", "raise SystemExit('gone')")),
        first_call.Step("slow", 1, ("-c", "import time; time.sleep(30)")),
        first_call.Step("good", 20, ("-c", "print('well')")),
    )
    assert first_call.main(str(tmp_path), steps) == 1
    bad, slow, good = (tmp_path / "summary.txt").read_text().splitlines()
    assert bad.startswith("bad") and "status 1" in bad and "gone" in bad
    assert "stopped after 1 s" in slow
    assert "status 0" in good and good.endswith("well")
    assert first_call.main(str(tmp_path), steps[2:]) == 0


def test_what_a_step_started_ends_with_it(tmp_path):
    left = tmp_path / "left"
    child = f"import time, pathlib; time.sleep(3); pathlib.Path({str(left)!r}).touch()"
    code = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep({{}})"
    )
    for seconds in (0, 30):
        step = first_call.Step("starts", 1, ("-c", code.format(seconds)))
        first_call.run(step, tmp_path)
    time.sleep(3.5)
    assert not left.exists()


def test_the_first_call_ends_in_time():
    assert sum(step.limit for step in first_call.STEPS) < 600
    assert sys.executable
