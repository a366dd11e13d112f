"""Fetchers: from what a sampler yields to a batch.

Invariant: the shortcut for tensors side by side gives what asking for each sample and collating them would give, or is
not taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....engine.base.events import listeners
from ....engine.core.tensor import Tensor, wrap
from ....engine.memory.placement import CPU
from ..dataset import Subset, TensorDataset
from . import worker
from .collate import default_collate


class _DatasetKind:
    """Which of the two kinds of datasets a loader has.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.data import DataLoader, TensorDataset, _DatasetKind
        >>> DataLoader(TensorDataset(vistorch.ones(2)))._dataset_kind == _DatasetKind.Map
        True
    """

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool
    ) -> Any:
        """The fetcher for a dataset of this kind.

        Args:
            kind: `_DatasetKind.Map` or `_DatasetKind.Iterable`.
            dataset: the dataset.
            auto_collation: whether several samples make a batch.
            collate_fn: what makes a batch of them.
            drop_last: whether a shorter batch at the end of a stream is left out.

        Example:
            >>> from vistorch.utils.data import _DatasetKind
            >>> fetcher = _DatasetKind.create_fetcher(_DatasetKind.Map, "abcdef", True, "-".join, drop_last=False)
            >>> fetcher.fetch([0, 2, 4])
            'a-c-e'
        """
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _BaseDatasetFetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Takes the next samples of a stream, whatever the index."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The next batch; StopIteration at the end of the stream."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        samples = []
        for _ in possibly_batched_index:
            try:
                samples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(possibly_batched_index)):
            raise StopIteration
        return self.collate_fn(samples)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Asks a dataset for the samples of an index."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch of this index."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        if self.collate_fn is default_collate:
            batch = _cut(self.dataset, possibly_batched_index)
            if batch is not None:
                return batch
        if getattr(self.dataset, "__getitems__", None):
            samples = self.dataset.__getitems__(possibly_batched_index)
        else:
            samples = [self.dataset[index] for index in possibly_batched_index]
        return self.collate_fn(samples)


def _cut(dataset: Any, indices: Any) -> list | None:
    """A batch of a `TensorDataset`, or of a subset of one, cut out of the tensors at once; None where not allowed."""
    if listeners.op is not None or not indices or set(map(type, indices)) != {int}:
        return None
    while dataset.__class__ is Subset:
        try:
            indices = [dataset.indices[i] for i in indices]
        except Exception:  # it will come again, from the dataset itself
            return None
        dataset = dataset.dataset
        if set(map(type, indices)) != {int}:
            return None
    kind: Any = dataset.__class__
    if (
        not isinstance(dataset, TensorDataset)
        or kind.__getitem__ is not TensorDataset.__getitem__
        or hasattr(dataset, "__getitems__")
    ):
        return None
    tensors = dataset.tensors
    for t in tensors:
        if t.__class__ is not Tensor or t._place is not CPU or t.requires_grad or not t._data.ndim:
            return None
    at = np.array(indices)
    low, high = at.min(), at.max()
    if any(low < -len(t._data) or high >= len(t._data) for t in tensors):
        return None
    if low < 0:
        lengths = {len(t._data) for t in tensors}
        if len(lengths) > 1:
            return None
        at = np.where(at < 0, at + lengths.pop(), at)
    return [wrap(_rows(t._data, at)) for t in tensors]


def _rows(a: np.ndarray, at: np.ndarray) -> np.ndarray:
    """These rows of an array, copied once."""
    if not a.flags.c_contiguous:
        return a[at]  # `take` would make all of it contiguous first
    if worker.batch_memory is not None:
        out = worker.batch_memory((len(at), *a.shape[1:]), a.dtype)
        if out is not None:
            # the indices are known to be good; in mode "raise", numpy writes to a buffer of its own first
            return a.take(at, axis=0, out=out, mode="clip")
    return a.take(at, axis=0)
