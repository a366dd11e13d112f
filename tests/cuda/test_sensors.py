"""Sensors of a GPU, over a library that stands in for NVIDIA's; and what is said where there is none."""

import ctypes

import pytest

from vistorch import cuda, vt
from vistorch.cuda import sensors

GIB = 1 << 30


class Library:
    """NVML: two GPUs that the bus counts the other way round."""

    def __init__(self):
        self.asked, self.status = [], 0

    def nvmlInit_v2(self):
        return 0

    def nvmlDeviceGetHandleByPciBusId_v2(self, bus, handle):
        self.asked.append(bus)
        handle._obj.value = {b"0000:0A:00.0": 2, b"0000:0B:00.0": 1}[bus]
        return self.status

    def nvmlDeviceGetUtilizationRates(self, handle, rates):
        rates._obj.gpu, rates._obj.memory = 30 + handle.value, 7
        return self.status

    def nvmlDeviceGetMemoryInfo(self, handle, memory):
        memory._obj.total, memory._obj.free, memory._obj.used = 80 * GIB, 68 * GIB, 12 * GIB
        return 0

    def nvmlDeviceGetTemperature(self, handle, sensor, value):
        value._obj.value = 41
        return 0

    def nvmlDeviceGetPowerUsage(self, handle, value):
        value._obj.value = 350_000
        return 0

    def nvmlDeviceGetClockInfo(self, handle, kind, value):
        assert kind == 1
        value._obj.value = 1980
        return 0

    def nvmlDeviceGetComputeRunningProcesses_v3(self, handle, count, processes):
        count._obj.value = 1
        processes[0].pid, processes[0].used = 77, 3 << 20
        return 0


@pytest.fixture
def library(two_gpus, monkeypatch):
    made = Library()
    two_gpus.cuda.runtime.deviceGetPCIBusId = lambda index: ("0000:0A:00.0", "0000:0B:00.0")[index]
    monkeypatch.setattr(sensors, "_library", None)
    monkeypatch.setattr(sensors, "_known", {})
    monkeypatch.setattr(ctypes, "CDLL", lambda name: made)
    cuda.init()
    return made


def test_what_a_device_says_of_itself(library):
    assert (cuda.utilization(), cuda.utilization("cuda:1")) == (32, 31)
    assert cuda.memory_usage() == 7
    assert cuda.device_memory_used() == 12 * GIB
    assert (cuda.temperature(), cuda.power_draw(), cuda.clock_rate()) == (41, 350_000, 1980)
    assert cuda.list_gpu_processes() == "GPU:0\nprocess         77 uses        3.000 MB GPU memory"
    assert library.asked[0] == b"0000:0A:00.0"


def test_a_glance_is_taken_once_a_second(library, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(sensors.time, "monotonic", lambda: now[0])
    assert sensors.glance(0) == (32, 12 * GIB, 80 * GIB)
    asked = len(library.asked)
    assert sensors.glance(0) == (32, 12 * GIB, 80 * GIB)
    assert len(library.asked) == asked
    library.status, now[0] = 15, 101.5
    assert sensors.glance(0) is None  # it vanished, and nothing is raised
    with pytest.raises(RuntimeError, match="the GPU has vanished from its bus"):
        cuda.utilization()


def test_the_command_shows_it(library):
    said = str(vt.device())
    assert "cuda:0 (Stand-in GPU 0, 32 % busy, 12.0 of 80.0 GiB)" in said
    assert "cuda:1 (Stand-in GPU 1, 31 % busy, 12.0 of 80.0 GiB)" in said


def test_without_the_library_there_is_one_sentence(two_gpus, monkeypatch):
    def absent(name):
        raise OSError(name)

    monkeypatch.setattr(sensors, "_library", None)
    monkeypatch.setattr(sensors, "_known", {})
    monkeypatch.setattr(ctypes, "CDLL", absent)
    cuda.init()
    with pytest.raises(
        RuntimeError, match=r"^NVIDIA's management library \(libnvidia-ml, of the driver\) cannot be"
    ):
        cuda.utilization()
    said = str(vt.device())
    assert said.count("NVIDIA's management library") == 1
    assert "busy" not in said


def test_simulated_devices_have_no_sensors():
    cuda.simulate(1)
    for ask in (
        cuda.utilization,
        cuda.memory_usage,
        cuda.temperature,
        cuda.power_draw,
        cuda.list_gpu_processes,
    ):
        with pytest.raises(RuntimeError, match=r"^a simulated device has no sensors$"):
            ask()
    assert "busy" not in str(vt.device())
