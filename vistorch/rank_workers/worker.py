"""The process of a rank that stays: it runs the cells that it is given, in a shell of its own.

Invariant: when the notebook's end of the connection is gone, so is this process, with all that it has started.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import queue
import signal
import socket
import sys
import threading
from typing import Any

from ..ranks import frames
from ..ranks.errors import DistNetworkError
from .state import Before

_LINE = 1 << 13  # letters that are sent without waiting for the end of a line


class Sender:
    """What goes to the notebook, from any thread.

    Args:
        connection: to it.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.lock, self.cell = connection, threading.Lock(), 0

    def __call__(self, what: str, **said: Any) -> None:
        """Send a message: a word and what belongs to it.

        Args:
            what: the word.
            **said: what JSON can say.
        """
        with self.lock, contextlib.suppress(OSError):
            frames.send(self.connection, what, self.cell, json.dumps(said, default=repr))


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of a rank: whole lines go to the notebook at once.

    Args:
        send: to the notebook.
        name: "stdout" or "stderr".
    """

    encoding, errors = "utf-8", "replace"  # type: ignore[assignment]

    def __init__(self, send: Sender, name: str) -> None:
        super().__init__()
        self.send, self.name, self.parts, self.size = send, name, [], 0
        self.lock = threading.RLock()

    def fileno(self) -> int:
        """The descriptor that libraries write to by themselves."""
        return 1 if self.name == "stdout" else 2

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, text: str) -> int:
        """Take a text.

        Args:
            text: what is printed.
        """
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with self.lock:
            self.parts.append(text)
            self.size += len(text)
            if "\n" in text or self.size > _LINE:
                self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was written."""
        with self.lock:
            text, self.parts, self.size = "".join(self.parts), [], 0
        if text:
            self.send("stream", name=self.name, text=text)


def _bundle(data: dict[str, Any]) -> dict[str, Any]:
    """What a display holds, as JSON can say it."""
    return {
        mime: base64.b64encode(value).decode() if isinstance(value, (bytes, bytearray)) else value
        for mime, value in data.items()
    }


