"""What kernels found wrong with an index: written by the device, reported at the next synchronisation.

A device has three numbers in page-locked memory, which kernels write and the host reads: the op, the index and the size
it should be below. Asking costs the host a look at its own memory and never waits.
Invariant: the first fault since the last report is the one that is named; reporting clears it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...library_name import library

_names: list[str] = []
_flags: dict[int, tuple[Any, np.ndarray]] = {}


class DeviceIndexError(IndexError, RuntimeError):
    """An index that a kernel found outside its dimension; PyTorch ends the process with a RuntimeError."""


def number_of(name: str) -> int:
    """The number under which kernels report an op."""
    if name not in _names:
        _names.append(name)
    return _names.index(name) + 1


def flag(device: int) -> int:
    """The address of a device's three numbers."""
    found = _flags.get(device)
    if found is None:
        import cupy  # pyright: ignore[reportMissingImports]

        memory = cupy.cuda.alloc_pinned_memory(24)
        numbers = np.frombuffer(memory, np.int64, 3)
        numbers[:] = 0
        found = _flags.setdefault(device, (memory, numbers))
    return int(found[0].ptr)


def report() -> None:
    """Raise what a kernel found, if one found anything; called after a device was waited for."""
    for device, (_, numbers) in _flags.items():
        if numbers[0]:
            op, index, size = (int(n) for n in numbers)
            numbers[:] = 0
            raise DeviceIndexError(
                f"{_names[op - 1]}(): index {index} is out of bounds for dimension with size {size}. It ran on "
                f"cuda:{device} before this call, which is the first that waited for the device; to find the line, "
                f"call {library}.cuda.synchronize() after the ops in question"
            )
