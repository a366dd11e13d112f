"""A copy of the program, made before it runs, that waits to try cures.

The copy is a forked process: model, optimizer, data and random numbers are those of the beginning, without a copy
being made of any of them. For each trial it forks once more, so that each begins from the same state.
Invariant: the program is never waited for longer than a few seconds, and no process is left behind.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import math
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from ....engine.base.namespace import real_torch
from .rerun import Body
from .sealed import Outside, Seal, shares_memory

SECONDS = 3.0  # for one trial
SIZE = 1 << 20  # of an answer


class Enough(BaseException):
    """A trial has seen what it wanted."""


# PyTorch loads this as its first optimizer is made, and makes a folder for temporary files on the way: nothing of the
# program's, and refused where the copy is sealed.
LATE = "torch._dynamo"
LOADING = 15.0  # seconds that may take


def _loads_more() -> bool:
    """Whether the program runs on PyTorch, and has made no optimizer yet."""
    return real_torch() is not None and LATE not in sys.modules


class Standby:
    """A copy that waits.

    Args:
        body: what is run again; None where that is not known.
        watching: makes what looks on: a context with `evidence` and `findings()`.
        why: why the body is not known.

    Attributes:
        why: why there is none, in words; "" where there is.
    """

    def __init__(self, body: Body | None, watching: Callable[[], Any], why: str = "") -> None:
        self.body, self.watching = body, watching
        self.pid = 0
        self.why = why or cannot()
        if self.why or body is None:
            return
        self._more = LOADING if _loads_more() else 0.0  # seconds that the first trial takes besides
        to_child, from_child = os.pipe(), os.pipe()
        self._owner = os.getpid()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # that other threads are not copied: none of them is waited for
                self.pid = os.fork()
        except OSError as error:
            self.why = f"no copy of the program could be made ({error.strerror})"
            for fd in (*to_child, *from_child):
                os.close(fd)
            return
        if not self.pid:
            code = 1
            try:
                os.close(to_child[1])
                os.close(from_child[0])
                self._wait(to_child[0], from_child[1])
                code = 0
            finally:
                os._exit(code)
        os.close(to_child[0])
        os.close(from_child[1])
        self._to, self._from = to_child[1], from_child[0]

    # ---- in the program ------------------------------------------------------------------------------------------
    def ask(self, changed: dict[str, str], losses: int) -> dict[str, Any]:
        """Try a change: {"losses", "rules", "error", "reached"}, or {"why"} where it could not be tried.

        Args:
            changed: by file, its new text.
            losses: how many are wanted.
        """
        if not self.pid or os.getpid() != self._owner:
            return {"why": self.why or "the copy of the program has ended"}
        try:
            _send(self._to, {"changed": changed, "losses": losses})
            answer = _receive(self._from, SECONDS + 2.0 + self._more)
            self._more = 0.0
        except OSError:
            answer = None
        if answer is None:
            self.end()
            self.why = "its copy ended or did not answer"
            return {"why": self.why}
        return answer

    def end(self) -> None:
        """End the copy."""
        if not self.pid or os.getpid() != self._owner:
            return
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        for fd in (self._to, self._from):
            with contextlib.suppress(OSError):
                os.close(fd)
        self.pid = 0

    # ---- in the copy ---------------------------------------------------------------------------------------------
    def _wait(self, source: int, out: int) -> None:
        parent = os.getppid()
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.disable()
        while True:
            ready, _, _ = select.select([source], [], [], 1.0)
            if os.getppid() != parent:
                return
            if not ready:
                continue
            asked = _receive(source, 10.0)
            if asked is None:
                return
            _send(out, self._trial(asked))

    def _trial(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Try in a process of its own, and end that when its time is over."""
        if _loads_more():
            with contextlib.suppress(Exception):
                importlib.import_module(LATE)
        source, out = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pid = os.fork()
        if not pid:
            try:
                os.close(source)
                _send(out, self._rehearse(asked, out))
            finally:
                os._exit(0)
        os.close(out)
        answer = _receive(source, SECONDS + 1.0)
        os.close(source)
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return answer or {"why": f"no loss came within {SECONDS:g} seconds"}

    def _rehearse(self, asked: dict[str, Any], out: int) -> dict[str, Any]:
        seal = Seal()
        seal.close((out,))
        deadline = time.monotonic() + SECONDS
        torch = real_torch()
        if torch is not None:
            torch.set_num_threads(1)  # those of the parent are not here, and would be waited for
        diagnosis = self.watching()
        wanted, passes = asked["losses"], 0

        def at_pass(p: Any) -> None:
            nonlocal passes
            passes += p.accumulates and p.loss is not None
            if passes > wanted or time.monotonic() > deadline:
                raise Enough

        diagnosis.on_pass.append(at_pass)
        error = ""
        try:
            with diagnosis:
                assert self.body is not None
                self.body.run(asked["changed"])
        except (Enough, Outside):
            pass
        except SystemExit:
            pass
        except BaseException as failed:
            error = f"{type(failed).__name__}: {failed}".splitlines()[0][:200]
        if seal.reached:
            return {"why": f"the program {seal.reached}"}
        found, ev = diagnosis.findings(), diagnosis.evidence
        return {
            "losses": [(x if math.isfinite(x) else str(x)) for x in stream(ev.losses)],
            "rules": sorted({one.rule for one in found}),
            "error": error,
            "steps": ev.steps,
        }


def stream(losses: list[tuple[int, float, Any]]) -> list[float]:
    """The losses of the line that starts most passes; of lines that start as many, the first.

    Args:
        losses: (pass, loss, place).
    """
    by: dict[Any, list[float]] = {}
    for _, loss, place in losses:
        by.setdefault(place, []).append(loss)
    return max(by.values(), key=len, default=[])


def cannot() -> str:
    """Why no copy of this process can be made, in words; "" where one can."""
    if not sys.platform.startswith("linux") or not hasattr(os, "fork"):
        return "a running program can be copied on Linux only"
    shared = shares_memory()
    if shared:
        return f"it shares memory with {shared}"
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and getattr(processes, "_children", None):
        return "other processes work for it"
    ranks = sys.modules.get("vistorch.distributed")
    if ranks is not None and getattr(ranks, "is_initialized", lambda: False)():
        return "it trains together with other processes"
    if threading.current_thread() is not threading.main_thread():
        return "it runs in a thread of its own"
    return ""


def _send(fd: int, message: Any) -> None:
    data = json.dumps(message).encode()
    data = len(data).to_bytes(8, "little") + data
    while data:
        data = data[os.write(fd, data) :]


def _receive(fd: int, seconds: float) -> Any:
    """The next message; None where it does not come in time, or the other side is gone."""
    end = time.monotonic() + seconds
    data, size = b"", 8
    while len(data) < size:
        ready, _, _ = select.select([fd], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return None
        part = os.read(fd, min(SIZE, size - len(data)))
        if not part:
            return None
        data += part
        if size == 8 and len(data) >= 8:
            size = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:])
