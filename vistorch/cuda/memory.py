"""Memory of CUDA devices under PyTorch's names: what is used, the tables of it, pictures of it, and private pools."""

from .pools import MemPool, use_mem_pool
from .sensors import list_gpu_processes
from .snapshots import _dump_snapshot, _record_memory_history, _snapshot, memory_snapshot
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
from .usage import (
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
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)

__all__ = [
    "MemPool",
    "_dump_snapshot",
    "_record_memory_history",
    "_snapshot",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "list_gpu_processes",
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
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]
