"""`device` against torch's: what it accepts, how it prints, what it refuses and in which words."""

import copy
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.reference import CPU_BUILD, NO_ACCELERATOR  # noqa: E402
from vistorch.engine.base import cuda_probe  # noqa: E402
from vistorch.engine.base import device as module  # noqa: E402
from vistorch.engine.base.device import default, device, get_default_device, set_default_device  # noqa: E402
from vistorch.engine.kernels import simulated  # noqa: E402
from vistorch.engine.memory import placement  # noqa: E402


@pytest.fixture(autouse=True)
def no_cuda(monkeypatch):
    """A machine without CUDA, and nothing left over from another test."""
    monkeypatch.setattr(simulated, "_count", 0)
    monkeypatch.setattr(
        cuda_probe, "_real", lambda again: cuda_probe.Finding(False, 0, "none", AssertionError)
    )
    monkeypatch.setattr(placement, "_pretended", {})
    placement._known.clear()
    yield
    placement._known.clear()
    default.base, default.stack[:] = None, []
    default.settle()


NUMBERS = ["device(0)", "device(1)", "device(np.int64(1))", "device(device=1)"]
CALLS = [
    *(NUMBERS if CPU_BUILD else ()),
    *(
        f"device({text!r})"
        for text in (
            "cpu cuda cuda:0 cuda:1 cuda:127 cpu:0 cpu:3 meta meta:0 mps mps:1 xla xpu:1 hip lazy "
            "privateuseone "
            "cuda:-1 cuda:01 cuda:00 cuda:1x cuda:x cuda: :1 xyz xyz:1 CUDA cuda:1:2 cuda_1 9cpu _cpu "
            "cuda:2147483648 cuda:12345678901234567890"
        ).split()
    ),
    *("device('')", "device(' cuda')", "device('cuda:1 ')", "device('a b')", "device('cuda\\n')"),
    *("device('cuda', 1)", "device('cuda', 0)", "device('cpu', 3)", "device('cuda', None)"),
    *("device(type='cuda', index=1)", "device(index=1, type='cuda')", "device('cuda', index=1)"),
    *("device(type='cuda')", "device(device='cuda:1')", "device(device=device('cpu'))"),
    *("device(device('cuda:1'))", "device(b'cuda:1')", "device(b'cuda', 1)", "device('cuda', np.int64(1))"),
    *(
        "device('cuda', -1)",
        "device(-1)",
        "device(type='cuda', index=-1)",
        "device('xyz', -1)",
        "device('xyz', 1)",
    ),
    *("device(2**70)", "device('cuda', 2**70)"),
    *(
        "device('cuda:0', 1)",
        "device('cuda:0', 0)",
        "device(type='cuda:1')",
        "device('', 1)",
        "device('cuda:x', 1)",
    ),
    *("device()", "device(None)", "device(True)", "device(1.5)", "device([1])", "device([])", "device(())"),
    *(
        "device(['cpu', 'x'])",
        "device(('cpu', 1))",
        "device({})",
        "device(device=None)",
        "device(device=True)",
    ),
    *(
        "device(foo=1)",
        "device(foo='cuda')",
        "device(index=1)",
        "device(type=1)",
        "device(type=device('cpu'))",
    ),
    *("device('cuda', '1')", "device('cuda', 1.0)", "device('cuda', True)", "device('cuda', [1])"),
    *("device(1, 1)", "device(1, index=1)", "device(None, 1)", "device(device('cuda:1'), 1)"),
    *("device('cuda', type='cuda')", "device(device('cpu'), type='cuda')", "device('cuda', foo=1)"),
    *("device('cuda', 1, 2)", "device('cuda', 1, index=1)", "device(device='cuda', index=1)"),
    *("device(device=1, type='cuda')", "device(device='cpu', foo=1)", "device('cuda:1', 'x')"),
]


def outcome(call, made):
    """What a call gives: the parts of a device, or the error's type and words."""
    try:
        found = eval(call, {"device": made, "np": np})
    except Exception as error:
        return type(error), re.sub(r"\btorch\.device", "vistorch.device", str(error))
    return repr(found), str(found), found.type, found.index, format(found)


@pytest.mark.parametrize("call", CALLS)
def test_constructor_as_torch(call):
    assert outcome(call, device) == outcome(call, torch.device)


@pytest.mark.parametrize("call", ["device('cuda:128')", "device('cuda', 300)", "device('cuda', 2**40)"])
def test_an_index_that_torch_wraps_is_refused(call):
    assert outcome(call, torch.device)[0] is not RuntimeError
    kind, words = outcome(call, device)
    assert kind is RuntimeError
    assert words.startswith("Device index must not be larger than 127, got ")


@pytest.mark.parametrize("call", NUMBERS)
def test_a_number_means_nothing_without_an_accelerator(call):
    assert outcome(call, device) == (RuntimeError, NO_ACCELERATOR)


