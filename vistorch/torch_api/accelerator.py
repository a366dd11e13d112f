"""`vistorch.accelerator`: the CUDA devices under names that fit any kind of device.

Invariant: without a CUDA device, real or simulated, what needs one raises PyTorch's RuntimeError.
"""

from __future__ import annotations

from typing import Any

from vistorch import cuda
from vistorch.engine.base.device import device as _device

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a CUDA device.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.accelerator.is_available()
        True
        >>> vistorch.cuda.simulate(None)
    """
    return cuda.is_available()


def device_count() -> int:
    """How many there are.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> vistorch.accelerator.device_count()
        2
        >>> vistorch.cuda.simulate(None)
    """
    return cuda.device_count() if cuda.is_available() else 0


def current_accelerator(check_available: bool = False) -> _device | None:
    """The device to send models to: `device("cuda")`, or None where there is none.

    Args:
        check_available: changes nothing; it is always checked.

    Example:
        >>> import vistorch
        >>> here = vistorch.accelerator.current_accelerator()
    """
    return _device("cuda") if cuda.is_available() else None


def _needed() -> None:
    if not cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def _index(device: Any) -> int | None:
    if device is None or isinstance(device, int):
        return device
    given = _device(device)
    if given.type != "cuda":
        raise ValueError(f"{given.type} doesn't match the current accelerator {current_accelerator()}.")
    return given.index


def current_device_index() -> int:
    """The index of the current device.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> with vistorch.accelerator.device_index(1):
        ...     vistorch.accelerator.current_device_index()
        1
        >>> vistorch.cuda.simulate(None)
    """
    _needed()
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make a device the current one.

    Args:
        device: the device or its index.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> vistorch.accelerator.set_device_index(1)
        >>> vistorch.accelerator.current_device_index()
        1
        >>> vistorch.accelerator.set_device_index(0)
        >>> vistorch.cuda.simulate(None)
    """
    _needed()
    cuda.set_device(_index(device))


current_device_idx, set_device_idx = current_device_index, set_device_index


def current_stream(device: Any = None, /) -> Any:
    """The stream in use.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.accelerator.current_stream() == vistorch.cuda.default_stream()
        True
        >>> vistorch.cuda.simulate(None)
    """
    _needed()
    return cuda.current_stream(_index(device))


def set_stream(stream: Any) -> None:
    """Use a stream from here on.

    Args:
        stream: the stream.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> before, side = vistorch.accelerator.current_stream(), vistorch.cuda.Stream()
        >>> vistorch.accelerator.set_stream(side)
        >>> vistorch.accelerator.current_stream() == side
        True
        >>> vistorch.accelerator.set_stream(before)
        >>> vistorch.cuda.simulate(None)
    """
    _needed()
    cuda.set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    """Wait for all work on a device.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.accelerator.synchronize()
        >>> vistorch.cuda.simulate(None)
    """
    _needed()
    cuda.synchronize(_index(device))


class device_index:
    """A device that is the current one until the end of a `with` block.

    Args:
        device: its index; None changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> with vistorch.accelerator.device_index(1):
        ...     vistorch.ones(1, device="cuda").device
        device(type='cuda', index=1)
        >>> vistorch.cuda.simulate(None)
    """

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            self.before = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exc: object) -> None:
        if self.idx is not None:
            set_device_index(self.before)


def _of_memory(name: str) -> Any:
    ask = getattr(cuda, name)

    def call(device_index: Any = None, /) -> Any:
        _needed()
        return ask(_index(device_index))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = ask.__doc__
    return call


max_memory_allocated = _of_memory("max_memory_allocated")
max_memory_reserved = _of_memory("max_memory_reserved")
memory_allocated = _of_memory("memory_allocated")
memory_reserved = _of_memory("memory_reserved")
reset_peak_memory_stats = _of_memory("reset_peak_memory_stats")
get_memory_info = _of_memory("mem_get_info")
get_device_capability = _of_memory("get_device_capability")


def empty_cache() -> None:
    """Give unused memory back.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.accelerator.empty_cache()
        >>> vistorch.cuda.simulate(None)
    """
    _needed()
    cuda.empty_cache()
