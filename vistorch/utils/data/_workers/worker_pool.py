"""The main process's side: start workers, send them tasks, wait for their results, and see to it that they go.

Invariant: every process, pipe, file and mapping that a pool has made is gone after `close`, however far it got and
whatever state the workers are in; only memory that a batch still uses lives on, with the batch.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
import warnings
import weakref
from collections import deque
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

from ...._code_pickle import dumps
from . import launch, ring, worker_main
from .pickle_buffers import Luggage

GRACE = 2.0  # seconds a worker has to end the sample it is at
PATIENCE = 5.0  # seconds at most in one wait that the system may not interrupt
LEND_FROM = 2**18  # bytes from which an array is lent; a smaller one is copied, and holds up no slot
LENDS = 2  # slots a worker has for that: a loop holds the last batch while the next one is made
FORKED = "What a DataLoader's workers need cannot be sent to other processes ({}). They are made as forks of this one."
NOT_PICKLED = (
    "Got pickle error when attempting to start a worker Process. This might be because the worker Process arguments "
    "are not picklable: workers do not begin as copies of this process, as PyTorch's do on Linux before Python 3.14. "
    "You can also try multiprocessing_context='fork'."
)
_live: weakref.WeakSet[Any] = weakref.WeakSet()


class LastWords:
    """A file where a worker's interpreter writes what a deadly signal found it at."""

    def __init__(self, fd: int | None = None) -> None:
        self.fd: int = os.memfd_create("vistorch-last-words", os.MFD_CLOEXEC) if fd is None else fd

    def __reduce__(self) -> tuple:
        from multiprocessing.reduction import DupFd

        return _words_of, (DupFd(self.fd),)

    def fileno(self) -> int:
        """The file's descriptor."""
        return self.fd

    def read(self) -> str:
        """What was written."""
        return os.pread(self.fd, 2**16, 0).decode(errors="replace").strip()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.fd)


def _words_of(fd: Any) -> LastWords:
    """The file in a process that was just started."""
    return LastWords(fd.detach())


class Member:
    """One worker, as the main process sees it.

    Args:
        slots: how many batches may be between the two at once.
    """

    def __init__(self, slots: int) -> None:
        self.process: Any = None
        self.tasks: Any = None
        self.results: Any = None
        self.ring: ring.Ring | None = None
        self.words: LastWords | None = None
        self.back: deque[int] = (
            deque()
        )  # slots to tell the worker about; filled by whatever thread lets a batch go
        self.leaving = False
        if ring.supported():
            # Where there is no memory for it, or no address space, batches go through the pipe.
            with contextlib.suppress(OSError, ValueError, OverflowError):
                self.ring = ring.Ring(slots=min(slots, ring.MOST))
            with contextlib.suppress(OSError):
                self.words = LastWords()

    def send(self, epoch: int, number: int | None, index: Any) -> None:
        """Send a task; `number` None is only the news that an epoch has begun."""
        back = []
        while self.back:
            back.append(self.back.popleft())
        self.tasks.send_bytes(dumps((epoch, number, index, back)))

    def drop(self, message: tuple) -> None:
        """Let a result go unread."""
        if message[2] == worker_main.IN_SLOT:
            self.back.append(message[3][0])

    def unpack(self, message: tuple) -> Any:
        """A result as an object: an `ExceptionWrapper`, or the batch, in memory that is its own as long as it lives."""
        _, _, what, content = message
        if what != worker_main.IN_SLOT:
            return pickle.loads(content)
        assert self.ring is not None
        slot, spans, (begin, end) = content
        lent = sum(map(self.ring.busy, range(self.ring.slots))) < LENDS
        memory = self.ring.lease(slot, max(end, 1), self.back.append)
        whole: Any = memory
        shown = memoryview(whole)
        buffers = [
            shown[low:high] if lent and high - low >= LEND_FROM else memory[low:high].copy()
            for low, high in spans
        ]
        return pickle.loads(shown[begin:end], buffers=buffers)

    def cause(self) -> RuntimeError:
        """Why a worker that has ended did so."""
        pid, code = self.process.pid, self.process.exitcode
        if code is not None and code < 0:
            try:
                name = signal.strsignal(-code)
            except ValueError:
                name = str(-code)
            text = f"DataLoader worker (pid {pid}) is killed by signal: {name}. "
            if -code == getattr(signal, "SIGBUS", None):
                text += (
                    "It is possible that dataloader's workers are out of shared memory. Please try to raise your "
                    "shared memory limit."
                )
        else:
            text = (
                f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
                "multiprocessing. Rerunning with num_workers=0 may give better error trace."
            )
        words = self.words.read() if self.words is not None else ""
        return RuntimeError(f"{text}\n{words}" if words else text)

    def close(self) -> None:
        """Free everything but the process, which has ended."""
        for pipe in (self.tasks, self.results):
            if pipe is not None:
                pipe.close()
        if self.ring is not None:
            self.ring.give_up()
            self.ring.close()
        if self.words is not None:
            self.words.close()
        if self.process is not None:
            with contextlib.suppress(ValueError):  # it is still running, which `end` has done all against
                self.process.close()


