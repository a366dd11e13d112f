"""The processes of a job on one machine: started together, watched, ended together, started again.

Invariant: when one of them fails, the others are gone within seconds, with the processes that they started, and nothing
of MPI's stays in shared memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..engine import browser
from .job_token import VARIABLE, fresh
from .tcp_store import Server

_TERM, _KILL = 2.0, 2.0  # seconds a process has after SIGTERM, and after SIGKILL
_PR_SET_PDEATHSIG = 1


@dataclass
class Settings:
    """What a job is started with.

    `command` is called with the local rank and gives the words of its command.
    """

    command: Callable[[int], list[str]]
    processes: int = 1
    nodes: int = 1
    node: int = 0
    host: str = "127.0.0.1"
    port: int = 0
    max_restarts: int = 0
    interval: float = 0.05
    job: str = "none"
    role: str = "default"
    environment: dict[str, str] = field(default_factory=dict)
    logs: str | None = None
    redirects: dict[int, int] = field(default_factory=dict)  # local rank -> 1 stdout, 2 stderr, 3 both
    tees: dict[int, int] = field(default_factory=dict)
    shown: Sequence[int] | None = None  # the local ranks whose output is seen; None: all
    piped: bool = False  # what a rank writes is read by who starts it: `children[local].stdout`
    inherited: Callable[[int], Sequence[int]] = lambda local: ()  # the open files that a rank gets


@dataclass
class Failure:
    """How a rank failed."""

    rank: int
    local_rank: int
    code: int
    pid: int

    def sentence(self) -> str:
        """In words."""
        if self.code < 0:
            try:
                how = f"was ended by {signal.Signals(-self.code).name}"
            except ValueError:
                how = f"was ended by signal {-self.code}"
        else:
            how = f"ended with exit code {self.code}"
        return f"rank {self.rank} (local rank {self.local_rank}, process {self.pid}) {how}"


class Agent:
    """Starts and watches the ranks of one machine.

    Args:
        settings: what the job is started with.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.children: list[subprocess.Popen] = []
        self.server: Server | None = None
        self.asked_to_end: int | None = None
        self.secret = os.environ.get(VARIABLE) or (fresh() if settings.nodes == 1 else "")

    def run(self) -> Failure | None:
        """Run the job to its end; what failed in the last attempt, or None."""
        before = {
            number: signal.signal(number, self._signalled) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            for attempt in range(self.settings.max_restarts + 1):
                failure = self._attempt(attempt)
                if failure is None or self.asked_to_end is not None or attempt == self.settings.max_restarts:
                    return failure
                left = self.settings.max_restarts - attempt
                print(
                    f"vistorch launch: {failure.sentence()}; all ranks start again ({left} restart(s) left).",
                    file=sys.stderr,
                    flush=True,
                )
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return None

    def _signalled(self, number: int, frame: Any) -> None:
        self.asked_to_end = number

    def _attempt(self, attempt: int) -> Failure | None:
        began, failure = time.time(), None
        try:
            self.start(attempt)
            failure = self._watch()
        finally:
            self.end()
        if failure is not None:
            _sweep(began)
        return failure

    def start(self, attempt: int = 0) -> None:
        """Start all ranks.

        Args:
            attempt: how often they were started before.
        """
        browser.refuse("a job of several ranks", browser.PROCESSES, "train in this one")
        settings = self.settings
        port = settings.port
        if settings.node == 0:
            self.server = Server(settings.host, port, self._token())
            port = self.server.port
        self.children = []
        for local in range(settings.processes):
            self.children.append(self._start(local, attempt, port))

    def end(self) -> None:
        """End what runs; close the store."""
        self._end_all()
        if self.server is not None:
            self.server.close()

    def failure_of(self, local: int) -> Failure | None:
        """How a rank has ended; None while it runs.

        Args:
            local: its number on this machine.
        """
        child = self.children[local]
        code = child.poll()
        return None if code is None else self._failure(local, code, child.pid)

    def _token(self) -> bytes:
        from .job_token import token

        return self.secret.encode() or token()

    def _start(self, local: int, attempt: int, port: int) -> subprocess.Popen:
        s = self.settings
        rank, world = s.node * s.processes + local, s.nodes * s.processes
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS") or str(max(1, _cores() // s.processes)),
            **s.environment,
            "LOCAL_RANK": str(local),
            "RANK": str(rank),
            "GROUP_RANK": str(s.node),
            "ROLE_RANK": str(rank),
            "ROLE_NAME": s.role,
            "LOCAL_WORLD_SIZE": str(s.processes),
            "WORLD_SIZE": str(world),
            "GROUP_WORLD_SIZE": str(s.nodes),
            "ROLE_WORLD_SIZE": str(world),
            "MASTER_ADDR": s.host,
            "MASTER_PORT": str(port),
            "TORCHELASTIC_RESTART_COUNT": str(attempt),
            "TORCHELASTIC_MAX_RESTARTS": str(s.max_restarts),
            "TORCHELASTIC_RUN_ID": s.job,
            "TORCHELASTIC_USE_AGENT_STORE": "True",
            **({VARIABLE: self.secret} if self.secret else {}),
        }
        out, err = self._streams(local, attempt)
        child = subprocess.Popen(
            s.command(local),
            env=environment,
            stdout=out,
            stderr=err,
            pass_fds=tuple(s.inherited(local)) if os.name == "posix" else (),
            start_new_session=os.name == "posix",
            preexec_fn=_ends_with_parent if sys.platform == "linux" else None,
        )
        if s.piped:
            return child
        for name, stream, given in (("stdout", child.stdout, out), ("stderr", child.stderr, err)):
            if stream is not None:
                self._tee(local, attempt, name, stream)
            elif given is not None and given is not subprocess.DEVNULL:
                given.close()
        return child

    def _streams(self, local: int, attempt: int) -> tuple[Any, Any]:
        s, found = self.settings, []
        if s.piped:
            return subprocess.PIPE, subprocess.STDOUT
        for bit, name in ((1, "stdout"), (2, "stderr")):
            if s.tees.get(local, 0) & bit:
                found.append(subprocess.PIPE)
            elif s.redirects.get(local, 0) & bit:
                found.append(open(self._log(local, attempt, name), "wb"))
            elif s.shown is not None and local not in s.shown:
                found.append(subprocess.DEVNULL)
            else:
                found.append(None)
        return found[0], found[1]

    def _log(self, local: int, attempt: int, name: str) -> Path:
        folder = Path(self.settings.logs or ".") / self.settings.job / f"attempt_{attempt}" / str(local)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.log"

    def _tee(self, local: int, attempt: int, name: str, stream: Any) -> None:
        to = sys.stdout if name == "stdout" else sys.stderr
        role = self.settings.role

        def copy() -> None:
            with open(self._log(local, attempt, name), "wb") as file:
                for line in stream:
                    file.write(line)
                    file.flush()
                    to.write(f"[{role}{local}]:{line.decode(errors='replace')}")
                    to.flush()

        threading.Thread(target=copy, daemon=True).start()

    def _watch(self) -> Failure | None:
        """Wait for all to end well, or for the first that does not."""
        running = dict(enumerate(self.children))
        while running:
            if self.asked_to_end is not None:
                number, child = next(iter(running.items()))
                return self._failure(number, -self.asked_to_end, child.pid)
            bad = []
            for local, child in list(running.items()):
                code = child.poll()
                if code is not None:
                    del running[local]
                    if code:
                        bad.append(self._failure(local, code, child.pid))
            if bad:
                return self._first(bad[0])
            time.sleep(min(self.settings.interval, 0.1))
        return None

    def _first(self, seen: Failure) -> Failure:
        """The rank that failed first, of which others may only have been the consequence."""
        if self.server is None or not self.server.ended:
            return seen
        rank = next(iter(self.server.ended))[1]
        local = rank - self.settings.node * self.settings.processes
        if not 0 <= local < len(self.children):
            return seen  # on another machine
        child = self.children[local]
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1.0)
        return self._failure(local, child.returncode, child.pid) if child.returncode else seen

    def _failure(self, local: int, code: int, pid: int) -> Failure:
        return Failure(self.settings.node * self.settings.processes + local, local, code, pid)

    def _end_all(self) -> None:
        """End what runs, politely first; and what the ranks themselves have started."""
        first = signal.SIGINT if self.asked_to_end == signal.SIGINT else signal.SIGTERM
        for child in self.children:
            if child.poll() is None:
                _signal(child, first)
        end = time.monotonic() + _TERM
        while any(child.poll() is None for child in self.children) and time.monotonic() < end:
            time.sleep(0.01)
        for child in self.children:
            if os.name == "posix":
                _signal(child, signal.SIGKILL)  # of its whole session: it may have left workers
            elif child.poll() is None:
                child.kill()
        for child in self.children:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_KILL)


def _signal(child: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(child.pid, number)
        else:
            child.send_signal(number)


_libc = ctypes.CDLL(None) if sys.platform == "linux" and not browser.HERE else None


def _ends_with_parent() -> None:
    """In the new process: be ended when the launcher is."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _sweep(began: float) -> None:
    """Remove what MPI made in shared memory since a time and no process uses: ranks that died while MPI started."""
    shared = Path("/dev/shm")
    if not shared.is_dir():
        return
    left = {str(path) for path in shared.glob("mpich_shm_*") if _ours(path, began)}
    if left:
        for maps in Path("/proc").glob("[0-9]*/maps"):
            with contextlib.suppress(OSError):
                text = maps.read_text()
                left = {path for path in left if path not in text}
    for path in left:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _ours(path: Path, began: float) -> bool:
    with contextlib.suppress(OSError):
        stat = path.stat()
        return stat.st_uid == os.getuid() and stat.st_mtime >= began - 1
    return False
