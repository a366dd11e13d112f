"""CUDA devices under PyTorch's names: what is there, which one is current, memory, streams and seeds.

Invariant: importing this package touches no driver and no cupy; `is_available()` never raises.
"""

import importlib
from typing import Any

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
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)
from .random import initial_seed, manual_seed, manual_seed_all, seed, seed_all
from .streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream

globals().update(_types)


def __getattr__(name: str) -> Any:
    if name == "amp":  # opened when it is asked for
        return importlib.import_module("vistorch.cuda.amp")
    raise AttributeError(f"module 'vistorch.cuda' has no attribute {name!r}")


__all__ = [
    "Diagnosis",
    "Event",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "diagnose",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_stream",
    "simulate",
    "stream",
    "synchronize",
]
