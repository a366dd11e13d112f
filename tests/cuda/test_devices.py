"""The device functions of vistorch.cuda, on simulated devices and on a stand-in for cupy."""

import os
import subprocess
import sys

import pytest

from vistorch import cuda
from vistorch.engine.base.device import device
from vistorch.engine.kernels import simulated


def test_simulated_devices_say_so_everywhere():
    cuda.simulate(4)
    assert cuda.is_available() is True
    assert cuda.device_count() == 4
    assert cuda.diagnose() == (True, 4, "4 simulated: numpy on the CPU, no speed claimed")
    assert cuda.get_device_name(2) == "Simulated CUDA device 2 (numpy on the CPU, no speed claimed)"
    assert "name='Simulated CUDA device 0 (numpy" in repr(cuda.get_device_properties())
    assert cuda.get_device_capability("cuda:1") == (0, 0)
    assert cuda.is_bf16_supported() is True
    assert cuda.can_device_access_peer(0, 1) is False
    assert cuda.synchronize() is None
    assert cuda.is_initialized() is False
    cuda.init()
    assert cuda.is_initialized() is True


def test_simulating_off_again(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    cuda.simulate(1)
    assert cuda.is_available()
    cuda.simulate(0)
    assert not cuda.is_available()
    assert cuda.is_bf16_supported() is False


@pytest.mark.parametrize("count", ["4", " 2 ", "0"])
def test_environment_in_a_new_process(count):
    code = "from vistorch import cuda; print(cuda.is_available(), cuda.device_count())"
    environment = {**os.environ, simulated.VARIABLE: count, "CUDA_VISIBLE_DEVICES": ""}
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert out.stdout.split() == [str(int(count) > 0), count.strip()], out.stderr


def test_the_environment_counts_until_a_call_says_otherwise(monkeypatch):
    monkeypatch.setenv(simulated.VARIABLE, "3")
    assert cuda.device_count() == 3
    cuda.simulate(1)
    assert cuda.device_count() == 1
    cuda.simulate(None)
    assert cuda.device_count() == 3


@pytest.mark.parametrize(
    ("bad", "kind"), [(-1, ValueError), (65, ValueError), (True, TypeError), ("2", TypeError)]
)
def test_a_bad_number_of_devices_changes_nothing(bad, kind):
    cuda.simulate(2)
    with pytest.raises(kind, match=r"simulate\(\) takes a number of devices"):
        cuda.simulate(bad)
    assert cuda.device_count() == 2


@pytest.mark.parametrize("pretended", [True, False])
def test_current_device(two_gpus, pretended):
    if pretended:
        cuda.simulate(2)
    assert cuda.current_device() == 0
    for name in (1, "cuda:1", device("cuda:1"), cuda.device(1)):
        cuda.set_device(0)
        cuda.set_device(name)
        assert cuda.current_device() == 1
    cuda.set_device(-1)  # nothing happens, as in PyTorch
    assert cuda.current_device() == 1
    with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal"):
        cuda.set_device(2)
    assert cuda.current_device() == 1
    assert two_gpus.cuda.runtime.device == (0 if pretended else 1)


@pytest.mark.parametrize("pretended", [True, False])
def test_device_context(install, pretended):
    install(3)
    if pretended:
        cuda.simulate(3)
    context = cuda.device("cuda:1")
    with context:
        assert cuda.current_device() == 1
        with cuda.device(2):
            assert cuda.current_device() == 2
            with context:  # the same one again
                assert cuda.current_device() == 1
            assert cuda.current_device() == 2
        with cuda.device(None), cuda.device(-1):
            assert cuda.current_device() == 1
        with cuda.device("cuda"):
            assert cuda.current_device() == 1
    assert cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="invalid device ordinal"), cuda.device(5):
        pass
    assert cuda.current_device() == 0


def test_device_of_a_tensor():
    class Thing:
        def __init__(self, name):
            self.device = device(name)

    cuda.simulate(2)
    with cuda.device_of(Thing("cuda:1")):
        assert cuda.current_device() == 1
        with cuda.device_of(Thing("cpu")):
            assert cuda.current_device() == 1
    assert cuda.current_device() == 0


def test_a_device_taken_away_is_not_current():
    cuda.simulate(3)
    cuda.set_device(2)
    cuda.simulate(1)
    assert cuda.current_device() == 0


@pytest.mark.parametrize(
    "use", [cuda.set_device, cuda.device, cuda.get_device_name, cuda.synchronize, cuda.mem_get_info]
)
def test_devices_that_are_not_cuda_are_refused_as_in_torch(use):
    cuda.simulate(1)
    with pytest.raises(ValueError, match=r"^Expected a cuda device, but got: cpu$"):
        use("cpu")
    with pytest.raises(RuntimeError, match=r"at start of device string: xyz"):
        use("xyz")


@pytest.mark.parametrize("bad", ["cuda", None, 1.5])
def test_set_device_needs_an_index(bad):
    cuda.simulate(1)
    with pytest.raises(
        ValueError, match=r"Expected a vistorch\.device with a specified index or an integer, but got:"
    ):
        cuda.set_device(bad)


def test_properties_of_a_real_device(two_gpus):
    assert cuda.get_device_name(1) == "Stand-in GPU 1"
    assert cuda.get_device_capability() == (9, 0)
    assert cuda.is_bf16_supported() is True
    assert cuda.can_device_access_peer(0, 1) is True
    assert repr(cuda.get_device_properties(0)) == (
        "_CudaDeviceProperties(name='Stand-in GPU 0', major=9, minor=0, total_memory=1024MB, "
        "multi_processor_count=132, L2_cache_size=1MB)"
    )
    cuda.synchronize("cuda:1")
    assert two_gpus.log == [("synchronize device", 1)]


def test_memory_of_a_simulated_device_is_not_estimated():
    cuda.simulate(2)
    cuda.init()
    for count in (
        cuda.memory_allocated,
        cuda.memory_reserved,
        cuda.max_memory_allocated,
        cuda.max_memory_reserved,
    ):
        assert count() == count("cuda:1") == 0
    cuda.reset_peak_memory_stats()
    cuda.empty_cache()
    free, total = cuda.mem_get_info()
    assert 0 <= free <= total
    assert total == cuda.get_device_properties().total_memory


def test_seeds():
    seen = []
    cuda.random.listeners.append(lambda index, seed: seen.append((index, seed)))
    cuda.manual_seed(1)  # no device yet: ignored
    cuda.manual_seed_all(5)
    assert seen == []
    cuda.simulate(2)
    assert cuda.initial_seed() == 5  # remembered for devices that appear later
    cuda.manual_seed(7)
    with cuda.device(1):
        assert cuda.initial_seed() == 5
        cuda.manual_seed(8)
    assert cuda.initial_seed() == 7
    cuda.manual_seed_all(9)
    assert seen == [(0, 7), (1, 8), (0, 9), (1, 9)]
    cuda.simulate(1)
    cuda.manual_seed_all(3)
    seen.clear()
    cuda.simulate(2)
    assert cuda.random.seed_of(1) == 3  # not the 9 of before
    cuda.seed()
    assert cuda.initial_seed() == seen[-1][1] != 3
    cuda.seed_all()
    assert seen[-2][1] == seen[-1][1] == cuda.random.seed_of(1)
    with pytest.raises(ValueError):
        cuda.manual_seed("no number")
    assert cuda.initial_seed() == seen[-1][1]


def test_default_seed_is_torchs():
    torch = pytest.importorskip("torch")
    cuda.simulate(1)
    assert cuda.initial_seed() == torch.Generator().initial_seed()
