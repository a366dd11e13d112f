"""`spawn`: one function in several processes, which stand and fall together.

Invariant: when one process fails, the others are ended before its error is raised here, with its traceback.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..engine import browser
from ..engine.kernels import threads
from ..engine.library_name import library
from .contexts import default
from .memory_server import server

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
log = logging.getLogger(__name__)
# A report must fit into a pipe that nobody reads yet.
_LONGEST = 30_000
_PR_SET_PDEATHSIG = 1


class ProcessException(Exception):
    """Why one of several processes failed.

    Args:
        msg: the sentence.
        error_index: which process.
        error_pid: its number in the system.

    Example:
        >>> import os
        >>> import vistorch.multiprocessing as mp
        >>> try:
        ...     mp.spawn(os._exit, nprocs=2)  # each process exits with its number
        ... except mp.ProcessException as error:
        ...     print(error.error_index, error.msg)
        1 process 1 terminated with exit code 1
    """

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception; the sentence ends with its traceback.

    Example:
        >>> import operator
        >>> import vistorch.multiprocessing as mp
        >>> try:
        ...     mp.spawn(operator.truediv, args=(0,), nprocs=1)
        ... except mp.ProcessRaisedException as error:
        ...     print(error.msg.splitlines()[-1])
        ZeroDivisionError: division by zero
    """


class ProcessExitedException(ProcessException):
    """A process ended with a signal or an exit code.

    Args:
        msg: the sentence.
        error_index: which process.
        error_pid: its number in the system.
        exit_code: its exit code, negative for a signal.
        signal_name: the signal.

    Example:
        >>> import os
        >>> import vistorch.multiprocessing as mp
        >>> try:
        ...     mp.spawn(os._exit, nprocs=2)  # each process exits with its number
        ... except mp.ProcessExitedException as error:
        ...     print(error.error_index, error.exit_code, error.signal_name)
        1 1 None
    """

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _wrap(fn: Callable, i: int, args: tuple, report: Any, nprocs: int) -> None:
    """What each process runs."""
    _interrupted_with_parent()
    threads.among(nprocs)
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted too, and says so
    except Exception:
        text = traceback.format_exc().encode(errors="replace")
        if len(text) > _LONGEST:
            text = text[: _LONGEST // 2] + b"\n...\n" + text[-_LONGEST // 2 :]
        report.send_bytes(text)
        sys.exit(1)


def _interrupted_with_parent() -> None:
    """Have the system interrupt this process when its parent dies, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT))


class ProcessContext:
    """Processes that were started together.

    Args:
        processes: the processes.
        error_files: for each, the end of a pipe from which its traceback is read.

    Example:
        >>> import operator
        >>> import vistorch.multiprocessing as mp
        >>> context = mp.spawn(operator.add, args=(1,), nprocs=2, join=False)
        >>> len(set(context.pids()))
        2
        >>> while not context.join():  # each call returns when one more has ended
        ...     pass
        >>> [process.exitcode for process in context.processes]
        [0, 0]
    """

    def __init__(self, processes: list, error_files: list) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes in the system."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for one or more processes to end; True once all have.

        When one failed, the others are ended and its error is raised.

        Args:
            timeout: seconds after which to wait no longer.
            grace_period: seconds that the others have to end by themselves when one failed.
        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in server.attend(self.sentinels, timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._end_all(grace_period)
        self._raise(failed)
        return True

    def _end_all(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._wait(grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning("Terminating process %s via signal SIGTERM", process.pid)
                process.terminate()
        self._wait(30 if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning(
                    "Unable to shutdown process %s via SIGTERM , forcefully exiting via SIGKILL", process.pid
                )
                process.kill()
            process.join()

    def _wait(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))

    def _raise(self, index: int) -> None:
        """The error of a process that failed."""
        process, report = self.processes[index], self.error_files[index]
        code, pid = process.exitcode, process.pid
        try:
            text = report.recv_bytes().decode() if report.poll() else None
        except EOFError:
            text = None
        if text is not None:
            start = f"\n\n-- Process {index:d} terminated with the following error:\n"
            raise ProcessRaisedException(start + text, index, pid)
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            raise ProcessExitedException(
                f"process {index:d} terminated with signal {name}", index, pid, code, name
            )
        raise ProcessExitedException(
            f"process {index:d} terminated with exit code {code:d}", index, pid, code
        )


class SpawnContext(ProcessContext):
    """The old name of `ProcessContext`.

    Example:
        >>> import warnings
        >>> from vistorch.multiprocessing import SpawnContext
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     context = SpawnContext([], [])
        >>> context.join()  # there is nobody to wait for
        True
    """

    def __init__(self, processes: list, error_files: list) -> None:
        warnings.warn("SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2)
        super().__init__(processes, error_files)


def start_processes(
    fn: Callable,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `fn(i, *args)` in several processes.

    Args:
        fn: the function; `i` is the number of the process.
        args: its other arguments; tensors among them are shared.
        nprocs: how many processes.
        join: wait for all of them. If not, the ProcessContext that does so is returned.
        daemon: whether the processes end with this one instead of being waited for.
        start_method: "spawn", "fork" or "forkserver".

    Example:
        >>> import operator
        >>> import vistorch.multiprocessing as mp
        >>> mp.start_processes(operator.truediv, args=(1,), nprocs=1)  # 0 / 1 in a process of its own
    """
    browser.refuse("start_processes()", browser.PROCESSES, "call the function itself")
    mp = default.get_context(start_method)

    def start(i: int) -> tuple:
        reader, writer = mp.Pipe(duplex=False)
        process = mp.Process(target=_wrap, args=(fn, i, args, writer, nprocs), daemon=daemon)
        process.start()
        writer.close()
        return process, reader

    if start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1":
        log.info("Starting processes in parallel.")
        with ThreadPoolExecutor(max_workers=nprocs) as executor:
            started = list(executor.map(start, range(nprocs)))
    else:
        started = [start(i) for i in range(nprocs)]
    context = ProcessContext([process for process, _ in started], [reader for _, reader in started])
    if not join:
        return context
    try:
        while not context.join():
            pass
    except KeyboardInterrupt:  # of a notebook's cell, say: nobody is left to wait for them
        context._end_all(1)
        raise
    return None


def spawn(
    fn: Callable,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `fn(i, *args)` in several processes that start anew.

    Args:
        fn: the function; `i` is the number of the process. One from a notebook cell travels with its code.
        args: its other arguments; tensors among them are shared.
        nprocs: how many processes.
        join: wait for all of them. If not, the ProcessContext that does so is returned.
        daemon: whether the processes end with this one instead of being waited for.
        start_method: always "spawn"; `start_processes` knows the others.

    Example:
        >>> import operator
        >>> import vistorch.multiprocessing as mp
        >>> try:
        ...     mp.spawn(operator.truediv, args=(0,), nprocs=1)  # 0 / 0 in a process of its own
        ... except mp.ProcessRaisedException as error:
        ...     print(str(error).splitlines()[-1])
        ZeroDivisionError: division by zero
    """
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\n"
            f"To use a different start_method use:\n\t\t {library}.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
