"""Memory of CUDA devices: what cupy's pool holds, and what the driver says.

Invariant: a simulated device has no memory of its own, so every count of it is 0 and never an estimate.
"""

from typing import Any

from ..engine.base import cuda_probe
from ..engine.kernels import simulated
from ..engine.memory import placement
from .devices import existing_index

_peaks: dict[int, list[int]] = {}  # index -> [most bytes used, most bytes reserved]
_hook: Any = None


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
    return _asked(device, "used_bytes")


def memory_reserved(device: Any = None) -> int:
    """Return the bytes the memory pool holds on a device, used or free; 0 for a simulated one.

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
    return _asked(device, "total_bytes")


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes that arrays occupied on a device since `reset_peak_memory_stats`.

    The count begins at the first call of it or of a `max_` function, because watching each allocation costs
    time, and follows the allocations of the thread that made this call; 0 for a simulated device.

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
    return _peak(device, 0)


def max_memory_reserved(device: Any = None) -> int:
    """Return the most bytes the memory pool held on a device; `max_memory_allocated` says since when.

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
    return _peak(device, 1)


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
    index = existing_index(device)
    if not simulated.count():
        _watch()
        _peaks[index] = [memory_allocated(index), memory_reserved(index)]


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
                cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def _asked(device: Any, what: str) -> int:
    """Ask the pool of a device; before CUDA is in use the answer is 0 and nothing is started."""
    if not placement.real_in_use():
        return 0
    import cupy

    with placement.cuda_place(existing_index(device)):
        return getattr(cupy.get_default_memory_pool(), what)()


def _peak(device: Any, which: int) -> int:
    """Return a peak, watching from now on."""
    if not placement.real_in_use():
        return 0
    index = existing_index(device)
    _watch()
    now = [memory_allocated(index), memory_reserved(index)]
    _peaks[index] = [max(pair) for pair in zip(_peaks.get(index, now), now, strict=True)]
    return _peaks[index][which]


def _watch() -> None:
    """Put a hook behind cupy's allocations that keeps the peaks, once."""
    global _hook
    if _hook is not None:
        return
    import cupy

    class Peaks(cupy.cuda.MemoryHook):
        name = "vistorch peaks"

        def malloc_postprocess(self, **event: Any) -> None:
            pool = cupy.get_default_memory_pool()
            peak = _peaks.setdefault(event["device_id"], [0, 0])
            peak[0] = max(peak[0], pool.used_bytes())
            peak[1] = max(peak[1], pool.total_bytes())

    _hook = Peaks()
    _hook.__enter__()