def test_a_number_means_an_accelerator_where_there_is_one():
    placement.simulate(2)
    assert device(1) is device("cuda:1")
    assert device(np.int32(0)) is device("cuda", 0)


def test_equality_and_hash():
    names = ["cpu", "cpu:0", "cuda", "cuda:0", "cuda:1"]
    for a in names:
        for b in names:
            assert (device(a) == device(b)) == (torch.device(a) == torch.device(b))
    assert device("cuda:0") != "cuda:0"
    assert device("cuda") != torch.device("cuda")
    assert hash(device("cuda", 1)) == hash(device("cuda:1"))
    assert {device("cpu"): 1}[device(type="cpu")] == 1


def test_order_is_refused():
    with pytest.raises(TypeError):
        sorted([device("cuda:0"), device("cuda:1")])


@pytest.mark.parametrize("name", ["cpu", "cuda", "cuda:3", "meta:0"])
def test_copies_are_the_same_object(name):
    made = device(name)
    assert copy.copy(made) is made
    assert copy.deepcopy([made])[0] is made
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(made, protocol)) is made
    assert made.__reduce__()[1] == torch.device(name).__reduce__()[1]


def test_a_device_cannot_be_changed_or_inherited():
    for attempt in ("d.index = 3", "d.type = 'cpu'", "d.foo = 1", "class Sub(type(d)): pass"):
        words = []
        for made in (device("cuda:1"), torch.device("cuda:1")):
            with pytest.raises((AttributeError, TypeError)) as caught:
                exec(attempt, {"d": made})
            words.append((caught.type, str(caught.value).replace("'torch.", "'vistorch.")))
        assert words[0] == words[1]
    with pytest.raises(AttributeError):
        del device("cpu").type
    assert device("cuda:1").index == 1


def test_threads_that_make_the_same_device_get_the_same_object():
    module._made.pop(("cuda", 77), None)
    module._parsed.pop("cuda:77", None)
    found = []
    threads = [threading.Thread(target=lambda: found.append(device("cuda:77"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_default_device_by_with_nests_and_ends_on_an_error():
    assert repr(get_default_device()) == "device(type='cpu')"
    with device("meta") as outer:
        assert outer is device("meta")
        assert get_default_device() is outer
        with outer, device("cpu:0"):
            assert get_default_device() is device("cpu:0")
        assert get_default_device() is outer
        with pytest.raises(ZeroDivisionError), device("cuda:1"):
            raise ZeroDivisionError
        assert get_default_device() is outer
    assert get_default_device() is device("cpu")


@pytest.mark.parametrize("name", ["cuda:1", "meta", "cpu:0", None])
def test_set_default_device_as_torch(name):
    try:
        torch.set_default_device(name)
        set_default_device(name)
        assert repr(get_default_device()) == repr(torch.get_default_device())
        with device("cpu"):
            assert get_default_device() is device("cpu")
            set_default_device("meta")  # the block counts more
            assert get_default_device() is device("cpu")
        assert get_default_device() is device("meta")
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize("bad", ["xyz", 3.5, *([1] if CPU_BUILD else [])])
def test_set_default_device_refuses_what_torch_refuses(bad):
    set_default_device("meta")
    try:
        with pytest.raises(Exception) as theirs:
            torch.set_default_device(bad)
    finally:
        torch.set_default_device(None)
    with pytest.raises(theirs.type) as ours:
        set_default_device(bad)
    assert str(ours.value) == str(theirs.value).replace("torch.device", "vistorch.device")
    assert get_default_device() is device("meta")  # an error changes nothing


def test_set_default_device_refuses_a_number_without_an_accelerator():
    set_default_device("meta")
    with pytest.raises(RuntimeError, match=f"^{re.escape(NO_ACCELERATOR)}$"):
        set_default_device(1)
    assert get_default_device() is device("meta")


def test_default_cuda_without_an_index_follows_the_current_device():
    set_default_device("cuda")  # as in torch, no error before it is needed
    with pytest.raises(AssertionError, match="CUDA is not available"):
        get_default_device()
    placement.simulate(2)
    assert get_default_device() is device("cuda:0")
    cuda_probe.set_current_index(1)
    try:
        assert get_default_device() is device("cuda:1")
    finally:
        cuda_probe.set_current_index(0)


def test_default_device_belongs_to_its_thread():
    set_default_device("meta")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(get_default_device()))
    thread.start()
    thread.join()
    assert seen == [device("cpu")]


def test_importing_asks_no_driver():
    code = (
        "import sys, vistorch.engine.base.device, vistorch.engine.memory.placement, vistorch.cuda\n"
        "from vistorch.engine.base import cuda_probe as probe\n"
        "assert probe._kept is None and not [name for name in sys.modules if 'cupy' in name]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
