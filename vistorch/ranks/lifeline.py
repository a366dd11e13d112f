"""How a rank learns that another one has ended: a connection of each rank to one server, which notices when it breaks.

Invariant: a rank that ends without saying goodbye is reported to all others, with its traceback where it had one.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
import time
import traceback
from typing import Any

from . import frames
from .errors import DistBackendError, DistNetworkError
from .job_token import token
from .store import Store
from .tcp_store import WATCH, Server, TCPStore, connect

_KEY = "lifeline"
_GRACE = 2.0


class Lifeline:
    """One rank's connection to the server of its job.

    Args:
        store: where the server's address is written and found.
        rank: this rank; rank 0 serves.
        host: the address to serve on.
        seconds: how long to wait for the server.
    """

    def __init__(self, store: Store, rank: int, host: str, seconds: float) -> None:
        self.rank, self.server = rank, None
        inner = store
        while (under := getattr(inner, "underlying_store", None)) is not None:
            inner = under
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" and isinstance(inner, TCPStore):
            address, port = inner.host, inner.port  # the launcher's: it learns who failed first
        else:
            if rank == 0:
                self.server = Server(host, 0, token())
                store.set(_KEY, f"{host} {self.server.port}")
            address, port = store.get(_KEY).decode().split(" ")
        self.socket = connect(address, int(port), seconds, token())
        self.ours = store.get("round").decode() if rank else _round(store)
        frames.send(self.socket, WATCH, rank, self.ours)
        self.lock = threading.Lock()
        self.ended: tuple[int, str] | None = None  # the first rank that failed, and its traceback
        self.left: dict[int, float] = {}  # the ranks that said goodbye, and when
        self.served = True  # whether the server is still there

    def check(self, ranks: Any = ()) -> None:
        """Raise if another rank has failed, or if one of those waited for has left.

        Args:
            ranks: the ones that are waited for.
        """
        with self.lock:
            try:
                while self.served and self.ended is None and select.select([self.socket], [], [], 0)[0]:
                    what, *fields = frames.receive(self.socket)
                    if what == b"ended":
                        self.ended = int(fields[0]), fields[1].decode(errors="replace")
                    elif what == b"left":
                        self.left[int(fields[0])] = time.monotonic()
            except (OSError, ValueError, LookupError, DistNetworkError):
                if 0 in self.left:  # which served
                    self.served = False
                else:
                    self.ended = 0, ""
        if self.ended is not None:
            raise DistBackendError(_sentence(self.rank, *self.ended))
        for other, when in self.left.items():
            # what it sent before it left may still arrive
            if other in ranks and time.monotonic() - when > _GRACE:
                raise DistBackendError(
                    f"rank {self.rank} waited for rank {other}, which has left the job: its program has come to its "
                    "end, or called destroy_process_group."
                )

    def report(self, text: str) -> None:
        """Report to the others why this rank ends.

        Args:
            text: the traceback.
        """
        try:
            frames.send(self.socket, "ended", text.encode(errors="replace")[-60_000:])
        except OSError:
            pass

    def leave(self) -> None:
        """Say goodbye: this rank ends well."""
        try:
            frames.send(self.socket, "bye")
        except OSError:
            pass
        if self.server is not None:
            self.server.farewell(self.ours, self.rank)
            self.server.close()
        self.socket.close()


def _sentence(rank: int, other: int, text: str) -> str:
    start = f"rank {rank} waited for rank {other}, which has ended"
    if not text:
        return f"{start} without an error of its own: it was killed, or its process exited."
    return f"{start} with this error:\n\n{text.rstrip()}"


def _round(store: Store) -> str:
    """A name for this job: one server may see several, one after the other."""
    name = os.urandom(8).hex()
    store.set("round", name)
    return name


def host_for(store: Store) -> str:
    """The address to serve on: this machine's own, unless the store itself is served on another."""
    while (inner := getattr(store, "underlying_store", None)) is not None:
        store = inner
    host = getattr(store, "host", "127.0.0.1")
    try:
        return socket.gethostbyname(host)
    except OSError:
        return host


def report_uncaught(line: Lifeline) -> Any:
    """Report an exception that ends this process before Python prints it; returns what undoes that.

    Args:
        line: the connection.
    """
    before = sys.excepthook

    def say(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        line.report("".join(traceback.format_exception(kind, error, trace)))
        before(kind, error, trace)

    sys.excepthook = say

    def undo() -> None:
        if sys.excepthook is say:
            sys.excepthook = before

    return undo
