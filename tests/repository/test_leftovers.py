"""The check that a test leaves nothing to the next: it reports each mode, and puts it right."""

import os

import pytest

import vistorch
from tests import leftovers
from vistorch.engine.base.events import Listener

torch = pytest.importorskip("torch")
CHANGES = {
    "default dtype": lambda L: L.set_default_dtype(L.float64),
    "grad mode": lambda L: L.set_grad_enabled(False),
    "anomaly mode": lambda L: L.autograd.set_detect_anomaly(True),
    "deterministic mode": lambda L: L.set_deterministic_debug_mode("warn"),
    "warn always": lambda L: L.set_warn_always(True),
    "number of threads": lambda L: L.set_num_threads(L.get_num_threads() + 1),
    "autocast": lambda L: L.set_autocast_enabled("cpu", True),
    "autocast dtype": lambda L: L.set_autocast_dtype("cpu", L.float16),
    "print options": lambda L: L.set_printoptions(precision=2),
    "default device": lambda L: L.set_default_device("meta"),
}


@pytest.mark.parametrize("library", [vistorch, torch], ids=["vistorch", "torch"])
@pytest.mark.parametrize("mode", list(CHANGES))
def test_a_mode_is_reported_and_put_right(mode, library):
    before = leftovers.Before()
    CHANGES[mode](library)
    (seen,) = before.left()
    assert seen.startswith(f"{library.__name__}'s {mode}: ")
    assert before.left() == []


def test_the_cpu_as_default_device_is_reported_too():
    before = leftovers.Before()
    torch.set_default_device("cpu")
    assert before.left() == ["torch's default device: cpu, where it was None"]
    assert before.left() == []


def test_a_function_mode_is_reported():
    before = leftovers.Before()
    with torch.overrides.BaseTorchFunctionMode():
        assert before.left() == ["torch's function modes: 1, where it was 0"]
    assert before.left() == []


def test_every_mode_that_can_be_put_right_is_tried():
    rows = leftovers.MODES + leftovers.OURS + leftovers.THEIRS
    assert {name for name, _, mend in rows if mend is not None} - {"simulated devices"} == set(CHANGES)


def test_devices_are_reported():
    before = leftovers.Before()
    vistorch.cuda.simulate(3)
    assert before.left() == ["vistorch's simulated devices: 3, where it was 0"]
    assert before.left() == []


def test_a_new_listener_is_found_and_one_that_stopped_is_not():
    with Listener():
        before = leftovers.Before()
    one = Listener().__enter__()
    assert before.left() == [f"a listener: {one!r}"]
    assert before.left() == []


def test_a_variable_and_the_working_folder_are_reported(tmp_path):
    before, folder = leftovers.Before(), os.getcwd()
    os.environ["VISTORCH_LEFT_BEHIND"] = "1"
    os.chdir(tmp_path)
    assert before.left() == [
        f"the working folder: {tmp_path}, where it was {folder}",
        "the variable VISTORCH_LEFT_BEHIND: '1', where it was None",
    ]
    assert before.left() == [] and os.getcwd() == folder


def test_a_folder_of_models_that_an_example_gave_back_is_no_longer_chosen(monkeypatch):
    before, folder = leftovers.Before(), vistorch.hub.get_dir()
    vistorch.hub.set_dir("models")
    vistorch.hub.set_dir(folder)
    assert before.left() == []
    monkeypatch.setenv("TORCH_HOME", "elsewhere")
    assert vistorch.hub.get_dir() == os.path.join("elsewhere", "hub")


def test_a_divergence_that_an_example_entered_is_taken_out():
    D = vistorch.distributions
    mine = type("Mine", (D.Normal,), {})
    before = leftovers.Before()
    D.register_kl(mine, D.Normal)(lambda p, q: "by my own formula")
    assert before.left() == [] and (mine, D.Normal) not in D.kl._KL_REGISTRY
