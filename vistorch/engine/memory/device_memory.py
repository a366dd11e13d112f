"""Memory of CUDA devices: blocks of cupy's pools, counted while they live, kept while another stream works with them.

cupy's pools give memory that was freed only to the stream it was made on, in that stream's order; what other streams do
with it they do not know. Invariant: a block goes back to its pool when its last array is gone and the work is done that
the streams named by `use` had then.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base import errors
from ..kernels.cuda import capture
from . import placement

SMALL = 1 << 20  # PyTorch's line between its two pools
NOTED = 1 << 20  # blocks from this size on know the line that made them
UNIT = 512  # what cupy's pools round to
_TAKEN, _RETURNED, _FREED, _LATER = range(4)  # what happened to a block, in a log: size * 4 + one of these
_LOGGED = 8192


class Counts:
    """Blocks of one kind: each is (sum taken, sum given back, most at once) of their number and of their bytes.

    "allocated" ends when the last array of a block is gone, "active" when its memory can be used again.
    """

    def __init__(self) -> None:
        self.sums: dict[str, list[int]] = {}
        for kind in ("allocation", "allocated_bytes", "requested_bytes", "active", "active_bytes"):
            self.sums[kind] = [0, 0, 0]

    def add(self, kind: str, amounts: np.ndarray) -> None:
        """What was taken (positive) and given back (negative), in order."""
        if not amounts.size:
            return
        sums = self.sums[kind]
        most = sums[0] - sums[1] + int(amounts.cumsum().max())
        sums[0] += int(amounts[amounts > 0].sum())
        sums[1] -= int(amounts[amounts < 0].sum())
        sums[2] = max(sums[2], most)

    def log(self, sizes: np.ndarray, what: np.ndarray) -> None:
        """Blocks by the bytes that were asked for, and what happened to each."""
        rounded = (sizes + UNIT - 1) // UNIT * UNIT
        for ends, number, bytes_ in (
            ((_RETURNED, _FREED), "allocation", "allocated_bytes"),
            ((_RETURNED, _LATER), "active", "active_bytes"),
        ):
            sign = (what == _TAKEN).astype(np.int64) - (what == ends[0]) - (what == ends[1])
            self.add(number, sign)
            self.add(bytes_, sign * rounded)
            if number == "allocation":
                self.add("requested_bytes", sign * sizes)

    def forget_peaks(self) -> None:
        """Let the peaks begin at what there is now."""
        for sums in self.sums.values():
            sums[2] = sums[0] - sums[1]

    def forget_sums(self) -> None:
        """Let the sums over time begin at what there is now."""
        for sums in self.sums.values():
            sums[0], sums[1] = sums[0] - sums[1], 0


class Account:
    """What is counted of one device: blocks, and the driver's segments; all, small ones and large ones.

    An allocation costs a number in a log; the counts are made of it when they are asked for, or when it is long.
    """

    def __init__(self) -> None:
        self.entries: list[int] = []
        self.blocks = Counts(), Counts(), Counts()
        self.segments = Counts(), Counts(), Counts()
        self.ooms = self.retries = self.syncs = 0
        self._lock = threading.Lock()

    def settle(self) -> Account:
        """Count what is in the log."""
        with self._lock:
            n = len(self.entries)
            log = np.array(self.entries[:n], np.int64)
            del self.entries[:n]  # others may have added to it meanwhile
            _count(self.blocks, log)
        return self

    def segment(self, size: int, what: int) -> None:
        """The driver gave or got memory."""
        with self._lock:
            _count(self.segments, np.array([size * 4 + what], np.int64))

    def current(self, kind: str) -> int:
        """What there is now."""
        counts = self.segments if kind == "reserved_bytes" else self.blocks
        taken, freed, _ = counts[0].sums["active_bytes" if kind == "reserved_bytes" else kind]
        return taken - freed


def _count(counts: tuple[Counts, Counts, Counts], log: np.ndarray) -> None:
    sizes, what = log >> 2, log & 3
    small = sizes <= SMALL
    for one, chosen in zip(counts, (np.ones_like(small), small, ~small), strict=True):
        one.log(sizes[chosen], what[chosen])


class PrivatePool:
    """Memory apart from the rest: of a captured graph, or a program's own `MemPool`.

    Args:
        identity: PyTorch's pair of numbers.
        pool: cupy's pool.
    """

    def __init__(self, identity: tuple[int, int], pool: Any) -> None:
        self.identity, self.pool = identity, pool
        self.graphs = 0  # that replay work with its memory, so that none of it can be given away


class _Chosen(threading.local):
    """The private pools a thread is in, the innermost last."""

    def __init__(self) -> None:
        self.pools: list[tuple[int, PrivatePool]] = []


class History:
    """What happened to memory, while it is asked for: the newest entries.

    Args:
        most: how many are kept.
        whole: whether what happened is kept too, not only where living blocks were made.
        skip: kinds of entries that are not kept.
    """

    def __init__(self, most: int, whole: bool, skip: frozenset[str] = frozenset()) -> None:
        self.entries: deque = deque(maxlen=min(most, sys.maxsize))
        self.whole, self.skip = whole, skip

    def add(self, action: str, **more: Any) -> None:
        """One entry, in PyTorch's form."""
        if self.whole and action not in self.skip:
            self.entries.append({"action": action, "frames": frames_here(), **more})


