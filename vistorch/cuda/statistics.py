"""What is counted of a device's memory, in PyTorch's tables, and the older names of its functions.

Invariant: the keys are PyTorch's, all of them, on every device; where nothing is counted the number is 0.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..engine.base import cuda_probe
from ..engine.base.warn_once import user_level
from ..engine.library_name import library
from ..engine.memory import device_memory
from . import usage
from .devices import existing_index
from .snapshots import segments_of

_POOLS = ("all", "small_pool", "large_pool")
_WHEN = ("allocated", "freed", "peak")
_BLOCKS = ("allocation", "allocated_bytes", "requested_bytes", "active", "active_bytes")
_SEGMENTS = {"segment": "active", "reserved_bytes": "active_bytes"}
_SPLIT = ("inactive_split", "inactive_split_bytes")
_NONE = ("oversize_allocations", "oversize_segments")


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return what is counted of a device's memory, under PyTorch's keys; empty without CUDA.

    `inactive_split` is what lies free beside blocks in use; its peak is the most that a question has found.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.memory_stats().get("allocated_bytes.all.current", 0)
        0
    """
    if not cuda_probe.find().ok:
        return OrderedDict()
    found: dict[str, Any] = {}
    account = usage.account_of(device)
    for name in _BLOCKS:
        _enter(found, name, None if account is None else account.blocks, name)
    for name, kind in _SEGMENTS.items():
        _enter(found, name, None if account is None else account.segments, kind)
    for name, numbers in zip(_SPLIT, _split(device, account), strict=True):
        for pool, n in zip(_POOLS, numbers, strict=True):
            key = f"{name}.{pool}"
            index = existing_index(device)
            most = _split_peaks[index, key] = max(n, _split_peaks.get((index, key), 0))
            found.update(
                {f"{key}.current": n, f"{key}.peak": most, f"{key}.allocated": most, f"{key}.freed": most - n}
            )
    for name in _NONE:
        found.update({f"{name}.{when}": 0 for when in ("current", *_WHEN)})
    segments = None if account is None else account.segments[0].sums["active"]
    found |= {
        "max_split_size": -1,
        "num_alloc_retries": 0 if account is None else account.retries,
        "num_device_alloc": 0 if segments is None else segments[0],
        "num_device_free": 0 if segments is None else segments[1],
        "num_ooms": 0 if account is None else account.ooms,
        "num_sync_all_streams": 0 if account is None else account.syncs,
    }
    return OrderedDict(sorted(found.items()))


_split_peaks: dict[tuple[int, str], int] = {}


def _enter(found: dict, name: str, counts: Any, kind: str) -> None:
    for i, pool in enumerate(_POOLS):
        taken, freed, peak = (0, 0, 0) if counts is None else counts[i].sums[kind]
        key = f"{name}.{pool}"
        found.update(
            {
                f"{key}.current": taken - freed,
                f"{key}.peak": peak,
                f"{key}.allocated": taken,
                f"{key}.freed": freed,
            }
        )


def _split(device: Any, account: Any) -> tuple[list[int], list[int]]:
    """How many free pieces lie in segments that are in use, and their bytes: of all, small ones and large ones."""
    pieces, sizes = [0, 0, 0], [0, 0, 0]
    if account is not None:
        for segment in segments_of(existing_index(device)):
            blocks = segment["blocks"]
            if len(blocks) > 1:
                for block in blocks:
                    if block["state"] == "inactive":
                        which = 1 if segment["segment_type"] == "small" else 2
                        for i in (0, which):
                            pieces[i] += 1
                            sizes[i] += block["size"]
    return pieces, sizes


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """Return `memory_stats` as dicts in dicts.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.memory_stats_as_nested_dict()["allocated_bytes"]["all"]
        {'allocated': 0, 'current': 0, 'freed': 0, 'peak': 0}
        >>> vistorch.cuda.simulate(None)
    """
    whole: dict[str, Any] = {}
    for name, number in memory_stats(device).items():
        *path, last = name.split(".")
        inner = whole
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = number
    return whole


_ROWS = {
    "allocated_bytes": "Allocated memory",
    "active_bytes": "Active memory",
    "requested_bytes": "Requested memory",
    "reserved_bytes": "GPU reserved memory",
    "inactive_split_bytes": "Non-releasable memory",
    "allocation": "Allocations",
    "active": "Active allocs",
    "segment": "GPU reserved segments",
    "inactive_split": "Non-releasable allocs",
}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return what is counted of a device's memory as a table.

    Args:
        device: the device, or None for the current one.
        abbreviated: leave out the lines of small and large blocks.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> print(vistorch.cuda.memory_summary(abbreviated=True).splitlines()[5])
        Allocated memory        |      0 bytes |      0 bytes |      0 bytes |      0 bytes
        >>> vistorch.cuda.simulate(None)
    """
    stats, index = memory_stats(device), existing_index(device)
    rule = "-" * 83
    lines = [
        f"CUDA memory of vistorch, device {index}",
        f"out of memory: {stats['num_ooms']} times, asked the driver again: {stats['num_alloc_retries']} times",
        rule,
        f"{'':<23} | {'now':>12} | {'at most':>12} | {'taken':>12} | {'given back':>12}",
        rule,
    ]
    for key, title in _ROWS.items():
        for pool in _POOLS[:1] if abbreviated else _POOLS:
            numbers = [stats[f"{key}.{pool}.{when}"] for when in ("current", "peak", "allocated", "freed")]
            said = [device_memory.readable(n) if key.endswith("bytes") else f"{n:,}" for n in numbers]
            name = title if pool == "all" else f"  {pool.replace('_', ' ')}"
            lines.append(" | ".join([f"{name:<23}", *(f"{text:>12}" for text in said)]))
    return "\n".join(lines)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Let the sums over time, "allocated" and "freed" of `memory_stats`, begin anew at what is in use now.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.reset_accumulated_memory_stats()
    """
    account = usage.account_of(device)
    if account is not None:
        for counts in (*account.blocks, *account.segments):
            counts.forget_sums()
        account.ooms = account.retries = account.syncs = 0


def _older(name: str, new: str, then: Callable) -> Callable:
    def call(device: Any = None) -> Any:
        warnings.warn(
            f"`{library}.cuda.{name}` has been renamed to `{library}.cuda.{new}`"
            if "cached" in name and "reset" not in name
            else f"{library}.cuda.{name} now calls {library}.cuda.{new}, which resets /all/ peak memory stats.",
            FutureWarning,
            stacklevel=user_level(),
        )
        return then(device)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""PyTorch's older name of `{new}`.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch, warnings
        >>> vistorch.cuda.simulate(1)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     print(vistorch.cuda.{name}())
        {"None" if name.startswith("reset") else 0}
        >>> vistorch.cuda.simulate(None)
    """
    return call


memory_cached = _older("memory_cached", "memory_reserved", usage.memory_reserved)
max_memory_cached = _older("max_memory_cached", "max_memory_reserved", usage.max_memory_reserved)
reset_max_memory_allocated = _older(
    "reset_max_memory_allocated", "reset_peak_memory_stats", usage.reset_peak_memory_stats
)
reset_max_memory_cached = _older(
    "reset_max_memory_cached", "reset_peak_memory_stats", usage.reset_peak_memory_stats
)
