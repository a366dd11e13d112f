"""Memory of a CUDA device in several processes: sent as a handle and an offset, held by its owner while it is used.

A handle names what the driver gave, a segment of a pool, so the tensor's place in it travels too. Invariant: memory
that was sent goes back to its pool only when the receiver has let go of it: shared memory has a number that says so.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from ..engine.base import cuda_probe
from ..engine.core.tensor import Tensor, wrap
from ..engine.memory import device_memory, placement
from ..engine.memory.array_memory import reach, start
from ..engine.memory.shared_memory import Piece, ledger

IN_USE, LET_GO = 1, 0


class _Sent:
    """Memory that another process may be using: the array that holds it, and the number that says so."""

    def __init__(self, array: Any, piece: Piece, event: Any) -> None:
        self.array, self.piece, self.event = array, piece, event
        self.flag = piece.array().view(np.int64)
        self.flag[0] = IN_USE


_sent: dict[tuple[int, int], _Sent] = {}
_numbers = iter(range(1, 1 << 62)).__next__
_lock = threading.Lock()


def ipc_collect() -> None:
    """Let go of memory that was sent to other processes and that none of them uses any more.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.ipc_collect()
    """
    with _lock:
        for key in [key for key, one in _sent.items() if one.flag[0] == LET_GO]:
            del _sent[key]


def sent(tensor: Tensor) -> tuple:
    """What another process makes the same tensor of.

    Args:
        tensor: of a real CUDA device.
    """
    ipc_collect()
    array, place = tensor._data, tensor._place
    runtime, allocator = cuda_probe.runtime(), device_memory.allocator
    assert allocator is not None, "CUDA is in use"
    lowest, length = reach(array)
    if not length:
        return (place.name, None, 0, 0, 0, array.shape, array.strides, array.dtype, None, b"", (0, 0))
    first = start(array) - lowest
    low = int(array.data.ptr) - first
    with place:
        segment = allocator.segment_of(low)
        event = allocator.cupy.cuda.Event(disable_timing=True, interprocess=True)
        event.record(allocator.cupy.cuda.get_current_stream())
        handle = runtime.ipcGetMemHandle(segment.ptr)
        behind = runtime.ipcGetEventHandle(event.ptr)
    piece = ledger.new(8)
    key = (os.getpid(), _numbers())
    with _lock:
        _sent[key] = _Sent(array, piece, event)
    return (
        *(place.name, handle, low - segment.ptr, length, first, array.shape, array.strides, array.dtype),
        *(piece, behind, key),
    )


class _Opened:
    """A segment of another process, mapped into this one once, however much of it was received."""

    known: dict[bytes, Any] = {}  # weak references  # noqa: RUF012

    def __init__(self, runtime: Any, device: int, handle: bytes) -> None:
        self.runtime, self.device, self.handle = runtime, device, handle
        self.address = runtime.ipcOpenMemHandle(handle)

    def __del__(self) -> None:
        with placement.cuda_place(self.device):
            self.runtime.ipcCloseMemHandle(self.address)


class _Received:
    """Keeps a segment mapped while a tensor of it lives, and tells its owner when none does."""

    def __init__(self, opened: _Opened, piece: Piece) -> None:
        self.opened, self.piece = opened, piece

    def __del__(self) -> None:
        # What this process still does with the memory is done first: the owner does not see our streams.
        with placement.cuda_place(self.opened.device):
            self.opened.runtime.deviceSynchronize()
        self.piece.array().view(np.int64)[0] = LET_GO


def received(
    name: str,
    handle: bytes | None,
    offset: int,
    length: int,
    first: int,
    shape: tuple,
    strides: tuple,
    dtype: Any,
    piece: Any,
    event: bytes,
    key: tuple[int, int],
) -> Tensor:
    """The tensor that another process sent; in its own process the one that it was.

    Args:
        name: its device.
        handle: the segment's; None of a tensor without elements.
        offset: where its memory begins in the segment.
        length: how many bytes it spans.
        first: where its first element is in them.
        shape: its sizes.
        strides: its strides, in bytes.
        dtype: its numpy dtype.
        piece: shared memory that says whether it is used.
        event: the handle of an event behind the work that made it.
        key: the sender's process and its number there.
    """
    import weakref

    place = placement.place_of(name)
    xp = place.xp
    with place:
        if handle is None:
            return wrap(xp.empty(shape, dtype), place)
        if key[0] == os.getpid():
            own = _sent[key]
            own.flag[0] = LET_GO
            return wrap(xp.ndarray(shape, dtype, own.array.data, strides=strides), place)
        runtime, memory = cuda_probe.runtime(), xp.cuda.memory
        known = _Opened.known.get(handle)
        opened = None if known is None else known()
        if opened is None:
            opened = _Opened(runtime, place.index, handle)
            _Opened.known[handle] = weakref.ref(opened)
        behind = runtime.ipcOpenEventHandle(event)
        runtime.streamWaitEvent(int(xp.cuda.get_current_stream().ptr), behind)
        runtime.eventDestroy(behind)
        holder = _Received(opened, piece)
        unowned = memory.UnownedMemory(opened.address + offset, length, holder, place.index)
        return wrap(xp.ndarray(shape, dtype, memory.MemoryPointer(unowned, first), strides=strides), place)
