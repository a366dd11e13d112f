"""What a worker process does: unpack its plan, then make batches until it is asked to leave.

A thread reads what the main process sends, so that the main process never waits for a busy worker, and so that a worker
whose main process is gone leaves at once, whatever its dataset is doing.

Invariant: a worker never waits for a slot: what finds no slot goes through the pipe.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import signal
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....engine.kernels.fast.switch import onednn
from .._utils import worker as myself
from .._utils.fetch import _DatasetKind
from . import launch
from .pickle_buffers import Luggage, lay, needed, pack
from .ring import ALIGN, STRIDE, Ring, aligned

IN_SLOT, IN_PIPE, RAISED, ENDED = range(4)
DIRECT = 2**16  # a smaller array is made in private memory first
SILENT = 1.0  # seconds without a word from the main process after which to look whether it lives


@dataclass
class Plan:
    """What all workers of a loader have in common.

    Args:
        kind: which kind of dataset.
        dataset: the dataset.
        auto_collation: whether several samples make a batch.
        collate_fn: what makes a batch.
        drop_last: whether a shorter batch at the end of a stream is left out.
        worker_init_fn: called first, with the worker's number.
    """

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Any
    drop_last: bool
    worker_init_fn: Any


@dataclass
class Post:
    """What one worker is given when it starts.

    Args:
        number: the worker's number.
        number_of_workers: how many there are.
        base_seed: this epoch's seed.
        plan: the plan; packed, unless the process is a fork.
        tasks: where tasks come from.
        results: where results go.
        ring: the slots that batches are laid in, or None.
        last_words: a file for what a deadly signal leaves to say, or None.
        environment: the main process's environment; None if it is the same anyway.
    """

    number: int
    number_of_workers: int
    base_seed: int
    plan: Any
    tasks: Any
    results: Any
    ring: Ring | None
    last_words: Any
    environment: dict | None


class _Bench:
    """Where a batch is laid: the slot of this task, as far as it has room."""

    def __init__(self, ring: Ring | None) -> None:
        self.ring: Any = ring
        self.free = [] if ring is None else list(range(ring.slots))
        self.slot: int | None = None
        self.memory: Any = None
        self.at = 0

    def open(self) -> None:
        """Choose a slot for the next batch: one that nobody refers to, here or in the main process."""
        self.slot, self.at = None, 0
        ring = self.ring
        for i, slot in enumerate(self.free):
            if not ring.busy(slot):
                self.slot = self.free.pop(i)
                self.memory = ring.lease(slot, STRIDE)  # all of its addresses: it may grow while on lease
                return

    def take(self, shape: tuple, dtype: np.dtype) -> np.ndarray | None:
        """Memory for an array that will be part of the batch, if there is some left."""
        nbytes = dtype.itemsize
        for size in shape:
            nbytes *= size
        begin = aligned(self.at)
        if self.slot is None or nbytes < DIRECT or not self.ring.reserve(self.slot, begin + nbytes):
            return None
        self.at = begin + nbytes
        return self.memory[begin : self.at].view(dtype).reshape(shape)

    def give(self, stream: bytes, buffers: list) -> tuple | None:
        """Lay the rest of a batch; what the main process must know of it, or None if there is no room."""
        ring, slot = self.ring, self.slot
        if slot is None:
            return None
        size = needed(self.at, buffers, stream) + ALIGN
        if not ring.reserve(slot, size):
            return None
        spans, at = lay(self.memory, self.at, buffers)
        begin = aligned(at)
        self.memory[begin : begin + len(stream)] = np.frombuffer(stream, np.uint8)
        self.slot = None
        return slot, spans, (begin, begin + len(stream))

    def close(self) -> None:
        """Put back a slot that was not given away."""
        self.memory = None
        if self.slot is not None:
            self.free.append(self.slot)
            self.slot = None


class _Inbox:
    """What the main process has sent, read by a thread of its own."""

    def __init__(self, tasks: Any) -> None:
        self.pipe = tasks
        self.queue: queue.SimpleQueue = queue.SimpleQueue()
        self.epoch = 0
        self.parent = os.getppid()
        threading.Thread(target=self._read, name="vistorch-inbox", daemon=True).start()

    def _read(self) -> None:
        try:
            while True:
                while not self.pipe.poll(SILENT):
                    if os.getppid() != self.parent:  # a fork's pipe may be held open by its siblings
                        os._exit(1)
                message = pickle.loads(self.pipe.recv_bytes())
                if message is not None:
                    self.epoch = message[0]
                self.queue.put(message)
                if message is None:
                    return
        except (EOFError, OSError):
            os._exit(1)  # the main process is gone, without a word


class _Shift:
    """A worker at work."""

    def __init__(self, post: Post) -> None:
        self.post = post
        self.bench = _Bench(post.ring)
        self.where = f"in DataLoader worker process {post.number}"
        self.ready = False
        self.failed: Any = None  # why no task can be done
        self.ended = False
        self.fetcher: Any = None
        self.plan: Any = None
        self.epoch = 0

    def prepare(self) -> None:
        """Everything before the first task; what is raised is the answer to that task."""
        post = self.post
        try:
            seed = myself.seed_everything(post.base_seed, post.number)
            self.plan = post.plan.unpack() if isinstance(post.plan, Luggage) else post.plan
            dataset = self.plan.dataset
            myself._worker_info = myself.WorkerInfo(post.number, post.number_of_workers, seed, dataset)
            myself.batch_memory = self.bench.take
            if self.plan.worker_init_fn is not None:
                self.plan.worker_init_fn(post.number)
        except Exception:
            self.failed = myself.ExceptionWrapper(where=self.where)
        else:
            self.ready = True
            self.begin()

    def begin(self) -> None:
        """Start to read the dataset from its beginning."""
        if not self.ready:
            return
        plan = self.plan
        self.ended, self.failed = False, None
        try:
            self.fetcher = _DatasetKind.create_fetcher(
                plan.kind, plan.dataset, plan.auto_collation, plan.collate_fn, plan.drop_last
            )
        except Exception:
            self.failed = myself.ExceptionWrapper(where=self.where)

    def answer(self, index: Any) -> tuple:
        """The result of one task: (what it is, what belongs to it)."""
        if self.failed is not None:
            return RAISED, _portable(self.failed)
        try:
            self.bench.open()
            batch = self.fetcher.fetch(index)
            apart = self.bench.slot is not None
            stream, buffers = pack(batch, apart)
            laid = self.bench.give(stream, buffers) if apart else None
            if laid is not None:
                return IN_SLOT, laid
            return IN_PIPE, pack(batch, False)[0] if apart else stream
        except Exception as error:
            if isinstance(error, StopIteration) and self.plan.kind == _DatasetKind.Iterable:
                self.ended = True
                return ENDED, None
            return RAISED, _portable(myself.ExceptionWrapper(where=self.where))
        finally:
            self.bench.close()

    def run(self, inbox: _Inbox) -> None:
        """Answer tasks until asked to leave."""
        while (message := inbox.queue.get()) is not None:
            epoch, number, index, back = message
            self.bench.free.extend(back)
            if epoch != self.epoch:
                self.epoch = epoch
                self.begin()
            if number is None or self.ended or epoch != inbox.epoch:
                continue  # only news, or a task whose result nobody waits for any more
            result = pickle.dumps((epoch, number, *self.answer(index)))
            self.post.results.send_bytes(result)


def _portable(wrapper: Any) -> bytes:
    """An exception on its way, as text where its type cannot travel."""
    try:
        return pack(wrapper, False)[0]
    except Exception:
        wrapper.exc_type = RuntimeError
        return pack(wrapper, False)[0]


def _follow_environment() -> None:
    """Leave alone the oneDNN that the server has opened, where it was switched off since then."""
    if onednn.on:
        from ....engine.kernels.onednn.library import OFF, VARIABLE

        if os.environ.get(VARIABLE, "").strip().lower() in OFF:
            onednn.want(False)


def main(post: Post, inherited: list) -> None:
    """The life of a worker.

    Args:
        post: what it is given.
        inherited: the main process's ends of pipes, which a fork has copies of and must close.
    """
    for pipe in inherited:
        pipe.close()
    if post.environment is not None:
        os.environ.clear()
        os.environ.update(post.environment)
        _follow_environment()
    launch.one_thread_here()
    launch.keep_freed_memory()
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # a worker never touches CUDA
    if threading.current_thread() is threading.main_thread():
        launch.ignore_interrupts()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if post.last_words is not None:
        faulthandler.enable(post.last_words.fileno())
    inbox = _Inbox(post.tasks)
    shift = _Shift(post)
    shift.prepare()
    try:
        shift.run(inbox)
    except (BrokenPipeError, ConnectionResetError):
        pass  # nobody reads any more
