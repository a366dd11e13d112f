"""CUDA devices under PyTorch's names: what is there, which one is current, memory, streams and seeds.

Invariant: importing this package touches no driver and no cupy; `is_available()` never raises.
"""

import importlib
from typing import Any

from ..engine.base.errors import OutOfMemoryError
from ..engine.library_name import library as _library
from ..engine.ops.create.legacy import CUDA_TYPES as _types
from .devices import (
    Diagnosis,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    diagnose,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    simulate,
    synchronize,
)
from .ipc import ipc_collect
from .memory import (
    MemPool,
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_disabled,
    caching_allocator_enable,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
    use_mem_pool,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .sensors import (
    clock_rate,
    device_memory_used,
    list_gpu_processes,
    memory_usage,
    power_draw,
    temperature,
    utilization,
)
from .statistics import (
    max_memory_cached,
    memory_cached,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
)
from .streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream

globals().update(_types)
has_half, has_magma = True, False
_GRAPHS = ("CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables")


def is_tf32_supported() -> bool:
    """False: float32 products are full float32 here.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.is_tf32_supported()
        False
    """
    return False


def __getattr__(name: str) -> Any:
    if name in ("amp", "comm", "graphs", "nvtx", "profiler"):  # opened when it is asked for
        return importlib.import_module(f"vistorch.cuda.{name}")
    if name in _GRAPHS:
        return getattr(importlib.import_module("vistorch.cuda.graphs"), name)
    raise AttributeError(f"module '{_library}.cuda' has no attribute {name!r}")


__all__ = [
    "Diagnosis",
    "Event",
    "MemPool",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "can_device_access_peer",
    "clock_rate",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "diagnose",
    "empty_cache",
    "get_allocator_backend",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "has_half",
    "has_magma",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "list_gpu_processes",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "memory_usage",
    "power_draw",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "simulate",
    "stream",
    "synchronize",
    "temperature",
    "use_mem_pool",
    "utilization",
]
