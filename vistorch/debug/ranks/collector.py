"""In a rank: when each part of a step began and ended, and each operation that it did with the others.

Times are those of the machine's monotonic clock, which all its processes share.

Invariant: nothing is kept of a step once it was sent, and a failure to send does not reach the loop.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from ...engine.base.events import Listener
from ...engine.base.modes import mode
from ...ranks import work
from ...ranks.group import WORLD
from .gate import Gate

EVERY = 0.1  # seconds between two messages of steps
BEAT = 0.5  # seconds between two signs of life
_OPS = 400  # operations of one step that are kept


class Collector(Listener):
    """Listens while a cell runs.

    Args:
        send: called with what is known now, from the loop's thread or from one of our own.
    """

    def __init__(self, send: Callable[..., None]) -> None:
        self.send, self.gate = send, Gate(send)
        self.optimizer: Any = None
        self.ended = threading.Event()
        self.depth, self.steps, self.number = 0, [], 0
        self.module: Any = None
        self.root: Any = None
        self.names: dict[int, str] = {}
        self.part = "start"
        self.since = self.begin = time.monotonic()
        self.sent = 0.0
        self._clear()

    def _clear(self) -> None:
        self.spans: list[list[Any]] = []
        self.ops: list[list[Any]] = []
        self.losses: list[float] = []
        self.forward_at: float | None = None

    def __enter__(self) -> Collector:
        """Start to listen."""
        self.begin = self.since = time.monotonic()
        self._beat()
        super().__enter__()
        work.listeners.append(self._op)
        threading.Thread(target=self._beats, daemon=True, name="vistorch-beats").start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop, and send the rest."""
        self.ended.set()
        super().__exit__(*exc)
        work.listeners.remove(self._op)
        self._give()
        self._beat()

    # ---- events -------------------------------------------------------------------------------------------------
    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Parts of a step."""
        if name == "forward":
            self.module = subject
            self.since = time.monotonic()
            if not self.depth and mode.on and self.forward_at is None:
                self.forward_at, self.part = self.since, "forward"
                if self.root is not subject:
                    self.root = subject
                    self.names = {id(m): at for at, m in subject.named_modules()}
            self.depth += 1
        elif name == "forward_end":
            self.depth = max(0, self.depth - 1)
        elif name == "step":
            self.step_at, self.part, self.optimizer = time.monotonic(), "optimizer", subject
        elif name == "step_end":
            self._step_end()

    step_at = 0.0
    backward_at = 0.0

    def backward(self, run: Any, outputs: tuple) -> None:
        """A backward pass begins: what came before it is the forward pass."""
        if not run.accumulate:
            return
        now = self.since = time.monotonic()
        self.depth, self.module = 0, None
        if self.forward_at is not None:
            self.spans += [["load", self._at(), self.forward_at], ["forward", self.forward_at, now]]
        self.forward_at, self.backward_at, self.part = None, now, "backward"
        data = getattr(outputs[0], "_data", None)
        if data is not None and data.size == 1:
            self.losses.append(float(data))

    def backward_end(self, run: Any, outputs: tuple) -> None:
        """It is over, and so are the operations that it waited for."""
        if run.accumulate and self.part == "backward":
            self.since = time.monotonic()
            self.spans.append(["backward", self.backward_at, self.since])
            self.part = "between"

    def _at(self) -> float:
        return self.spans[-1][2] if self.spans else self.begin

    def _step_end(self) -> None:
        now = self.since = time.monotonic()
        if not self.spans:  # a step without a pass: of a second optimizer
            return
        self.spans.append(["optimizer", self.step_at, now])
        finite = [one for one in self.losses if math.isfinite(one)]
        self.steps.append(
            {
                "number": self.number,
                "begin": self.begin,
                "end": now,
                "spans": self.spans,
                "ops": self.ops,
                "loss": sum(finite) / len(finite) if finite and len(finite) == len(self.losses) else None,
            }
        )
        if now - self.sent > EVERY or self.gate.busy:
            self._give()
        self.part = "paused"
        self.gate.pass_step(self.number, [self.optimizer])
        self.number += 1
        self.begin = self.since = time.monotonic()
        self.part = "load"
        self._clear()

    def _op(self, group: Any, name: str, number: int, what: str, begin: float, end: float) -> None:
        self.since = end
        if len(self.ops) < _OPS and len(group.ranks) > 1:
            self.ops.append([str(group.group_name), name, number, what, begin, end, self.part == "backward"])

    def _rate(self) -> float | None:
        """The learning rate of the optimizer that stepped last."""
        groups = getattr(self.optimizer, "param_groups", None)
        found = float(groups[0]["lr"]) if groups and "lr" in groups[0] else math.nan
        return found if math.isfinite(found) else None

    # ---- what is sent -------------------------------------------------------------------------------------------
    def _give(self) -> None:
        steps, self.steps, self.sent = self.steps, [], time.monotonic()
        if steps:
            self.send(steps=steps)

    def _beats(self) -> None:
        while not self.ended.wait(BEAT):
            self._beat()

    def _beat(self) -> None:
        """A sign of life: where the loop stands, even if it stands still."""
        module, group = self.module, WORLD.default
        where = self.names.get(id(module), type(module).__name__) if module is not None else ""
        self.send(
            beat={
                "now": time.monotonic(),
                "since": self.since,
                "part": self.part,
                "where": where if self.part == "forward" else "",
                "step": self.number,
                "operation": group.number if group is not None else 0,
                "backend": _backend(group),
                "memory": _memory(),
                "rate": self._rate(),
                "host": socket.gethostname(),
                "pid": os.getpid(),
            }
        )


def _backend(group: Any) -> str:
    """What moves the data of a group, also where the program has not said it."""
    found = str(group.backend) if group is not None else ""
    return "mpi" if found == "undefined" else found


def _memory() -> int:
    """Bytes that this process holds now; 0 where that is not known."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
