"""The notebook's side of ranks that stay: it starts them, gives them cells, and ends them.

Invariant: `run` comes back: when a rank fails, is killed or does not answer an interrupt, the others are interrupted,
then ended, within seconds; and when this process ends, so do the ranks.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine import browser
from ..ranks import frames
from ..ranks.agent import Agent, Failure, Settings
from ..ranks.errors import DistNetworkError

ALONE = 1.0  # seconds that the others have to fail too, once one rank has failed
PATIENCE = 3.0  # seconds that a rank has to answer an interrupt
STARTING = 120.0  # seconds that ranks have to start
_LOOK = 0.05
_TAIL = 8000  # bytes kept of what a rank wrote past Python
_PROGRAM = "import sys; from vistorch.rank_workers.worker import main; main(int(sys.argv[1]))"


class RanksGone(RuntimeError):
    """The ranks have ended."""


@dataclass
class Outcome:
    """How a cell ended on one rank.

    Args:
        rank: which.
        ok: whether it ran to its end.
        interrupted: whether it was interrupted.
        name: of the exception.
        says: its text.
        trace: its traceback, as lines.
        bound: the names that the cell bound.
        groups: how far the rank came in its process groups.
        gone: how its process ended, if it did.
    """

    rank: int
    ok: bool = False
    interrupted: bool = False
    name: str = ""
    says: str = ""
    trace: Sequence[str] = ()
    bound: Sequence[str] = ()
    groups: Sequence[Any] = ()
    gone: Failure | None = None


@dataclass
class _Rank:
    """One rank: its connection, and what it wrote past Python."""

    number: int
    connection: socket.socket
    pid: int = 0
    wrote: bytes = b""
    lock: Any = field(default_factory=threading.Lock)


class Pool:
    """Ranks that stay.

    Args:
        count: how many.
        environment: variables of theirs, beside this process's own.

    Example:
        >>> from vistorch.rank_workers.pool import Pool
        >>> pool = Pool(2)
        >>> [one.ok for one in pool.run("import os; rank = int(os.environ['RANK'])").values()]
        [True, True]
        >>> pool.run("1 / rank")[0].name
        'ZeroDivisionError'
        >>> pool.stop()
    """

    def __init__(self, count: int, environment: dict[str, str] | None = None) -> None:
        browser.refuse(
            "a pool of ranks", browser.PROCESSES, "train in this one, or use a kernel on a computer"
        )
        self.count, self.cell, self.open = count, 0, True
        self.left = False  # whether the ranks have left their process groups after the last cell
        self.messages: queue.Queue = queue.Queue()
        self.lost: dict[int, Failure] = {}
        pairs = [socket.socketpair() for _ in range(count)]
        paths = dict.fromkeys(p for p in (*sys.path, os.environ.get("PYTHONPATH", "")) if p)
        settings = Settings(
            command=lambda local: [sys.executable, "-u", "-c", _PROGRAM, str(pairs[local][1].fileno())],
            processes=count,
            environment={"PYTHONPATH": os.pathsep.join(paths), **(environment or {})},
            piped=True,
            inherited=lambda local: [pairs[local][1].fileno()],
        )
        self.agent = Agent(settings)
        self.ranks = [_Rank(number, ours) for number, (ours, _) in enumerate(pairs)]
        atexit.register(self.stop)
        try:
            self.agent.start()
            for _, theirs in pairs:
                theirs.close()
            for one, child in zip(self.ranks, self.agent.children, strict=True):
                one.pid = child.pid
                threading.Thread(target=self._listen, args=(one,), daemon=True).start()
                threading.Thread(target=self._keep, args=(one, child.stdout), daemon=True).start()
            self._started()
        except BaseException:
            self.stop()
            raise

    def _started(self) -> None:
        waiting, end = set(range(self.count)), time.monotonic() + STARTING
        while waiting:
            what, rank, _ = self._next(end)
            if what == "ready":
                waiting.discard(rank)
            elif what in ("gone", "late"):
                who = f"rank {rank}" if what == "gone" else f"ranks {', '.join(map(str, sorted(waiting)))}"
                tail = self.ranks[rank if what == "gone" else min(waiting)].wrote.decode(errors="replace")
                raise RanksGone(f"{who} did not start. {tail.strip()}".strip())

    # ---- what ranks say -----------------------------------------------------------------------------------------
    def _listen(self, one: _Rank) -> None:
        try:
            while True:
                what, cell, said = frames.receive(one.connection)
                self.messages.put((what.decode(), one.number, (int(cell), json.loads(said))))
        except (OSError, DistNetworkError, ValueError):
            self.messages.put(("gone", one.number, None))

    @staticmethod
    def _keep(one: _Rank, stream: Any) -> None:
        with stream:
            for line in iter(lambda: stream.read1(4096), b""):
                one.wrote = (one.wrote + line)[-_TAIL:]

    def _next(self, end: float) -> tuple[str, int, Any]:
        try:
            return self.messages.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            return "late", -1, None

    def written(self) -> dict[int, str]:
        """What ranks wrote past Python since it was last asked for: messages of libraries."""
        found = {}
        for one in self.ranks:
            text, one.wrote = one.wrote.decode(errors="replace"), b""
            if text:
                found[one.number] = text
        return found

    # ---- a cell -------------------------------------------------------------------------------------------------
    def run(
        self,
        cell: str,
        packed: bytes = b"",
        ranks: Sequence[int] | None = None,
        settings: dict[str, Any] | None = None,
        on_message: Callable[[str, int, dict[str, Any]], None] = lambda what, rank, said: None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> dict[int, Outcome]:
        """Run a cell on ranks, and wait for all of them.

        Args:
            cell: its text.
            packed: names that it needs (`transfer.pack`).
            ranks: which; all if None.
            settings: how: "number" of the cell, "watch".
            on_message: called with what ranks print, display and record.
            on_wait: called after each message, and about twenty times a second while nothing comes.

        Returns:
            How it ended, by rank. A KeyboardInterrupt of this process interrupts the ranks, and is raised afterwards.
        """
        chosen = list(range(self.count)) if ranks is None else list(ranks)
        if not self.open:
            raise RanksGone("the ranks have ended")
        self.cell += 1
        self.left = False
        outcomes: dict[int, Outcome] = {}
        self._drain(outcomes)
        if not self.lost:
            for rank in chosen:
                with contextlib.suppress(OSError):  # its end is reported by who listens to it
                    frames.send(
                        self.ranks[rank].connection,
                        "run",
                        self.cell,
                        json.dumps(settings or {}),
                        packed,
                        cell,
                    )
        interrupted = self._wait(set(chosen), outcomes, on_message, on_wait)
        if self.lost:
            self.stop()
        elif any(not one.ok for one in outcomes.values()):
            self._agree(outcomes)
        if interrupted:
            raise KeyboardInterrupt
        return outcomes

    def _drain(self, outcomes: dict[int, Outcome]) -> None:
        """Look at what came between two cells: it is of a thread that a cell has left, or the end of a rank."""
        with contextlib.suppress(queue.Empty):
            while True:
                what, rank, _ = self.messages.get_nowait()
                if what == "gone":
                    outcomes[rank] = self._gone(rank)

    def _gone(self, rank: int) -> Outcome:
        child = self.agent.children[rank]
        with contextlib.suppress(Exception):
            child.wait(1.0)
        code = child.returncode
        found = self.agent.failure_of(rank) or Failure(
            rank, rank, code if code is not None else -9, child.pid
        )
        self.lost[rank] = found
        return Outcome(rank, gone=found)

    def _wait(
        self, waiting: set[int], outcomes: dict[int, Outcome], on_message: Callable, on_wait: Callable
    ) -> bool:
        interrupted, failed, asked = False, None, None
        waiting -= set(self.lost)
        while waiting:
            try:
                now = time.monotonic()
                if failed is None and any(not one.ok for one in outcomes.values()):
                    failed = now
                if asked is None and failed is not None and now - failed > ALONE:
                    asked = now
                    self._interrupt(waiting)
                if asked is not None and now - asked > PATIENCE:
                    for rank in waiting:  # it answers nothing: it is in code that Python does not interrupt
                        self._kill(rank)
                    asked = now
                what, rank, message = self._next(now + _LOOK)
                on_wait()
                if what == "late":
                    continue
                if what == "gone":
                    outcomes[rank] = self._gone(rank)
                    waiting.discard(rank)
                    on_message("ended", rank, {})
                elif message[0] == self.cell:
                    if what == "done":
                        outcomes[rank] = Outcome(rank, **message[1])
                        waiting.discard(rank)
                        on_message("ended", rank, {})
                    else:
                        on_message(what, rank, message[1])
            except KeyboardInterrupt:
                if interrupted:  # asked for twice
                    for rank in waiting:
                        self._kill(rank)
                interrupted, asked = True, time.monotonic()
                self._interrupt(waiting)
        return interrupted

    def _interrupt(self, ranks: set[int]) -> None:
        for rank in ranks:
            with contextlib.suppress(ProcessLookupError):
                self.agent.children[rank].send_signal(signal.SIGINT)

    def _kill(self, rank: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.agent.children[rank].pid, signal.SIGKILL)

    def _agree(self, outcomes: dict[int, Outcome]) -> None:
        """Have all ranks leave their process groups if they do not stand at the same operation of them."""
        if len({json.dumps(one.groups) for one in outcomes.values()}) == 1 and not any(
            broken for one in outcomes.values() for *_, broken in one.groups
        ):
            return
        self.left = True
        for one in self.ranks:
            with contextlib.suppress(OSError):
                frames.send(one.connection, "leave")
        waiting, end = set(range(self.count)), time.monotonic() + PATIENCE
        while waiting:
            what, rank, _ = self._next(end)
            if what == "late":
                break
            if what == "left":
                waiting.discard(rank)
            elif what == "gone":
                waiting.discard(rank)
                outcomes[rank] = self._gone(rank)

    def control(self, request: dict[str, Any]) -> None:
        """Give all ranks a request for the cell that runs.

        Args:
            request: what their `Gate` takes.
        """
        for one in self.ranks:
            with contextlib.suppress(OSError):
                frames.send(one.connection, "control", json.dumps(request))

    def values(self, rank: int, sums: Sequence[str]) -> dict[str, Any]:
        """The arrays behind checksums that a compared cell has left on a rank; empty where they are not there.

        Args:
            rank: whose.
            sums: which.
        """
        if not self.open:
            return {}
        with contextlib.suppress(OSError):
            frames.send(self.ranks[rank].connection, "values", json.dumps(list(sums)))
            end = time.monotonic() + PATIENCE
            while True:
                what, who, message = self._next(end)
                if what == "values" and who == rank:
                    return {
                        one: np.frombuffer(base64.b64decode(data), np.dtype(kind)).reshape(shape)
                        for one, (kind, shape, data) in message[1]["values"].items()
                    }
                if what == "gone":
                    self._gone(who)
                if what in ("gone", "late"):
                    break
        return {}

    # ---- the end ------------------------------------------------------------------------------------------------
    def stop(self) -> None:
        """End the ranks: what they hold is gone."""
        if not self.open:
            return
        self.open = False
        atexit.unregister(self.stop)
        for one in self.ranks:
            with contextlib.suppress(OSError):
                frames.send(one.connection, "stop")
        end = time.monotonic() + 1.0
        while any(child.poll() is None for child in self.agent.children) and time.monotonic() < end:
            time.sleep(0.01)
        for one in self.ranks:
            with contextlib.suppress(OSError):
                one.connection.shutdown(socket.SHUT_RDWR)
            one.connection.close()
        self.agent.end()
