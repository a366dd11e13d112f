"""Memory of CUDA devices: what arrays have, what the driver gave, how much may be used.

Invariant: a simulated device has no memory of its own, so every count of it is 0 and never an estimate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vistorch.engine.library_name import library

from ..engine.base import cuda_probe
from ..engine.kernels import simulated
from ..engine.memory import device_memory, placement
from .devices import existing_index

_handed: dict[int, Any] = {}  # what `caching_allocator_alloc` gave, by its address
_simulated_addresses = itertools.count(1 << 44, 1 << 20).__next__


def memory_allocated(device: Any = None) -> int:
    """Return the bytes that arrays occupy on a device; 0 for a simulated one, whose arrays are the host's.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> x = vistorch.ones(1000, device="cuda")
        >>> vistorch.cuda.memory_allocated()  # simulated: the bytes are the host's
        0
        >>> vistorch.cuda.simulate(None)
    """
    found = account_of(device)
    return 0 if found is None else found.current("allocated_bytes")


def memory_reserved(device: Any = None) -> int:
    """Return the bytes the memory pools hold on a device, used or free; 0 for a simulated one.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> x = vistorch.ones(1000, device="cuda")
        >>> vistorch.cuda.memory_reserved()  # simulated: the bytes are the host's
        0
        >>> vistorch.cuda.simulate(None)
    """
    found = account_of(device)
    return 0 if found is None else found.current("reserved_bytes")


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes that arrays occupied on a device, since the start or `reset_peak_memory_stats`.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> x = vistorch.ones(1000, device="cuda")
        >>> vistorch.cuda.max_memory_allocated()  # simulated: the bytes are the host's
        0
        >>> vistorch.cuda.simulate(None)
    """
    found = account_of(device)
    return 0 if found is None else found.blocks[0].sums["allocated_bytes"][2]


def max_memory_reserved(device: Any = None) -> int:
    """Return the most bytes the memory pools held on a device, since the start or `reset_peak_memory_stats`.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> x = vistorch.ones(1000, device="cuda")
        >>> vistorch.cuda.max_memory_reserved()  # simulated: the bytes are the host's
        0
        >>> vistorch.cuda.simulate(None)
    """
    found = account_of(device)
    return 0 if found is None else found.segments[0].sums["active_bytes"][2]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the counts of `max_memory_allocated` and `max_memory_reserved` begin anew at what is in use now.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.reset_peak_memory_stats()
        >>> vistorch.cuda.max_memory_allocated()
        0
        >>> vistorch.cuda.simulate(None)
    """
    existing_index(device)
    found = account_of(device)
    if found is not None:
        for counts in (*found.blocks, *found.segments):
            counts.forget_peaks()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return (free, total) bytes of a device as its driver says; for a simulated one, those of the host.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> free, total = vistorch.cuda.mem_get_info()
        >>> 0 < free <= total
        True
        >>> vistorch.cuda.simulate(None)
    """
    index = existing_index(device)
    if simulated.count():
        return simulated.host_memory()
    with placement.cuda_place(index):
        return cuda_probe.runtime().memGetInfo()


def empty_cache() -> None:
    """Give the free blocks of the memory pools back to the driver; does nothing where no real one is used.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.empty_cache()
    """
    if placement.real_in_use():
        import cupy

        for index in range(cuda_probe.find().number):
            with placement.cuda_place(index):
                _allocator().empty()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Allow this process only a part of a device's memory; asking for more is an `OutOfMemoryError`.

    Args:
        fraction: which part, from 0 to 1.
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.set_per_process_memory_fraction(0.5)
        >>> vistorch.cuda.get_per_process_memory_fraction()
        0.5
        >>> vistorch.cuda.set_per_process_memory_fraction(1.0)
        >>> vistorch.cuda.simulate(None)
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = existing_index(device)
    _fractions[index, bool(simulated.count())] = fraction
    if not simulated.count():
        place = placement.cuda_place(index)
        with place:
            total = cuda_probe.runtime().memGetInfo()[1]
        if fraction == 1.0:
            _allocator().limits.pop(index, None)
        else:
            _allocator().limits[index] = int(total * fraction)


_fractions: dict[tuple[int, bool], float] = {}


def get_per_process_memory_fraction(device: Any = None) -> float:
    """Return the part of a device's memory that this process may use.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.get_per_process_memory_fraction()
        1.0
        >>> vistorch.cuda.simulate(None)
    """
    return _fractions.get((existing_index(device), bool(simulated.count())), 1.0)


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """Take memory of a device and return its address, for other libraries; `caching_allocator_delete` gives it back.

    On a simulated device it is a number that nothing lies behind.

    Args:
        size: how many bytes.
        device: the device, or None for the current one.
        stream: the stream that works with it first, or its address; the current one if None.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> address = vistorch.cuda.caching_allocator_alloc(1024)
        >>> vistorch.cuda.caching_allocator_delete(address)
        >>> vistorch.cuda.simulate(None)
    """
    index = existing_index(device)
    if stream is not None and not isinstance(stream, int) and not hasattr(stream, "cuda_stream"):
        raise TypeError(
            f"Invalid type for stream argument, must be `{library}.cuda.Stream` or `int` representing a pointer to a "
            "existing stream"
        )
    if simulated.count():
        address = _simulated_addresses()
        _handed[address] = None
        return address
    import cupy

    with placement.cuda_place(index):
        if stream is None:
            pointer = _allocator().malloc(size)
        else:
            own = cupy.cuda.ExternalStream(stream) if isinstance(stream, int) else stream._own
            with own:
                pointer = _allocator().malloc(size)
    _handed[pointer.ptr] = pointer
    return pointer.ptr


def caching_allocator_delete(mem_ptr: int) -> None:
    """Give back what `caching_allocator_alloc` took.

    Args:
        mem_ptr: the address.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.caching_allocator_delete(vistorch.cuda.caching_allocator_alloc(8))
        >>> vistorch.cuda.simulate(None)
    """
    if mem_ptr not in _handed:
        raise RuntimeError(
            f"invalid device pointer: {mem_ptr:#x} is not an address of caching_allocator_alloc()"
        )
    del _handed[mem_ptr]


def caching_allocator_enable(value: bool = True) -> None:
    """Keep freed memory for the next array, as at the start, or give each block back to the driver at once.

    Args:
        value: whether to keep it.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.caching_allocator_enable(True)
    """
    if placement.real_in_use():
        _allocator().cached = bool(value)


@contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Give each freed block back to the driver inside a `with` block.

    Example:
        >>> import vistorch
        >>> with vistorch.cuda.memory.caching_allocator_disabled():
        ...     pass
    """
    caching_allocator_enable(False)
    try:
        yield
    finally:
        caching_allocator_enable(True)


def get_allocator_backend() -> str:
    """Return PyTorch's name of an allocator that keeps freed memory.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.get_allocator_backend()
        'native'
    """
    return "native"


def account_of(device: Any) -> device_memory.Account | None:
    """The counts of a device; None before CUDA is in use, when nothing is started by the question."""
    if not placement.real_in_use():
        return None
    return _allocator().account(existing_index(device)).settle()


def _allocator() -> device_memory.Allocator:
    assert device_memory.allocator is not None, "CUDA is in use"
    return device_memory.allocator