class WorkerPool:
    """All workers of one iterator.

    Args:
        plan: what they do.
        number: how many there are.
        base_seed: this epoch's seed.
        context: a context of `multiprocessing`, or None.
        prefetch: how many batches each works ahead.
    """

    def __init__(
        self, plan: worker_main.Plan, number: int, base_seed: int, context: Any, prefetch: int
    ) -> None:
        self.pid = os.getpid()
        self.closed = False
        self.waiting = False  # nothing is half done: an interrupt does no harm
        self.members: list[Member] = []
        luggage, context = _packed(plan, context)
        environment = None if luggage is plan else dict(os.environ)
        try:
            for i in range(number):
                member = Member(prefetch + LENDS)
                self.members.append(member)
                post = worker_main.Post(
                    i, number, base_seed, luggage, None, None, member.ring, member.words, environment
                )
                self._hire(member, post, context)
        except BaseException:
            self.close()
            raise
        finally:
            if isinstance(luggage, Luggage):
                luggage.close()
        _live.add(self)

    def _hire(self, member: Member, post: worker_main.Post, context: Any) -> None:
        """Start a worker."""
        post.tasks, member.tasks = Pipe(duplex=False)
        member.results, post.results = Pipe(duplex=False)
        inherited = self._ends() if post.environment is None else []
        process = launch.new_process(
            context,
            target=worker_main.main,
            args=(post, inherited),
            name=f"DataLoader worker {post.number}",
            daemon=True,
        )
        try:
            launch.start(process)
            member.process = process
        finally:
            post.tasks.close()
            post.results.close()

    def _ends(self) -> list:
        """This process's ends of the pipes to all workers there are."""
        members = [m for worker_pool in {self, *_live} for m in worker_pool.members if m.tasks is not None]
        return [pipe for m in members for pipe in (m.tasks, m.results) if not pipe.closed]

    def receive(self, timeout: float | None) -> tuple[int, tuple] | None:
        """Wait for a result; (the worker's number, the message), or None when the time is over."""
        self.waiting = True
        deadline = None if timeout is None else time.monotonic() + timeout
        staff = {i: m for i, m in enumerate(self.members) if not m.leaving}
        watched = [m.results for m in staff.values()] + [m.process.sentinel for m in staff.values()]
        while True:
            left = PATIENCE if deadline is None else min(PATIENCE, max(0.0, deadline - time.monotonic()))
            self.waiting = True
            ready = wait(watched, left)
            self.waiting = False
            for i, member in staff.items():
                if member.results in ready:
                    with contextlib.suppress(EOFError, OSError):
                        return i, pickle.loads(member.results.recv_bytes())
                    raise self._fallen()
            if ready:
                # What a worker wrote before its end counts, and may have come after the wait looked.
                if not any(m.results.poll(0) for m in staff.values()):
                    raise self._fallen()
            elif deadline is not None and time.monotonic() >= deadline:
                return None

    def _fallen(self) -> RuntimeError:
        """The error for workers that have ended and should not have."""
        staff = [m for m in self.members if not m.leaving]
        for _ in range(50):  # a pipe closes a moment before its process is known to have ended
            dead = [m for m in staff if m.process.exitcode is not None]
            if dead:
                break
            time.sleep(0.02)
        else:
            dead = [m for m in staff if m.results.closed or not m.process.is_alive()] or staff
        pids = ", ".join(str(m.process.pid) for m in dead)
        error = RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly")
        error.__cause__ = dead[0].cause()
        return error

    def dismiss(self, member: Member) -> None:
        """Let one worker go that has nothing left to do."""
        if not member.leaving:
            member.leaving = True
            with contextlib.suppress(OSError):
                member.tasks.send_bytes(pickle.dumps(None))

    def close(self) -> None:
        """Send all away, and see that they go."""
        if self.closed or os.getpid() != self.pid:  # in a fork they are not ours
            return
        self.closed = True
        started = [m for m in self.members if m.process is not None]
        try:
            for member in started:
                if os.name == "posix":
                    os.set_blocking(member.tasks.fileno(), False)  # it may be stopped, its pipe full
                self.dismiss(member)
                member.results.close()  # who writes there now gets an error
            _wait_for(started, GRACE)
        finally:
            for act in ("terminate", "kill"):
                remaining = [m for m in started if m.process.is_alive()]
                for member in remaining:
                    getattr(member.process, act)()
                _wait_for(remaining, GRACE)
            for member in self.members:
                member.close()


def _packed(plan: worker_main.Plan, context: Any) -> tuple[Any, Any]:
    """A plan as it is given to workers, and the context they start in."""
    if launch.forks(context):
        return plan, context
    shared = ring.supported()
    try:
        return Luggage(plan, shared), context
    except (TypeError, AttributeError, RuntimeError, pickle.PicklingError) as error:
        # A RuntimeError is the word of locks and queues: they can be inherited, but not sent.
        if context is None and launch.has_server():
            if not isinstance(error, RuntimeError):
                warnings.warn(FORKED.format(error), stacklevel=2)
            return plan, multiprocessing.get_context("fork")
        if isinstance(error, RuntimeError):
            return Luggage(plan, shared, late=True), context
        warnings.warn(NOT_PICKLED, stacklevel=2)
        raise


def _wait_for(members: list[Member], seconds: float) -> None:
    """Wait until these have ended, or the time is over."""
    deadline = time.monotonic() + seconds
    for member in members:
        member.process.join(max(0.0, deadline - time.monotonic()))