class Allocator:
    """What cupy calls for memory.

    Args:
        cupy: the module.
    """

    def __init__(self, cupy: Any) -> None:
        self.cupy, self.memory = cupy, cupy.cuda.memory
        self.runtime = cupy.cuda.runtime
        self.accounts: dict[int, Account] = {}
        self.segments: dict[int, Any] = {}  # by address; weak references
        self.waiting: list[tuple[list, Any]] = []  # events, and the block's memory until they have come
        self.limits: dict[int, int] = {}
        self.history: History | None = None
        self.chosen = _Chosen()
        self.some_chosen = 0
        self.private: list[Any] = []  # weak references
        self.kept: list[Any] = []  # what was freed during a capture and is used by other streams
        self.capturing = 0
        self.block, self.segment = _classes(self)
        self.pool = cupy.cuda.MemoryPool(self._from_driver)
        self.cached = True

    def install(self) -> None:
        """Let cupy allocate here."""
        self.cupy.cuda.set_allocator(self.malloc)

    def account(self, device: int) -> Account:
        """The counts of a device."""
        found = self.accounts.get(device)
        return self.accounts.setdefault(device, Account()) if found is None else found

    # ---- taking -------------------------------------------------------------------------------------------------
    def malloc(self, size: int) -> Any:
        """Memory for the current stream of the current device, as cupy's pointer."""
        if self.waiting and not self.capturing:
            self.collect()
        pool = self.pool
        if self.some_chosen and (private := self._private()) is not None:
            pool = private.pool
        if not size:
            return pool.malloc(0)
        try:
            below = pool.malloc(size) if self.cached else self._from_driver(size)
        except self.memory.OutOfMemoryError as short:
            below = self._again(pool, size, short)
        block = self.block(below, size)
        if size >= NOTED:
            block.line = capture.place_here()
        if self.history is not None:
            block.frames = frames_here()
            self.history.add(
                "alloc", addr=block.ptr, size=size, stream=self._stream(), device=block.device_id
            )
        return self.memory.MemoryPointer(block, 0)

    def _private(self) -> PrivatePool | None:
        """The private pool that this thread takes memory of the current device from."""
        device = self.runtime.getDevice()
        return next((pool for index, pool in reversed(self.chosen.pools) if index == device), None)

    def _stream(self) -> int:
        return int(self.cupy.cuda.get_current_stream().ptr)

    def _from_driver(self, size: int) -> Any:
        """A segment, which a pool then divides."""
        device = self.runtime.getDevice()
        account, limit = self.account(device), self.limits.get(device)
        if limit is not None and account.current("reserved_bytes") + size > limit:
            self.empty()
            held = account.current("reserved_bytes")
            if held + size > limit:
                raise self.memory.OutOfMemoryError(size, held, limit)
        made = self.segment(size)
        private = self._private() if self.some_chosen else None
        made.enter(device, self._stream(), (0, 0) if private is None else private.identity)
        return self.memory.MemoryPointer(made, 0)

    def _again(self, pool: Any, size: int, short: Exception) -> Any:
        """Try once more with what waited for streams and what other pools hold free; else say who has the memory."""
        device = self.runtime.getDevice()
        account = self.account(device)
        account.retries += 1
        if not self.capturing:
            self.collect(wait=True)
            self.empty()
        try:
            return pool.malloc(size) if self.cached else self._from_driver(size)
        except self.memory.OutOfMemoryError:
            account.ooms += 1
        if self.history is not None:
            free = self.runtime.memGetInfo()[0]
            self.history.add("oom", size=size, device_free=free, device=device, stream=self._stream())
        raise self._refused(size, device) from short

    def _refused(self, size: int, device: int) -> Exception:
        account = self.account(device).settle()
        free, total = self.runtime.memGetInfo()
        used = account.current("allocated_bytes")
        held = account.current("reserved_bytes") - used
        limit = self.limits.get(device)
        allowed = "" if limit is None else f"; {readable(limit)} allowed"
        said = (
            f"CUDA out of memory. Tried to allocate {readable(size)}. GPU {device} has a total capacity of "
            f"{readable(total)} of which {readable(free)} is free{allowed}. Of the allocated memory {readable(used)} "
            f"is allocated by vistorch, and {readable(held)} is reserved by vistorch but unallocated."
        )
        for explain in explanations:
            said += explain(self, device)
        return _out_of_memory(self.memory)(said)

    # ---- giving back ----------------------------------------------------------------------------------------------
    def release(self, block: Any) -> None:
        """The last array is gone of a block that other streams work with."""
        block.entries.append(block.asked * 4 + _FREED)
        if self.history is not None:
            self.history.add(
                "free_requested", addr=block.ptr, size=block.asked, device=block.device_id, stream=0
            )
        rest = (block.streams, _Late(self, block))
        if self.capturing:
            self.kept.append(rest)  # an event recorded now would become part of the graph
        else:
            self._wait(*rest)

    def _wait(self, streams: dict, late: _Late) -> None:
        """Keep memory until its streams have done what they have now."""
        events = []
        for device, stream in streams.values():
            with placement.cuda_place(device):
                events.append(stream.record())
        self.waiting.append((events, late))

    def collect(self, wait: bool = False) -> None:
        """Give back what other streams have finished with.

        Args:
            wait: wait until they have.
        """
        waiting, self.waiting = self.waiting, []
        for events, late in waiting:
            if wait:
                self.account(late.device).syncs += 1
                for event in events:
                    event.synchronize()
            if wait or all(event.done for event in events):
                late.done()
            else:
                self.waiting.append((events, late))

    def captured(self) -> None:
        """A capture is over: what was freed in it waits for the streams it was used on."""
        kept, self.kept = self.kept, []
        for streams, late in kept:
            self._wait(streams, late)

    def empty(self) -> None:
        """Give the free blocks of all pools on the current device back to the driver."""
        if not self.capturing:
            self.collect()
        self.pool.free_all_blocks()
        for known in tuple(self.private):
            private = known()
            if private is None:
                self.private.remove(known)
            elif not private.graphs:
                private.pool.free_all_blocks()

    # ---- pools, streams ---------------------------------------------------------------------------------------------
    def new_pool(self, identity: tuple[int, int]) -> PrivatePool:
        """Memory apart from the rest."""
        made = PrivatePool(identity, self.cupy.cuda.MemoryPool(self._from_driver))
        self.private.append(weakref.ref(made))
        return made

    @contextmanager
    def within(self, device: int, pool: PrivatePool) -> Iterator[None]:
        """Let this thread take memory of a device from a private pool."""
        self.chosen.pools.append((device, pool))
        self.some_chosen += 1
        try:
            yield
        finally:
            self.some_chosen -= 1
            self.chosen.pools.remove((device, pool))

    def use(self, array: Any, stream: Any, device: int) -> None:
        """A stream works with an array: its memory is not to be given away before that work is done.

        Memory that another library made, or another process, is not ours to keep.
        """
        block = array.data.mem
        if isinstance(block, self.block):
            if block.streams is None:
                block.streams = {}
            block.streams[int(stream.ptr)] = device, stream

    # ---- what there is ----------------------------------------------------------------------------------------------
    def blocks(self, device: int | None = None) -> list[Any]:
        """The blocks that arrays have now, by address."""
        found = [one for one in gc.get_objects() if type(one) is self.block]
        return sorted((b for b in found if device in (None, b.device_id)), key=lambda b: b.ptr)

    def all_segments(self) -> list[Any]:
        """What the driver gave, by address."""
        found = [known() for known in tuple(self.segments.values())]
        return sorted((one for one in found if one is not None), key=lambda s: s.ptr)

    def segment_of(self, address: int) -> Any:
        """The segment that an address is in."""
        for one in self.all_segments():
            if one.ptr <= address < one.ptr + one.size:
                return one
        raise RuntimeError(
            f"the memory at {address:#x} was not made by vistorch: share a copy of the tensor, made with clone()"
        )


