"""Which samples of the dataset are in the batch at hand, and which epoch it is.

A loader's iterator takes indices from its sampler in the order it yields batches; a wrapper between the two records
them. Invariant: the order, the generators and what the iterator yields are what they are without the wrapper.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

AHEAD = 4096  # batches that workers may be ahead


class _RecordedIndices:
    """Passes a sampler's indices on and notes the newest."""

    def __init__(self, indices: Any) -> None:
        self.indices = iter(indices)
        self.noted: deque = deque(maxlen=AHEAD)
        self.taken = 0

    def __iter__(self) -> _RecordedIndices:
        return self

    def __next__(self) -> Any:
        index = next(self.indices)
        self.noted.append(index)
        self.taken += 1
        return index

    def of(self, number: int) -> Any:
        """The index or indices of a batch; None if it is not known any more."""
        at = number - (self.taken - len(self.noted))
        return self.noted[at] if 0 <= at < len(self.noted) else None


def names_of(dataset: Any) -> list[str] | None:
    """The names of a dataset's classes, where it has some: also of one that is a part of another.

    Args:
        dataset: the dataset.
    """
    for _ in range(8):
        found = getattr(dataset, "classes", None)
        if found is not None:
            fine = isinstance(found, (list, tuple)) and all(isinstance(one, str) for one in found)
            return list(found) if fine else None
        dataset = getattr(dataset, "dataset", None)
    return None


class Iteration:
    """One pass over a loader, from its iterator to its end."""

    def __init__(self, loader: Any, iterator: Any) -> None:
        self.key = id(loader)
        self.over = False
        self.iterator = weakref.ref(iterator) if iterator is not None else lambda: None
        self.recorded: _RecordedIndices | None = None
        self.length: int | None = None
        self.size = getattr(loader, "batch_size", None)
        self.names = names_of(getattr(loader, "dataset", None))
        if iterator is None:
            return
        dataset = getattr(loader, "dataset", None)
        streams = any(
            base.__name__ == "IterableDataset" for base in type(dataset).__mro__
        )  # of either library
        if not streams and getattr(iterator, "_in_order", True):
            self.recorded = iterator._sampler_iter = _RecordedIndices(iterator._sampler_iter)
        if not streams:
            try:
                self.length = len(loader)
            except TypeError:
                self.length = None

    def batch(self, rows: int) -> list | None:
        """The dataset's indices of the batch yielded last, if that has so many rows; None if they are not known."""
        iterator = self.iterator()
        if self.recorded is None or iterator is None or not iterator._num_yielded:
            return None
        found = self.recorded.of(iterator._num_yielded - 1)
        if isinstance(found, int):
            found = [found]
        if not isinstance(found, (list, tuple)) or len(found) != rows:
            return None
        return list(found) if all(isinstance(i, int) for i in found) else None


class Loaders:
    """The iterations that are going on, the newest last."""

    def __init__(self) -> None:
        self.going: list[Iteration] = []
        self.known: weakref.WeakSet = weakref.WeakSet()

    def begin(self, loader: Any, iterator: Any) -> Iteration:
        """A loader was asked for its batches."""
        self.known.add(loader)
        self.going = [one for one in self.going if not one.over and one.key != id(loader)]
        self.going.append(Iteration(loader, iterator))
        return self.going[-1]

    def end(self, loader: Any) -> None:
        """An iteration is over; None for one whose loader is gone."""
        for one in self.going:
            if loader is not None and one.key == id(loader):
                one.over = True

    def generators(self) -> list:
        """The generators that the loaders and their samplers draw from."""
        own = [
            g for one in list(self.known) for g in (one.generator, getattr(one.sampler, "generator", None))
        ]
        return [g for g in own if g is not None]

    @property
    def now(self) -> Iteration | None:
        """The newest that is not over; the newest of all where the last batch is still at work."""
        for one in reversed(self.going):
            if not one.over:
                return one
        return self.going[-1] if self.going else None
