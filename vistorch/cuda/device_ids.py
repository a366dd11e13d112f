"""Devices as PyTorch's data parallelism names them: a CUDA device by its index, and here the CPU by its name.

Invariant: a list of devices is all CUDA or all CPU. Several times the CPU is a lesson: the same steps, in threads.
"""

from __future__ import annotations

from typing import Any

from ..engine.base import cuda_probe
from ..engine.base.device import device as named_device
from ..engine.library_name import library
from ..engine.memory.placement import CPU, Place, cuda_place, place_of


def place(device: Any = None) -> Place:
    """The place of a device, its string or its index; -1 is the CPU, None the current CUDA device."""
    if isinstance(device, Place):
        return device
    if device is None:
        return cuda_place(cuda_probe.current_index())
    if isinstance(device, int) and device == -1:
        return CPU
    if isinstance(device, int) and device < 0:
        raise RuntimeError(f"Expected non-negative device index, but got {device}")
    if not isinstance(device, (str, int, named_device)):
        raise ValueError(
            f"Expected a {library}.device with a specified index or an integer, but got:{device}"
        )
    return place_of(device)


def places(devices: Any) -> list[Place]:
    """The places of several devices."""
    found = [place(device) for device in devices]
    if any(p is CPU for p in found) and any(p is not CPU for p in found):
        raise ValueError("Expected a non cpu device, but got: cpu")
    return found


def shown(p: Place) -> Any:
    """A place as `device_ids` has it: a CUDA device's index, or the CPU as a device."""
    return p.device if p is CPU else p.device.index


def all_cuda() -> list[int] | None:
    """The indices of all CUDA devices; None where there is none."""
    found = cuda_probe.find()
    return list(range(found.number)) if found.ok and found.number else None
