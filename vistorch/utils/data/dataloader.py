"""`DataLoader`: batches of a dataset, made here or by workers.

Invariant: what a loader was made with is checked when it is made, in PyTorch's order and words; an iterator reads it
once, when it begins.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from ...engine import browser
from ...engine.base.events import listeners
from ...engine.base.warn_once import once
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import _DatasetKind
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .iterators import _BaseDataLoaderIter, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)
_NO_WORKERS = (
    "Python in a browser has no worker processes: this process loads the batches, as with num_workers=0. They are the "
    "same ones."
)
FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler(Sampler):
    """The indices of a stream, which has none."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Iterates over a dataset in batches, in order or shuffled, by worker processes if asked.

    Args:
        dataset: a dataset with `__getitem__`, or an `IterableDataset`.
        batch_size: samples in a batch; None: no batches, each sample by itself.
        shuffle: whether each epoch has a new random order.
        sampler: yields the indices, instead of `shuffle`.
        batch_sampler: yields lists of indices, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: how many worker processes make the batches; 0: this process does.
        collate_fn: makes a batch of a list of samples; by default `default_collate`.
        pin_memory: whether batches are moved to page-locked memory, where there is a CUDA device.
        drop_last: whether a shorter batch at the end is left out.
        timeout: seconds to wait for a batch of a worker; 0: without end.
        worker_init_fn: called in each worker with its number, after it is seeded and before it loads anything.
        multiprocessing_context: how workers start: a context of `multiprocessing`, or its name. By default they are
            forked off by a server that has vistorch loaded (Linux) or spawned; the dataset is sent to them.
        generator: where the random order and the workers' seeds come from.
        prefetch_factor: batches that each worker makes ahead, 2 by default.
        persistent_workers: whether workers stay for the next epoch.
        pin_memory_device: deprecated.
        in_order: whether batches come in the sampler's order; if not, as soon as they are made.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.data import DataLoader, TensorDataset
        >>> data = TensorDataset(vistorch.arange(5.0), vistorch.arange(5))
        >>> for x, y in DataLoader(data, batch_size=2):
        ...     print(x, y)
        tensor([0., 1.]) tensor([0, 1])
        tensor([2., 3.]) tensor([2, 3])
        tensor([4.]) tensor([4])
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: Any
    __initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable | None = None,
        batch_sampler: Sampler[list] | Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _check_stream(shuffle, sampler, batch_sampler)
        else:
            shuffle = bool(shuffle)
            self._dataset_kind = _DatasetKind.Map
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(self.dataset, generator=generator)
            else:
                sampler = SequentialSampler(self.dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        self.check_worker_number_rationality()
        if num_workers > 0 and multiprocessing_context is None and not browser.HERE:
            from ._workers import launch  # here: who has no workers needs none of it

            launch.expect()
        if (emit := listeners.made) is not None:
            emit("loader", self)

    def _get_iterator(self) -> _BaseDataLoaderIter:
        """A new iterator."""
        if self.num_workers == 0 or browser.HERE:
            if self.num_workers:
                once(_NO_WORKERS)
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @property
    def multiprocessing_context(self) -> Any:
        """How workers start, as a context of `multiprocessing`; None for the way that is usual here.

        Example:
            >>> from vistorch.utils.data import DataLoader
            >>> loader = DataLoader(range(3), num_workers=1, multiprocessing_context="spawn")
            >>> loader.multiprocessing_context.get_start_method()
            'spawn'
        """
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, multiprocessing_context: Any) -> None:
        if multiprocessing_context is not None:
            multiprocessing_context = _checked_context(multiprocessing_context, self.num_workers)
        self.__multiprocessing_context = multiprocessing_context

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in FIXED:
            raise ValueError(
                f"{attr} attribute should not be set after {self.__class__.__name__} is initialized"
            )
        super().__setattr__(attr, val)

    def __iter__(self) -> Any:
        if not self.persistent_workers or self.num_workers == 0 or browser.HERE:
            return self._get_iterator()
        if self._iterator is None or self._iterator._broken is not None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What yields the index of each task."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        # A stream may say how long it is; the loader remembers to compare.
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn if there are more workers than this process has processors.

        Example:
            >>> import warnings
            >>> from vistorch.utils.data import DataLoader
            >>> with warnings.catch_warnings(record=True) as said:
            ...     warnings.simplefilter("always")
            ...     loader = DataLoader(range(3), num_workers=10_000)  # checks when it is made
            >>> print(str(said[0].message)[:60])
            This DataLoader will create 10000 worker processes in total.
        """
        if not self.num_workers or browser.HERE:
            return
        has_affinity = hasattr(os, "sched_getaffinity")
        most = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count()
        if most is None:
            hint = "DataLoader is not able to compute a suggested max number of worker in current system."
        elif self.num_workers > most:
            hint = (
                f"Our suggested max number of worker in current system is {most}"
                f"{'' if has_affinity else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                "DataLoader is going to create."
            )
        else:
            return
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. {hint} Please be aware that "
            "excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to "
            "avoid potential slowness/freeze if necessary.",
            stacklevel=2,
        )


def _check_numbers(num_workers: int, timeout: float, prefetch_factor: Any, persistent_workers: bool) -> None:
    """Refuse what does not go together with the number of workers."""
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Refuse, for a stream, what needs indices."""
    if shuffle not in {False, None}:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
        )
    if sampler is not None:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}"
        )
    if batch_sampler is not None:
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified batch_sampler option, but got "
            f"batch_sampler={batch_sampler}"
        )


def _checked_context(context: Any, num_workers: int) -> Any:
    """A context of `multiprocessing`, given itself or by its name."""
    import multiprocessing.context

    if num_workers <= 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(context, str):
        known = multiprocessing.get_all_start_methods()
        if context not in known:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{known!r}, but got multiprocessing_context={context!r}"
            )
        context = multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context
