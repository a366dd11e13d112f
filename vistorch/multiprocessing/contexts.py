"""Processes and contexts: Python's, with what tensors, notebooks and crashes need.

Invariant: a process started here ends when its parent is gone, however that one went.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.context as context
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import wait
from typing import Any

from ..engine import browser
from .memory_server import server
from .notebook_pickle import Carried, interactive, nameless_main
from .pool import Pool as _Pool

_DYING = 5  # seconds that an orphan has to end by itself


class Carrying:
    """The part of a process that is ours."""

    _home: Any = None
    _popen: Any
    _parent_pid: int
    sentinel: Any

    def start(self) -> None:
        """Start the process."""
        browser.refuse("Process.start()", browser.PROCESSES, "call the function itself")
        self._home = server.address()
        with nameless_main():
            super().start()  # type: ignore[misc]

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the process.

        Args:
            timeout: seconds after which to wait no longer.
        """
        self._check_closed()  # type: ignore[attr-defined]
        if self._popen is not None and self._parent_pid == os.getpid():
            end = None if timeout is None else time.monotonic() + timeout
            while self._popen.poll() is None:
                rest = 1.0 if end is None else end - time.monotonic()
                if rest <= 0:
                    break
                # A child of the child may keep the sentinel open: look again every second.
                server.attend([self.sentinel], min(rest, 1.0))
            timeout = None if end is None else max(0.0, end - time.monotonic())
        super().join(timeout)  # type: ignore[misc]

    def is_alive(self) -> bool:
        """Whether the process runs."""
        if self._popen is not None and self._parent_pid == os.getpid():
            server.attend([self.sentinel], 0)
        return super().is_alive()  # type: ignore[misc]

    def _bootstrap(self, parent_sentinel: Any = None) -> int:
        server.home = self._home
        if parent_sentinel is not None:
            threading.Thread(
                target=_end_with_parent, args=(parent_sentinel,), name="vistorch parent watch", daemon=True
            ).start()
        return super()._bootstrap(parent_sentinel)  # type: ignore[misc]

    def _after_fork(self) -> None:
        super()._after_fork()  # type: ignore[misc]
        server.will_leave()

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not interactive():
            return super().__reduce_ex__(protocol)
        return _restored, (Carried((type(self), dict(self.__dict__))),)


def _restored(carried: Carried) -> Any:
    """The process that a pickle made in a notebook describes."""
    cls, state = carried.value
    made = cls.__new__(cls)
    made.__dict__.update(state)
    return made


def _end_with_parent(sentinel: Any) -> None:
    """Wait until the parent is gone, then end this process."""
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_DYING)
    os._exit(1)


class Contexts:
    """The part of a context that is ours."""

    def get_context(self, method: str | None = None) -> Any:
        """The context of a start method; this one if None.

        Args:
            method: "fork", "spawn" or "forkserver".

        Example:
            >>> import vistorch.multiprocessing as mp
            >>> mp.get_context("spawn").get_start_method()
            'spawn'
        """
        if method is None:
            return self
        if method not in CONTEXTS:
            raise ValueError(f"cannot find context for {method!r}")
        found = CONTEXTS[method]
        found._check_available()
        return found

    def Pool(
        self,
        processes: int | None = None,
        initializer: Any = None,
        initargs: Any = (),
        maxtasksperchild: int | None = None,
    ) -> Any:
        """A pool of processes that calls are given to.

        Args:
            processes: how many; as many as there are processors if None.
            initializer: what each calls first.
            initargs: with which arguments.
            maxtasksperchild: after how many calls a process is replaced.

        Example:
            >>> import vistorch
            >>> import vistorch.multiprocessing as mp
            >>> with mp.get_context("spawn").Pool(1) as pool:
            ...     pool.apply(vistorch.add, (vistorch.ones(2), 2))
            tensor([3., 3.])
        """
        return _Pool(processes, initializer, initargs, maxtasksperchild, context=self.get_context())


if browser.HERE:
    for _name in (
        "Array Barrier BoundedSemaphore Condition Event JoinableQueue Lock Manager Pipe Pool Queue RLock RawArray "
        "RawValue Semaphore SimpleQueue Value"
    ).split():
        _says = browser.refusing(
            f"multiprocessing.{_name}()", browser.PROCESSES, "work with plain objects in this one"
        )
        setattr(Contexts, _name, _says)


class Process(Carrying, multiprocessing.Process):
    """A process of the default start method.

    Args:
        group: always None.
        target: what it calls.
        name: its name.
        args: with which arguments; tensors among them are shared.
        kwargs: with which named arguments.
        daemon: whether it ends with this process instead of being waited for.

    Example:
        >>> import vistorch
        >>> import vistorch.multiprocessing as mp
        >>> x = vistorch.zeros(2)
        >>> process = mp.get_context("spawn").Process(target=vistorch.add, args=(x, 2), kwargs={"out": x})
        >>> process.start()
        >>> process.join()
        >>> x  # shared, not copied: what the process wrote is seen here
        tensor([2., 2.])
    """


class DefaultContext(Contexts, context.BaseContext):
    """The context of whatever start method `multiprocessing` uses."""

    Process = Process

    def get_context(self, method: str | None = None) -> Any:
        """The context of a start method; of the default one if None.

        Args:
            method: "fork", "spawn" or "forkserver".

        Example:
            >>> import vistorch.multiprocessing as mp
            >>> mp.get_context("spawn").get_start_method()
            'spawn'
        """
        return super().get_context(method or multiprocessing.get_start_method())

    set_start_method: Any = staticmethod(multiprocessing.set_start_method)
    get_start_method: Any = staticmethod(multiprocessing.get_start_method)
    get_all_start_methods = staticmethod(multiprocessing.get_all_start_methods)
    if browser.HERE:
        get_all_start_methods = staticmethod(lambda: [])


class SpawnProcess(Carrying, context.SpawnProcess):
    """A process that starts anew."""


class SpawnContext(Contexts, context.SpawnContext):
    """Processes that start anew."""

    Process = SpawnProcess


CONTEXTS: dict[str, Any] = {"spawn": SpawnContext()}

if sys.platform != "win32":

    class ForkProcess(Carrying, context.ForkProcess):
        """A process that begins as a copy of this one."""

    class ForkContext(Contexts, context.ForkContext):
        """Processes that begin as copies of this one."""

        Process = ForkProcess

    class ForkServerProcess(Carrying, context.ForkServerProcess):
        """A process that begins as a copy of a small server."""

    class ForkServerContext(Contexts, context.ForkServerContext):
        """Processes that begin as copies of a small server."""

        Process = ForkServerProcess

    CONTEXTS.update(fork=ForkContext(), forkserver=ForkServerContext())

default = DefaultContext()
_Pool._contexts = default