class _Late:
    """The memory of a block whose arrays are gone, while other streams work with it."""

    def __init__(self, allocator: Allocator, block: Any) -> None:
        self.allocator, self.below, self.asked = allocator, block.below, block.asked
        self.address, self.device, self.entries = block.ptr, block.device_id, block.entries

    def done(self) -> None:
        """Nobody works with it any more."""
        self.below = None
        self.entries.append(self.asked * 4 + _LATER)
        if self.allocator.history is not None:
            self.allocator.history.add(
                "free_completed", addr=self.address, size=self.asked, device=self.device, stream=0
            )


allocator: Allocator | None = None
# Called with (allocator, device): sentences for the end of "CUDA out of memory." Upper files enter themselves.
explanations: list[Callable[[Allocator, int], str]] = []


def _classes(allocator: Allocator) -> tuple[type, type]:
    """The classes of blocks and segments; their bases are cupy's, which are there only where CUDA is used."""
    memory = allocator.memory
    logs: dict[int, list] = {}

    class Block(memory.BaseMemory):
        """One allocation; `below` is the pool's, `asked` what was asked for, `line` what made it if it is large."""

        __slots__ = ("asked", "below", "entries", "frames", "line", "streams")

        def __init__(self, below: Any, asked: int) -> None:
            self.ptr, self.size = below.ptr, below.mem.size
            self.device_id = device = below.device_id
            self.below, self.asked, self.streams, self.line = below, asked, None, None
            entries = logs.get(device)
            if entries is None:
                entries = logs[device] = allocator.account(device).entries
            elif len(entries) > _LOGGED:
                allocator.account(device).settle()
            entries.append(asked * 4)
            self.entries = entries

        def __del__(self) -> None:
            if self.streams is not None:
                if not sys.is_finalizing():
                    allocator.release(self)
                return
            self.entries.append(self.asked * 4 + _RETURNED)
            if allocator.history is not None:
                about = {"addr": self.ptr, "size": self.asked, "device": self.device_id, "stream": 0}
                allocator.history.add("free_requested", **about)
                allocator.history.add("free_completed", **about)

    class Segment(memory.Memory):
        """Memory of the driver, which it gets back with the object."""

        stream, identity = -1, (0, 0)

        def enter(self, device: int, stream: int, identity: tuple[int, int]) -> None:
            """Count it."""
            self.stream, self.identity = stream, identity
            allocator.segments[self.ptr] = weakref.ref(self)
            allocator.account(device).segment(self.size, _TAKEN)
            if allocator.history is not None:
                allocator.history.add(
                    "segment_alloc", addr=self.ptr, size=self.size, device=device, stream=stream
                )

        def __del__(self) -> None:
            if self.stream >= 0 and not sys.is_finalizing():
                allocator.segments.pop(self.ptr, None)
                allocator.account(self.device_id).segment(self.size, _RETURNED)
                if allocator.history is not None:
                    allocator.history.add(
                        "segment_free",
                        addr=self.ptr,
                        size=self.size,
                        device=self.device_id,
                        stream=self.stream,
                    )

    return Block, Segment


