"""What NVIDIA's management library says of a device: how busy it is, its memory, heat, power, who works with it.

The library comes with the driver and is asked directly. Invariant: nothing here starts CUDA on a device, and without
the library each question has one sentence for an answer.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

from ..engine.base import cuda_probe
from ..engine.kernels import simulated
from .devices import existing_index

NAMES = ("libnvidia-ml.so.1", "libnvidia-ml.so", "nvml.dll", r"C:\Windows\System32\nvml.dll")
FRESH = 1.0  # seconds for which an answer about how busy a device is stands
_SM_CLOCK, _CORE = 1, 0
_STATUS = {
    1: "it was not started",
    3: "this GPU does not say",
    4: "the user may not ask",
    9: "the NVIDIA driver is not loaded",
    15: "the GPU has vanished from its bus: restart the machine",
    18: "the library and the driver have different versions; restart the machine",
}


class _Rates(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute", ctypes.c_uint),
    )


_library: Any = None
_known: dict[int, tuple[float, tuple[int, int, int] | None]] = {}


def _opened() -> Any:
    """The library, started."""
    global _library
    if _library is None:
        for name in NAMES:
            try:
                found = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise RuntimeError(
                "NVIDIA's management library (libnvidia-ml, of the driver) cannot be loaded, so the sensors of the "
                "GPU are not read"
            )
        _check(found.nvmlInit_v2())
        _library = found
    return _library


def _check(status: int) -> None:
    if status:
        why = _STATUS.get(status, f"status {status}")
        raise RuntimeError(f"NVIDIA's management library answered: {why}")


def _handle(device: Any) -> ctypes.c_void_p:
    """The library's name of a CUDA device, found by its place on the bus: CUDA may count in another order."""
    index = existing_index(device)
    if simulated.count():
        raise RuntimeError("a simulated device has no sensors")
    library, handle = _opened(), ctypes.c_void_p()
    bus = cuda_probe.runtime().deviceGetPCIBusId(index)
    _check(
        library.nvmlDeviceGetHandleByPciBusId_v2(
            bus if isinstance(bus, bytes) else bus.encode(), ctypes.byref(handle)
        )
    )
    return handle


def _number(function: str, handle: Any, *arguments: Any) -> int:
    value = ctypes.c_uint()
    _check(getattr(_opened(), function)(handle, *arguments, ctypes.byref(value)))
    return value.value


def _struct(function: str, handle: Any, made: Any) -> Any:
    _check(getattr(_opened(), function)(handle, ctypes.byref(made)))
    return made


def utilization(device: Any = None) -> int:
    """Return the percentage of the last moments in which the device computed.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.utilization()
        Traceback (most recent call last):
            ...
        RuntimeError: a simulated device has no sensors
        >>> vistorch.cuda.simulate(None)
    """
    return _struct("nvmlDeviceGetUtilizationRates", _handle(device), _Rates()).gpu


def memory_usage(device: Any = None) -> int:
    """Return the percentage of the last moments in which the device's memory was read or written.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.memory_usage()
        Traceback (most recent call last):
            ...
        RuntimeError: a simulated device has no sensors
        >>> vistorch.cuda.simulate(None)
    """
    return _struct("nvmlDeviceGetUtilizationRates", _handle(device), _Rates()).memory


def device_memory_used(device: Any = None) -> int:
    """Return the bytes of the device's memory that are in use, by all processes.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.device_memory_used()
        Traceback (most recent call last):
            ...
        RuntimeError: a simulated device has no sensors
        >>> vistorch.cuda.simulate(None)
    """
    return _struct("nvmlDeviceGetMemoryInfo", _handle(device), _Memory()).used


def temperature(device: Any = None) -> int:
    """Return the device's temperature in degrees Celsius.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.temperature()
        Traceback (most recent call last):
            ...
        RuntimeError: a simulated device has no sensors
        >>> vistorch.cuda.simulate(None)
    """
    return _number("nvmlDeviceGetTemperature", _handle(device), _CORE)


def power_draw(device: Any = None) -> int:
    """Return what the device consumes, in thousandths of a watt.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.power_draw()
        Traceback (most recent call last):
            ...
        RuntimeError: a simulated device has no sensors
        >>> vistorch.cuda.simulate(None)
    """
    return _number("nvmlDeviceGetPowerUsage", _handle(device))


def clock_rate(device: Any = None) -> int:
    """Return the clock of the device's processors, in MHz.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.clock_rate()
        Traceback (most recent call last):
            ...
        RuntimeError: a simulated device has no sensors
        >>> vistorch.cuda.simulate(None)
    """
    return _number("nvmlDeviceGetClockInfo", _handle(device), _SM_CLOCK)


def list_gpu_processes(device: Any = None) -> str:
    """Return the processes that work with a device, and the memory each of them has there.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.list_gpu_processes()
        Traceback (most recent call last):
            ...
        RuntimeError: a simulated device has no sensors
        >>> vistorch.cuda.simulate(None)
    """
    index, handle = existing_index(device), _handle(device)
    count, processes = ctypes.c_uint(256), (_Process * 256)()
    _check(_opened().nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), processes))
    lines = [f"GPU:{index}"]
    if not count.value:
        lines.append("no processes are running")
    for one in processes[: count.value]:
        lines.append(f"process {one.pid:>10d} uses {one.used / 2**20:>12.3f} MB GPU memory")
    return "\n".join(lines)


def glance(index: int) -> tuple[int, int, int] | None:
    """How busy a device is in percent, and its memory in use and in all; None where nothing says it. Never raises.

    It is asked at most once a second, so that what shows it may ask as often as it likes.

    Args:
        index: the device's.
    """
    now = time.monotonic()
    then, found = _known.get(index, (-FRESH, None))
    if now - then >= FRESH:
        try:
            handle = _handle(index)
            memory = _struct("nvmlDeviceGetMemoryInfo", handle, _Memory())
            rates = _struct("nvmlDeviceGetUtilizationRates", handle, _Rates())
            found = rates.gpu, memory.used, memory.total
        except (RuntimeError, AttributeError):
            found = None
        _known[index] = now, found
    return found


def missing() -> str:
    """Why the sensors are not read, as one sentence; an empty string if they are."""
    try:
        _opened()
    except RuntimeError as error:
        return str(error)
    return ""
