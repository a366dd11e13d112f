"""Iterators over a loader: in this process, or by workers.

Invariant: indices are taken from the sampler, and numbers from the generator, at the moments PyTorch takes them.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
import weakref
from typing import Any

from ...engine import browser
from ...engine.base.events import listeners
from ._utils import pin_memory
from ._utils.fetch import _DatasetKind
from ._utils.worker import ExceptionWrapper
from .sampler import fresh_seed


class _Ended:
    """Emits, once, that an iteration is over, also when its iterator is simply let go.

    Args:
        loader: what is iterated over.
        weak: whether the loader refers to the iterator itself, so that it may not be held here.
    """

    def __init__(self, loader: Any, weak: bool) -> None:
        self.loader = weakref.ref(loader) if weak else lambda: loader

    def __call__(self) -> None:
        if (emit := listeners.phase) is not None:
            emit("loader_end", self.loader())


class _BaseDataLoaderIter:
    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = _pins(loader)
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = fresh_seed(loader.generator)
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0
        self._end: Any = None

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Go back to the beginning."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _emit_begin(self, loader: Any) -> None:
        """Emit that an iteration begins."""
        self._emit_end()
        if (emit := listeners.phase) is not None:
            self._end = weakref.finalize(self, _Ended(loader, self._persistent_workers))
            self._end.atexit = False
            emit("loader", loader, self)

    def _emit_end(self) -> None:
        """Emit that it is over, if that is news."""
        if self._end is not None:
            self._end()
            self._end = None

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        try:
            data = self._next_data()
        except StopIteration:
            self._emit_end()
            raise
        self._num_yielded += 1
        if self._dataset_kind == _DatasetKind.Iterable and self._IterableDataset_len_called is not None:
            self._check_length()
        return data

    def next(self) -> Any:
        """The next batch, as programs of PyTorch's first years ask for it: `dataiter.next()`."""
        return self.__next__()

    def _check_length(self) -> None:
        """Warn of a stream that is longer than it said."""
        if self._num_yielded <= self._IterableDataset_len_called:
            return
        message = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._IterableDataset_len_called}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(message, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", self.__class__.__name__)


def _pins(loader: Any) -> bool:
    """Whether batches are to be moved to page-locked memory."""
    if loader.pin_memory and loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
            f"pin_memory_device='{loader.pin_memory_device}'.",
            stacklevel=2,
        )
    if loader.pin_memory and not pin_memory.available():
        warnings.warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
            "used.",
            stacklevel=2,
        )
        return False
    return loader.pin_memory


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0 and not browser.HERE:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if self._num_workers != 0 and not browser.HERE:  # there it stands in for the workers
            raise AssertionError("_SingleProcessDataLoaderIter requires num_workers == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )
        self._emit_begin(loader)

    def _next_data(self) -> Any:
        data = self._dataset_fetcher.fetch(next(self._sampler_iter))
        return pin_memory.pin_memory(data) if self._pin_memory else data


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches made by workers.

    Each task has a number; `_waiting` knows, of the tasks that were sent and not yielded, whose they are and what came
    back. A worker that reached the end of its stream is inactive; what it was still sent never comes.
    """

    def __init__(self, loader: Any) -> None:
        from ._workers import worker_main, worker_pool  # here: who has no workers needs none of it

        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        if self._num_workers <= 0:
            raise AssertionError("num_workers must be greater than 0 for MultiProcessingDataLoaderIter")
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        plan = worker_main.Plan(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            loader.worker_init_fn,
        )
        self._broken: Exception | None = None
        self._ended = worker_main.ENDED
        self._epoch = -1
        self._pool = worker_pool.WorkerPool(
            plan, self._num_workers, self._base_seed, loader.multiprocessing_context, self._prefetch_factor
        )
        self._shutdown_workers = weakref.finalize(self, self._pool.close)
        self._reset(loader, first_iter=True)

    @property
    def _workers(self) -> list:
        """The worker processes."""
        return [member.process for member in self._pool.members]

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._epoch += 1
        self._send_idx = 0
        self._rcvd_idx = 0
        self._waiting: dict[int, list] = {}
        self._active = [True] * self._num_workers
        self._tasks_of = [0] * self._num_workers
        self._turns = itertools.cycle(range(self._num_workers))
        self._emit_begin(loader)
        try:
            if not first_iter:
                for worker in range(self._num_workers):
                    self._send(worker, None, None)
            for _ in range(self._prefetch_factor * self._num_workers):
                self._try_put_index()
        except BaseException as error:
            self._break(RuntimeError(f"DataLoader could not start its iteration: {error!r}"))
            raise

    def _send(self, worker: int, number: int | None, index: Any) -> None:
        """Send to a worker; that it has gone meanwhile is found out by waiting for its results."""
        with contextlib.suppress(OSError):
            self._pool.members[worker].send(self._epoch, number, index)

    def _try_put_index(self) -> None:
        """Send the next task to the worker whose turn it is."""
        most = self._prefetch_factor * self._num_workers
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        for _ in range(self._num_workers):
            worker = next(self._turns)
            if self._active[worker] and (
                self._in_order or self._tasks_of[worker] < most // sum(self._active)
            ):
                break
        else:
            return
        self._waiting[self._send_idx] = [worker]
        self._tasks_of[worker] += 1
        self._send_idx += 1
        self._send(worker, self._send_idx - 1, index)

    def _next_data(self) -> Any:
        if self._broken is not None:
            raise self._broken
        try:
            return self._next_answer()
        except Exception:
            raise
        except BaseException:
            # An interrupt may come at any instruction. While waiting nothing is half done; elsewhere a message may be.
            if not self._pool.waiting:
                self._break(RuntimeError("DataLoader was interrupted between two processes and cannot go on"))
            raise

    def _break(self, error: Exception) -> None:
        """Go no further: the workers leave, and who asks again gets this error."""
        self._broken = error
        self._shutdown_workers()

    def _next_answer(self) -> Any:
        """The batch whose turn it is, or, if order does not matter, whichever comes."""
        members = self._pool.members
        while True:
            expected = self._expected()
            if expected is None:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if len(expected) == 2:  # it came before it was its turn
                del self._waiting[self._rcvd_idx]
                self._rcvd_idx += 1
                return self._process_data(*expected)
            worker, message = self._receive()
            epoch, number, what, _ = message
            if epoch != self._epoch:
                members[worker].drop(message)
            elif what == self._ended:
                self._active[worker] = False
                if not self._persistent_workers:
                    self._pool.dismiss(members[worker])
                self._try_put_index()
            elif number != self._rcvd_idx and self._in_order:
                self._waiting[number].append(message)
            else:
                del self._waiting[number]
                self._rcvd_idx += number == self._rcvd_idx
                return self._process_data(worker, message)

    def _expected(self) -> list | None:
        """What is known of the first task that has not been yielded and still may be; None after the last."""
        while self._rcvd_idx < self._send_idx:
            found = self._waiting.get(self._rcvd_idx)
            if found is not None:
                if len(found) == 2 or self._active[found[0]]:
                    return found
                del self._waiting[self._rcvd_idx]
            self._rcvd_idx += 1
        return None

    def _receive(self) -> tuple[int, tuple]:
        """The next message of any worker."""
        try:
            received = self._pool.receive(self._timeout if self._timeout > 0 else None)
        except Exception as error:
            self._break(error)
            raise
        if received is None:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        return received

    def _process_data(self, worker: int, message: tuple) -> Any:
        """What a message holds, once a new task has taken its place."""
        data = self._pool.members[worker].unpack(message)
        self._tasks_of[worker] -= 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return pin_memory.pin_memory(data) if self._pin_memory else data
