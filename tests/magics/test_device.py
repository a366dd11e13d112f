"""`%vt device` and `%vt torch`: they show, they change, and they refuse before anything changed."""

import sys

import pytest

import vistorch
from vistorch import vt


def test_it_shows_the_device(shell):
    said = str(vt.device())
    assert said.startswith("devices: cpu (default)")
    if not vistorch.cuda.is_available():
        assert vistorch.cuda.diagnose().reason in said


def test_simulated_devices_say_so_and_become_the_default(type_in):
    assert type_in("%vt device simulate 2").out == (
        "devices: cpu (default), cuda:0 (simulated), cuda:1 (simulated)\n"
    )
    assert type_in("%vt device cuda:1").out == (
        "devices: cpu, cuda:0 (simulated), cuda:1 (simulated, default)\n"
    )
    assert str(vistorch.ones(1).device) == "cuda:1"
    type_in("%vt device cpu")
    assert str(vistorch.ones(1).device) == "cpu"


@pytest.mark.parametrize("where", ["cuda:3", "cuda"])
def test_a_default_that_goes_away_becomes_the_cpu(shell, where):
    vt.device("simulate", 4)
    vt.device(where)
    vt.device("simulate", 2)
    vt.device("simulate", 0)
    assert str(vistorch.ones(1).device) == "cpu"


def test_a_device_that_is_not_there_changes_nothing(shell):
    vt.device("simulate", 2)
    vt.device("cuda:1")
    for where in ("cuda:2", "gpu", "mps", "cuda:-1", 7, 1.5):
        with pytest.raises(vt.Refusal):
            vt.device(where)
    assert str(vistorch.get_default_device()) == "cuda:1"


def test_a_device_object_and_an_index_are_taken(shell):
    vt.device("simulate", 2)
    vt.device(vistorch.device("cuda", 1))
    assert str(vistorch.get_default_device()) == "cuda:1"
    vt.device(0)
    assert str(vistorch.get_default_device()) == "cuda:0"


def test_torch_on_and_off(type_in):
    theirs = sys.modules.get("torch")
    assert type_in("%vt torch on --force").out.startswith("import torch gives vistorch; ")
    assert type_in("import torch\ntorch.__spec__.name").out.strip().endswith("'vistorch'")
    assert type_in("%vt torch").out == "import torch gives vistorch\n"
    assert type_in("%vt torch off").out == "import torch gives PyTorch, where it is installed\n"
    assert sys.modules.get("torch") is theirs


def test_torch_on_where_pytorch_is_imported_says_what_to_do(shell, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", sys.modules["json"])
    said = sentence("%vt torch on")
    assert said.startswith("PyTorch itself is already imported in this process: restart the kernel and type")
    assert said.endswith("or `%vt torch on --force`")


def test_torch_takes_python_s_switches(shell):
    assert vt.torch(True, force=True).startswith("import torch gives vistorch")
    assert vt.torch(False) == "import torch gives PyTorch, where it is installed"
    with pytest.raises(vt.Refusal, match="takes on or off, not 'of'; did you mean off"):
        vt.torch("of")
