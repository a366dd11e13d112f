"""What a picture reads of arrays on a device: asked for first, computed there, and brought by one transfer.

A picture is made in two passes: it asks a `Batch` for all that it will read, whole arrays or numbers that are computed
on the device, sends it, and then reads. `brought` does this for code that reads arrays by `numbers.host`: within it,
what was asked for is answered from what has come.
Invariant: a batch crosses once for each device however much is asked, and what is on the host does not travel.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..engine.memory.placement import array_place
from .source import Unsupported, is_torch, named

WHOLE = 1 << 20  # bytes: what is larger is measured on its device where a picture needs only numbers of it


class Answer:
    """What was asked of one array; `value` once its batch was sent."""

    __slots__ = ("_read", "_value", "batch", "parts")

    def __init__(self, batch: Batch, parts: list, read: Callable[[list], Any]) -> None:
        self.batch: Batch | None = batch
        self.parts, self._read = parts, read
        self._value: Any = None

    @property
    def value(self) -> Any:
        """What came of it; asking for it sends the batch if that was not done."""
        if self.batch is not None:
            self.batch.send()
        return self._value

    def arrived(self, parts: list) -> None:
        """Read what came over."""
        self.batch, self.parts = None, []
        self._value = self._read(parts)


class Batch:
    """What is asked of arrays; `crossings` counts the transfers."""

    def __init__(self) -> None:
        self.crossings = 0
        self._waiting: dict[Any, list[Answer]] = {}
        self._whole: dict[int, tuple[Any, Answer]] = {}

    def whole(self, data: Any) -> Answer:
        """Ask for all of an array of numpy or cupy, or a tensor of PyTorch.

        Args:
            data: the array; the same one asked for twice travels once.
        """
        known = self._whole.get(id(data))
        if known is None:
            part = named("torch").readable(data) if is_torch(data) else data
            known = self._whole[id(data)] = data, self.ask(data, [part], _only)
        return known[1]

    def small(self, data: Any) -> Answer | None:
        """Ask for all of an array, but not of the largest.

        Args:
            data: the array.
        """
        return None if place_of(data) is None or stays(data) else self.whole(data)

    def ask(self, data: Any, parts: list, read: Callable[[list], Any]) -> Answer:
        """Ask for what was computed where an array is.

        Args:
            data: the array, which says where.
            parts: arrays of the same place, of any types; they may still be being computed.
            read: makes the answer of the same arrays on the host.
        """
        place = place_of(data)
        answer = Answer(self, parts, read)
        if place is None:
            answer.arrived(named("torch").bring(parts) if is_torch(data) else parts)
        else:
            self._waiting.setdefault(place, []).append(answer)
        return answer

    def send(self) -> None:
        """Bring all that waits."""
        waiting, self._waiting = self._waiting, {}
        for place, answers in waiting.items():
            parts = [part for answer in answers for part in answer.parts]
            self.crossings += 1
            came = iter(named("torch").bring(parts) if isinstance(place, str) else _bring(place, parts))
            for answer in answers:
                answer.arrived([next(came) for _ in answer.parts])


def _only(parts: list) -> Any:
    return parts[0]


def place_of(data: Any) -> Any:
    """Return what tells the device of an array; None for what numpy can read where it is.

    Args:
        data: an array, a number or a tensor of PyTorch.

    Example:
        >>> import numpy as np
        >>> from vistorch.debug.device_reads import place_of
        >>> place_of(np.ones(3)) is None
        True
    """
    if is_torch(data):
        kind = getattr(getattr(data, "device", None), "type", "cpu")
        return None if kind in ("cpu", "meta") else str(data.device)
    return None if isinstance(data, np.ndarray) or not hasattr(data, "get") else array_place(data)


def stays(value: Any) -> bool:
    """Whether an array is too large to be brought whole where a picture needs only numbers of it.

    Args:
        value: an array, a tensor of the engine or of PyTorch.
    """
    data = value if is_torch(value) else getattr(value, "_data", value)
    return place_of(data) is not None and not is_torch(data) and data.nbytes > WHOLE


def _bring(place: Any, parts: list) -> list[np.ndarray]:
    """Bring arrays of one device: their bytes are joined there."""
    xp = place.xp
    with place:
        if len(parts) == 1:
            return [xp.asnumpy(parts[0])]
        flat = [xp.ascontiguousarray(p).reshape(-1).view(np.uint8) for p in parts if p.size]
        data = xp.asnumpy(xp.concatenate(flat)) if flat else np.empty(0, np.uint8)
    return unpacked(data, [(p.dtype, tuple(p.shape)) for p in parts])


def unpacked(data: np.ndarray, kinds: list[tuple[Any, tuple[int, ...]]]) -> list[np.ndarray]:
    """Return arrays whose bytes were joined.

    Args:
        data: the bytes.
        kinds: the type and the shape of each.
    """
    out, at = [], 0
    for dtype, shape in kinds:
        size = dtype.itemsize
        for n in shape:
            size *= n
        out.append(data[at : at + size].copy().view(dtype).reshape(shape))
        at += size
    return out


class _Scope(threading.local):
    def __init__(self) -> None:
        self.batch: Batch | None = None


_scope = _Scope()


def current() -> Batch:
    """Return the batch of an enclosing `brought`, which knows what has come, or a new one."""
    return Batch() if _scope.batch is None else _scope.batch


@contextlib.contextmanager
def brought(values: Iterable[Any], *asks: Callable[[Batch], Any]) -> Iterator[Batch]:
    """Within it `numbers.host` answers for these from one transfer, and keeps what else it fetches.

    Args:
        values: tensors, arrays, numbers or None; those of a device are brought, but not the largest.
        asks: called with the batch before it is sent, to ask for more.
    """
    outer, batch = _scope.batch, current()
    for value in values:
        data = value if is_torch(value) else getattr(value, "_data", value)
        if place_of(data) is not None and not stays(data):
            with contextlib.suppress(Unsupported):  # what has no values says so where it is read
                batch.whole(data)
    for ask in asks:
        ask(batch)
    batch.send()
    _scope.batch = batch
    try:
        yield batch
    finally:
        _scope.batch = outer


class Answers:
    """Within it `numbers.host` answers from what has come already, and keeps what else it fetches.

    Args:
        table: for arrays by their id: the array, and what came of it.
    """

    def __init__(self, table: dict[int, tuple[Any, Answer]]) -> None:
        self.batch = Batch()
        self.batch._whole.update(table)

    def __enter__(self) -> Batch:
        """Answer from it."""
        self.outer, _scope.batch = _scope.batch, self.batch
        return self.batch

    def __exit__(self, *exception: object) -> None:
        """No more."""
        _scope.batch = self.outer


def brought_copy(data: Any) -> Any:
    """Return the copy of an array that an enclosing `brought` has, or fetch it into that; None without one.

    Args:
        data: an array or a tensor of PyTorch.
    """
    batch = _scope.batch
    if batch is None or place_of(data) is None:
        return None
    return batch.whole(data).value
