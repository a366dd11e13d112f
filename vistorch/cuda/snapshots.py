"""Pictures of a device's memory: segments, the blocks in them and what happened, in PyTorch's form.

Its viewer reads what `_dump_snapshot` writes. Invariant: the blocks of a segment follow one another without a gap.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from ..engine.base import cuda_probe
from ..engine.memory import device_memory, placement


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """Return the segments that the driver gave, each with its blocks; empty without a real device.

    Args:
        mempool_id: only those of that private pool.
        include_traces: accepted, as in PyTorch.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.memory_snapshot()  # no real device is in use
        []
    """
    found = []
    if placement.real_in_use():
        for index in range(cuda_probe.find().number):
            found += segments_of(index)
    wanted = None if mempool_id is None else tuple(mempool_id)
    return [one for one in found if wanted is None or one["segment_pool_id"] == wanted]


def segments_of(device: int) -> list[dict[str, Any]]:
    """The segments of one device."""
    allocator = device_memory.allocator
    assert allocator is not None, "a real device is in use"
    pieces = [
        (b.ptr, b.size, b.asked, "active_allocated", getattr(b, "frames", []))
        for b in allocator.blocks(device)
    ]
    for _, late in allocator.waiting:
        if late.device == device:
            pieces.append((late.address, late.below.mem.size, late.asked, "active_awaiting_free", []))
    return [_segment(one, pieces) for one in allocator.all_segments() if one.device_id == device]


def _segment(segment: Any, pieces: list[tuple]) -> dict[str, Any]:
    start, end = segment.ptr, segment.ptr + segment.size
    blocks: list[dict[str, Any]] = []
    at = start
    for address, size, asked, state, frames in sorted(p for p in pieces if start <= p[0] < end):
        if address > at:
            blocks.append(_block(at, address - at, 0, "inactive", []))
        blocks.append(_block(address, size, asked, state, frames))
        at = address + size
    if at < end:
        blocks.append(_block(at, end - at, 0, "inactive", []))
    allocated = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
    return {
        "device": segment.device_id,
        "address": start,
        "total_size": segment.size,
        "allocated_size": allocated,
        "active_size": sum(b["size"] for b in blocks if b["state"] != "inactive"),
        "requested_size": sum(b["requested_size"] for b in blocks),
        "stream": segment.stream,
        "segment_type": "small" if segment.size <= device_memory.SMALL else "large",
        "segment_pool_id": segment.identity,
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }


def _block(address: int, size: int, asked: int, state: str, frames: list) -> dict[str, Any]:
    return {"address": address, "size": size, "requested_size": asked, "state": state, "frames": frames}


def _record_memory_history(
    enabled: Any = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = sys.maxsize,
    device: Any = None,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
    skip_actions: list[str] | None = None,
    **options: Any,
) -> None:
    """Note from now on where memory is taken and given back; None ends it.

    Args:
        enabled: "all", "state" for the living blocks only, None for nothing.
        context: accepted, as in PyTorch; each entry has its lines.
        stacks: accepted; the lines are Python's.
        max_entries: how many of the newest entries are kept.
        device: accepted: all devices are.
        clear_history: forget what was noted before.
        compile_context: accepted.
        global_record_annotations: accepted.
        skip_actions: kinds of entries that are not kept.
        **options: the older form's.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.memory._record_memory_history()
        >>> vistorch.cuda.memory._record_memory_history(None)
    """
    if enabled is True:
        enabled = (
            "all"
            if options.get("record_context", True) or options.get("trace_alloc_record_context")
            else "state"
        )
        max_entries = options.get("trace_alloc_max_entries", max_entries)
    if enabled not in (None, False, "state", "all"):
        raise RuntimeError(f"expected state to be 'state', 'all', or None, but got {enabled!r}")
    if not cuda_probe.find().ok or cuda_probe.simulated.count():
        return  # nothing is allocated there
    placement.cuda_place(cuda_probe.current_index())
    allocator = device_memory.allocator
    assert allocator is not None
    before = allocator.history
    if not enabled:
        allocator.history = None
        return
    allocator.history = device_memory.History(max_entries, enabled == "all", frozenset(skip_actions or ()))
    if before is not None and not clear_history:
        allocator.history.entries.extend(before.entries)


def _snapshot(device: Any = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """Return the segments of all devices, and what was noted since `_record_memory_history`.

    Args:
        device: accepted, as in PyTorch.
        augment_with_fx_traces: accepted.

    Example:
        >>> import vistorch
        >>> sorted(vistorch.cuda.memory._snapshot())
        ['allocator_settings', 'device_traces', 'external_annotations', 'segments']
    """
    allocator = device_memory.allocator if placement.real_in_use() else None
    history = None if allocator is None else allocator.history
    devices = cuda_probe.find().number if allocator is not None else 0
    entries = [] if history is None else list(history.entries)
    return {
        "segments": memory_snapshot(),
        "device_traces": [[e for e in entries if e.get("device") == index] for index in range(devices)],
        "allocator_settings": {
            "PYTORCH_CUDA_ALLOC_CONF": "",
            "max_split_size": -1,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": False,
            "pinned_num_register_threads": 1,
            "release_lock_on_cudamalloc": False,
            "pinned_use_cuda_host_register": False,
            "roundup_power2_divisions": {},
        },
        "external_annotations": [],
    }


def _dump_snapshot(filename: Any = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    """Write `_snapshot` into a file, which the viewer of PyTorch's snapshots reads.

    Args:
        filename: the file.
        augment_with_fx_traces: accepted, as in PyTorch.

    Example:
        >>> import os, pickle, tempfile, vistorch
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "memory.pickle")
        ...     vistorch.cuda.memory._dump_snapshot(path)
        ...     with open(path, "rb") as file:
        ...         pickle.load(file)["segments"]
        []
    """
    with open(os.fspath(filename), "wb") as file:
        pickle.dump(_snapshot(), file)
