"""How a worker process begins: by a server that has imported vistorch already, or as a context says.

The server is the standard library's fork server, a second one of our own, so that it has vistorch loaded and numerical
libraries of one thread, and so that neither it nor its children run the user's script again: what a worker needs of
`__main__` is in its luggage. It ends with this process.

Invariant: a thread that starts a process here holds no lock of ours while user code runs.
"""

from __future__ import annotations

import ctypes
import io
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import vistorch

from ....engine.kernels import threads

# What the usual numerical libraries ask, once, when they are loaded.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_TRIM_FROM, _MAP_FROM = -1, -3  # glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD
_MAPPED = 2**25  # bytes from which glibc takes memory of its own for an allocation: the most it allows
KEPT = 2**28  # bytes at the end of its heap that a worker keeps
_lock = threading.Lock()
_servers: dict[int, Any] = {}  # by the process that started it: a forked child must not wait for its parent's


@contextmanager
def one_thread_for_children(**more: str) -> Iterator[None]:
    """Let the processes started meanwhile load numerical libraries with one thread each; `more` is set as well."""
    settings = {**dict.fromkeys(THREADS, "1"), **more}
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let an interrupt wait; the processes started meanwhile begin deaf to it, until they let it through."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Do nothing on an interrupt, which the terminal sends to every process: when to leave, the main process says."""
    signal.signal(signal.SIGINT, lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def one_thread_here() -> None:
    """Compute with one thread, in the libraries that are loaded already too."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    threads.set_count(1)


def keep_freed_memory() -> None:
    """Let the C library keep what is freed: a batch's samples are made where the last batch's lay, not in fresh pages.

    Left to itself it returns the end of the heap after each batch, and the system clears the pages of the next.
    """
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):  # another C library
            mallopt = ctypes.CDLL(None).mallopt
            mallopt(_TRIM_FROM, KEPT)
            mallopt(_MAP_FROM, _MAPPED)


def has_server() -> bool:
    """Whether workers are started by our server unless a context says otherwise."""
    return sys.platform == "linux"


if has_server():
    from multiprocessing import forkserver, popen_forkserver, reduction, resource_tracker, spawn, util
    from multiprocessing.context import set_spawning_popen
    from multiprocessing.process import BaseProcess

    def _search_path() -> str:
        """Where the server finds this vistorch; before 3.13 it does not learn of our `sys.path`."""
        home = os.path.dirname(os.path.dirname(os.path.abspath(vistorch.__file__)))
        return os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))

    def _server() -> Any:
        """This process's server, running."""
        with _lock:
            server = _servers.get(os.getpid())
            if server is None:
                _servers.clear()
                server = _servers[os.getpid()] = forkserver.ForkServer()
                server.set_forkserver_preload(["vistorch.utils.data._workers.preloaded"])
            resource_tracker.ensure_running()  # first: to start it lets interrupts through again
            with one_thread_for_children(PYTHONPATH=_search_path()), interrupts_held():
                server.ensure_running()
            return server

    def _close_all(*fds: int) -> None:
        for fd in fds:
            os.close(fd)

    def _ends(pid: int, within: float = 1.0) -> bool:
        """Whether a child of ours has ended or does so soon; it is left for others to collect."""
        deadline = time.monotonic() + within
        with suppress(ChildProcessError):  # another thread has collected it
            while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.001)
        return True

    class _Launched(popen_forkserver.Popen):
        """A process forked off by our server."""

        _fds: list

        def _launch(self, process_obj: Any) -> None:
            preparation = spawn.get_preparation_data(process_obj._name)
            for key in ("init_main_from_path", "init_main_from_name"):
                preparation.pop(key, None)
            stream = io.BytesIO()
            set_spawning_popen(self)
            try:
                reduction.dump(preparation, stream)
                reduction.dump(process_obj, stream)
            finally:
                set_spawning_popen(None)
            server = _server()
            pid = server._forkserver_pid
            try:
                self._send(server, stream)
            except (ConnectionError, EOFError):
                # A killed server hangs up before the system says that it has ended, so it can pass for a running one.
                if not _ends(pid):
                    raise
                self._send(_server(), stream)

        def _send(self, server: Any, stream: io.BytesIO) -> None:
            self.sentinel, channel = server.connect_to_new_process(self._fds)
            # The child takes the end of this second descriptor for the end of its parent.
            alive = os.dup(channel)
            self.finalizer = util.Finalize(self, _close_all, (alive, self.sentinel))
            try:
                with open(channel, "wb", closefd=True) as pipe:
                    pipe.write(stream.getbuffer())
                self.pid = forkserver.read_signed(self.sentinel)
            except BaseException:
                self.finalizer()
                raise

    class ServedProcess(BaseProcess):
        """A process that our server forks off."""

        _start_method = "forkserver"

        @staticmethod
        def _Popen(process_obj: Any) -> Any:
            return _Launched(process_obj)


def expect() -> None:
    """Let our server start now, beside what this process does until it needs the first worker."""
    if has_server():
        with suppress(OSError):  # to start a worker raises it again
            _server()


def new_process(context: Any, **arguments: Any) -> Any:
    """A process that is not started yet.

    Args:
        context: a context of `multiprocessing`; None is ours.
        **arguments: what `multiprocessing.Process` takes.
    """
    if context is None and has_server():
        return ServedProcess(**arguments)
    if context is None:
        context = multiprocessing.get_context("spawn")
    return context.Process(**arguments)


def start(process: Any) -> None:
    """Start a process, its numerical libraries at one thread."""
    with interrupts_held():
        if process._start_method == "spawn":
            with _lock, one_thread_for_children():
                process.start()
        else:
            process.start()


def forks(context: Any) -> bool:
    """Whether children begin as copies of this process, so that nothing needs to be sent to them."""
    return context is not None and context.get_start_method() == "fork"