def _shell(send: Sender) -> Any:
    """The shell of this process: what it displays goes to the notebook."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Hook(DisplayHook):
        """Sends the last value of a cell."""

        def write_output_prompt(self) -> None:
            """Nothing: the notebook says whose it is."""

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            """Send the value."""
            _flush()
            send("display", data=_bundle(format_dict), metadata=md_dict or {})

        def finish_displayhook(self) -> None:
            """Nothing is left to be done."""

    class Publisher(DisplayPublisher):
        """Sends what is displayed."""

        def publish(self, data: Any, metadata: Any = None, **more: Any) -> None:
            """Send a display."""
            _flush()
            send("display", data=_bundle(data), metadata=metadata or {})

        def clear_output(self, wait: bool = False) -> None:
            """Nothing: outputs are shown in the order in which they came."""

    class Shell(InteractiveShell):
        """Keeps a traceback for the notebook, which shows it."""

        displayhook_class = Hook
        display_pub_class = Publisher
        trace: list[str] = []  # noqa: RUF012

        def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
            self.trace = [str(one) for one in stb]

        def show_usage_error(self, exc: Any) -> None:
            """Keep the line of a magic that refused."""
            self.trace = [f"UsageError: {exc}"]

    config = Config(
        HistoryManager={"enabled": False}, InteractiveShell={"colors": "nocolor", "autoindent": False}
    )
    return Shell.instance(config=config)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


class Worker:
    """Runs cells, one after the other.

    Args:
        connection: to the notebook.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.send = connection, Sender(connection)
        self.asked: queue.SimpleQueue = queue.SimpleQueue()
        self.running = False
        self.shell: Any = None
        self.gate: Any = None  # where a watched cell can be held
        self.trail: Any = None  # what the newest cell left to be compared

    def serve(self) -> None:
        """Run cells until the notebook says stop, or is gone."""
        sys.stdout, sys.stderr = Stream(self.send, "stdout"), Stream(self.send, "stderr")
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._listen, daemon=True, name="vistorch-cells").start()
        self.shell = _shell(self.send)
        self.shell.run_line_magic("load_ext", "vistorch")
        self.send("ready", pid=os.getpid())
        while True:
            what, *fields = self.asked.get()
            if what == b"stop":
                return
            if what == b"leave":
                self._leave()
            elif what == b"values":
                self._values(json.loads(fields[0]))
            elif what == b"run":
                self._run(*fields)

    def _interrupted(self, number: int, frame: Any) -> None:
        if self.running:
            self.running = False  # once: what cleans up is not interrupted again
            raise KeyboardInterrupt

    def _listen(self) -> None:
        try:
            while True:
                what, *fields = frames.receive(self.connection)
                if what == b"control":  # for the cell that runs, not for after it
                    gate = self.gate
                    if gate is not None:
                        gate.ask(json.loads(fields[0]))
                else:
                    self.asked.put([what, *fields])
        except (OSError, DistNetworkError, MemoryError):
            # the notebook is gone: this process may be in the midst of a cell, and of an operation of MPI
            os.killpg(0, signal.SIGKILL) if os.getpgrp() == os.getpid() else os._exit(1)

    def _run(self, number: bytes, settings: bytes, packed: bytes, cell: bytes) -> None:
        asked = json.loads(settings)
        self.send.cell = int(number)
        shell = self.shell
        shell.trace = []
        before = Before(shell.user_ns)
        error: BaseException | None = None
        try:
            self.running = True
            shell.user_ns.update(_received(packed))
            before = Before(shell.user_ns)
            shell.execution_count = asked.get("number", 1)
            self.trail = None
            watching: Any = _collector(self.send) if asked.get("watch") else contextlib.nullcontext()
            if asked.get("compare"):
                watching = self.trail = _trail()
            self.gate = getattr(watching, "gate", None)
            with watching:
                result = shell.run_cell(cell.decode(), store_history=False)
            error = result.error_before_exec or result.error_in_exec
        except KeyboardInterrupt as interrupt:  # between the cell and us
            error = interrupt
        except Exception as failure:  # what came cannot be read here
            error = failure
            shell.trace = shell.InteractiveTB.structured_traceback(
                type(failure), failure, failure.__traceback__
            )
        finally:
            self.running, self.gate = False, None
        if type(error).__name__ == "StopRanks":  # asked for by a person: what the cell has bound is kept
            error = None
        _flush()
        if self.trail is not None:
            self.send("trail", trail=self.trail.wire())
        self.send(
            "done",
            ok=error is None,
            interrupted=isinstance(error, KeyboardInterrupt),
            name=type(error).__name__ if error is not None else "",
            says=str(error) if error is not None else "",
            trace=shell.trace if error is not None else [],
            bound=before.bound(shell.user_ns),
            groups=before.groups(),
        )
        shell.trace = []
        sys.last_value = sys.last_traceback = None  # type: ignore[assignment]

    def _values(self, sums: list[str]) -> None:
        """Send the numbers behind checksums."""
        found = self.trail.values(sums) if self.trail is not None else {}
        self.send(
            "values",
            values={
                one: [str(a.dtype), list(a.shape), base64.b64encode(a.tobytes()).decode()]
                for one, a in found.items()
            },
        )

    def _leave(self) -> None:
        """Leave the process group: the ranks do not stand at the same operation any more."""
        from ..ranks.job import leave

        leave()
        self.send("left")


def _received(packed: bytes) -> dict[str, Any]:
    """What the notebook sent along; nothing where it is empty."""
    if not packed:
        return {}
    from .transfer import unpack

    return unpack(packed)


def _collector(send: Sender) -> Any:
    from ..debug.ranks.collector import Collector

    return Collector(lambda **said: send("seen", **said))


def _trail() -> Any:
    from ..debug.ranks.parting import Trail

    return Trail()


def main(descriptor: int) -> None:
    """Be a rank, over the connection that was inherited.

    Args:
        descriptor: its number.
    """
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    Worker(connection).serve()
