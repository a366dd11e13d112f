"""What is recorded of a device's arrays: noted as it happens, read together.

How bad an array is fits into one number, the largest absolute value in it. A device computes that number where the
array is and keeps it in a buffer; a recorder asks for the buffer once for many events, and then takes them one after
another, as if they happened now. Until then an event holds its arrays, and where one is about to be overwritten, a
copy of what it was.

Invariant: what waits is bounded, in events and in bytes; code that writes memory reports it before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...engine.memory.array_memory import reach
from ..device_reads import Batch, place_of
from ..numbers import plain

SLOTS = 4096  # numbers that wait on a device
EVENTS = 4096
HELD = 256 << 20  # bytes of arrays that only the events may keep alive


def largest_of(d: Any) -> Any:
    """The largest absolute value of an array, NaN if it holds one: an array without dims, on its device.

    Args:
        d: an array of a device with elements that may be bad.
    """
    if d.dtype.kind == "c":
        return abs(d.astype(np.complex128)).max()
    return abs(plain(d)).max()


def may_be_bad(d: Any) -> bool:
    """Whether an array has elements that may be NaN or infinite."""
    return bool(d.size) and d.dtype.kind not in "iub"


class Buffer:
    """The numbers of one device that wait."""

    def __init__(self, place: Any) -> None:
        self.place, self.count = place, 0
        with place:
            self.numbers = place.xp.empty(SLOTS, np.float64)

    def put(self, d: Any) -> int:
        """Compute the number of an array; returns which one it is."""
        at, self.count = self.count, self.count + 1
        with self.place:
            self.numbers[at] = largest_of(d)
        return at


class Event:
    """Something that happened: what to do about it, and what its arrays held.

    Slots:
        take: called when the numbers are known.
        arrays: what it was about.
        sizes: for each array by its id: what gives its number.
        before: copies of arrays that were overwritten since, by id.
        written: of a write what its recorder noted.
    """

    __slots__ = ("arrays", "before", "sizes", "take", "written")

    def __init__(self, take: Callable[[], None], arrays: list, written: Any) -> None:
        self.take, self.arrays, self.written = take, arrays, written
        self.sizes: dict[int, Any] = {}
        self.before: dict[int, Any] = {}


class Deferred:
    """The events that wait.

    Args:
        measure: gives the number of an array of the host, whose memory is read at once.
    """

    def __init__(self, measure: Callable[[Any], float]) -> None:
        self.measure = measure
        self.events: list[Event] = []
        self.nbytes = 0
        self._buffers: dict[Any, Buffer] = {}
        self._known: dict[int, Any] = {}  # the numbers of arrays as they are now
        self._held: set[int] = set()
        self._written: tuple[int, int] | None = None  # memory that is being overwritten
        self._urgent = False  # an array of the host is about to be overwritten, and no copy stands in for it

    @property
    def full(self) -> bool:
        """Whether no more should wait."""
        if self._urgent:
            return True
        full = any(SLOTS - buffer.count < 64 for buffer in self._buffers.values())
        return full or len(self.events) >= EVENTS or self.nbytes > HELD

    def add(
        self,
        take: Callable[[], None],
        arrays: Iterable[Any],
        ask: Iterable[Any],
        alike: Any = None,
        written: Any = None,
    ) -> None:
        """Let an event wait.

        Args:
            take: what to do about it.
            arrays: what it is about; they are held.
            ask: those of them whose numbers it needs.
            alike: a pair of arrays of which the second has the elements of the first.
            written: what a recorder notes of a write.
        """
        event = Event(take, list(arrays), written)
        known = self._known
        if alike is not None and id(alike[0]) in known:
            known[id(alike[1])] = known[id(alike[0])]
        for d in ask:
            if id(d) not in known:
                known[id(d)] = self._measured(d)
            event.sizes[id(d)] = known[id(d)]
        for d in event.arrays:
            if id(d) in known:
                event.sizes[id(d)] = known[id(d)]
            if id(d) not in self._held:
                self._held.add(id(d))
                self.nbytes += d.nbytes
        self.events.append(event)
        if self._written is not None:
            self._copy([event], self._written)

    def knows(self, d: Any) -> bool:
        """Whether the number of an array as it is now was asked for."""
        return id(d) in self._known

    def _measured(self, d: Any) -> Any:
        place = place_of(d)
        if place is None:
            return self.measure(d)
        if not may_be_bad(d):
            return 0.0
        buffer = self._buffers.get(place)
        if buffer is None:
            buffer = self._buffers[place] = Buffer(place)
        return buffer, buffer.put(d)

    # ---- memory that is written ----------------------------------------------------------------------------------
    def overwrite(self, d: Any) -> None:
        """An array is about to be written: what waits keeps what it held."""
        self._written = span(d)
        self._copy(self.events, self._written)

    def overwritten(self, d: Any) -> None:
        """An array was written."""
        self._written, here = None, span(d)
        for event in self.events:
            for other in event.arrays:
                if id(other) in self._known and meet(span(other), here):
                    del self._known[id(other)]

    def _copy(self, events: list[Event], here: tuple[int, int]) -> None:
        made: dict[int, Any] = {}
        for event in events:
            for d in event.arrays:
                if id(d) in event.before or not meet(span(d), here):
                    continue
                place = place_of(d)
                if place is None:
                    self._urgent = True
                    continue
                if id(d) not in made:
                    self.nbytes += d.nbytes
                    with place:
                        made[id(d)] = d.copy()
                event.before[id(d)] = made[id(d)]

    # ---- reading --------------------------------------------------------------------------------------------------
    def taken(self) -> tuple[list[Event], Callable[[Any], float]]:
        """The events that waited, and what gives a number; now nothing waits. Each device is asked once."""
        events, buffers = self.events, list(self._buffers.values())
        self.__init__(self.measure)
        came = {}
        for buffer in buffers:
            with buffer.place:
                came[buffer] = buffer.place.xp.asnumpy(buffer.numbers[: buffer.count])
        return events, lambda size: float(came[size[0]][size[1]] if isinstance(size, tuple) else size)


def bring(events: list[Event], sizes: list[dict[int, float]], shown: list[bool]) -> list[dict[int, Any]]:
    """Bring what else is asked of events once something is bad, by one transfer for each device.

    Args:
        events: in their order.
        sizes: the numbers of their arrays; those that nobody asked for are added.
        shown: which events' arrays are wanted themselves; the largest are not brought.

    Returns:
        For each event what `device_reads.Answers` takes.
    """
    batch = Batch()
    numbers: dict[int, Any] = {}
    whole: dict[int, Any] = {}
    missing, tables = [], []
    for event, known, wanted in zip(events, sizes, shown, strict=True):
        table = {}
        for d in event.arrays:
            then, place = event.before.get(id(d), d), place_of(d)
            if place is None:
                continue
            if id(d) not in known and may_be_bad(d):
                if id(then) not in numbers:
                    with place:
                        numbers[id(then)] = batch.ask(then, [largest_of(then)], lambda parts: float(parts[0]))
                missing.append((known, id(d), numbers[id(then)]))
            if wanted:
                if id(then) not in whole:
                    whole[id(then)] = batch.small(d) if then is d else batch.whole(then)
                if whole[id(then)] is not None:
                    table[id(d)] = d, whole[id(then)]
        tables.append(table)
    batch.send()
    for known, key, answer in missing:
        known[key] = answer.value
    return tables


def span(d: Any) -> tuple[int, int]:
    """The addresses that an array lies between."""
    low, length = reach(d)
    return low, low + length


def meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two stretches of memory have a byte in common."""
    return a[0] < b[1] and b[0] < a[1]