_errors: dict[Any, type] = {}


def _out_of_memory(memory: Any) -> type:
    """The error's class, which cupy's own code takes for cupy's."""
    theirs = memory.OutOfMemoryError
    if theirs not in _errors:
        bases = (errors.OutOfMemoryError, theirs)
        cls: Any = type("OutOfMemoryError", bases, {"__module__": "vistorch"})
        # cupy's takes numbers and writes a sentence of its own
        cls.__init__ = lambda self, *args: Exception.__init__(self, *args)
        cls.__str__ = lambda self: str(self.args[0])
        _errors[theirs] = cls
    return _errors[theirs]


def open_allocator() -> None:
    """Take the place of cupy's default allocator; called before the first real CUDA place is handed out."""
    global allocator
    import cupy

    if allocator is None or allocator.cupy is not cupy:
        allocator = Allocator(cupy)
        allocator.install()


placement.before_cuda.append(open_allocator)


# ---- where memory is made -----------------------------------------------------------------------------------------
def frames_here() -> list[dict[str, Any]]:
    """All frames, the innermost first, in PyTorch's form."""
    frame: Any = sys._getframe(1)
    found = []
    while frame is not None:
        code = frame.f_code
        found.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back
    return found


def readable(n: int) -> str:
    """A number of bytes as PyTorch writes it."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} bytes"
