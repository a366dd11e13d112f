"""A store behind a port: one process serves it, all use it.

Invariant: the server answers only clients that proved the token (`frames`), and listens on the address it was given,
which is 127.0.0.1 unless its user names another.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from datetime import timedelta
from typing import Any

from ..engine import browser
from . import frames
from .errors import DistNetworkError
from .job_token import token
from .store import _AT_ONCE, Store, Table

WATCH = "watch"  # a client that asks for this is watched: see lifeline.py
_SERVERS: dict[int, Server] = {}  # by port, for stores of this process that share one


class Server:
    """Serves one table. A thread for each client.

    Args:
        host: the address to listen on.
        port: the port; 0 for any.
        secret: the token.
    """

    def __init__(self, host: str, port: int, secret: bytes) -> None:
        self.table, self.secret = Table(), secret
        self.lock = threading.Lock()
        self.watched: dict[tuple[str, int], socket.socket] = {}  # (job, rank) -> its connection
        self.ended: dict[tuple[str, int], bytes] = {}  # (job, rank) -> why, the first one first
        self.open: set[socket.socket] = set()
        try:
            self.socket = socket.create_server((host, port), backlog=256)
        except OSError as error:
            raise DistNetworkError(
                f"The server socket has failed to listen on {host}:{port}: {error.strerror or error}. Take "
                "another port (MASTER_PORT), or 0 for any."
            ) from None
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="vistorch-store").start()

    def close(self) -> None:
        """Listen no more, and let the clients go."""
        # shutdown wakes the thread that accepts; close alone would leave the port listening until then
        for one in (self.socket, *self.open):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        self.open.add(connection)
        try:
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if not frames.accept(connection, self.secret):
                    return
                while True:
                    what, *fields = frames.receive(connection)
                    name = what.decode()
                    if name == WATCH:
                        return self._watch(connection, int(fields[0]), fields[1].decode())
                    frames.send(connection, *self._answer(name, fields))
        except (OSError, DistNetworkError, ValueError, LookupError, UnicodeDecodeError, TypeError):
            return  # a client that is gone, or does not speak as clients do
        finally:
            self.open.discard(connection)

    def _answer(self, name: str, fields: list[bytes]) -> tuple:
        if name in _AT_ONCE:
            if name == "check":
                return b"1", self.table.do(name, *[key.decode() for key in fields])
            first: list[Any] = [fields[0].decode()] if fields else []
            return b"1", self.table.do(name, *first, *fields[1:])
        if name in ("get", "wait", "queue_pop"):
            found = self.table.do_within(name, float(fields[0]), *[key.decode() for key in fields[1:]])
            return (b"0",) if found is None else (b"1", found)
        raise LookupError(name)

    def _watch(self, connection: socket.socket, rank: int, job: str) -> None:
        """Keep a rank's connection; when it ends, say so to the others."""
        with self.lock:
            self.watched[job, rank] = connection
            for (other, number), why in self.ended.items():
                if other == job:
                    frames.send(connection, "ended", number, why)
        try:
            what, *rest = frames.receive(connection)
        except (OSError, DistNetworkError):
            what, rest = b"ended", [b""]
        if what == b"bye":
            return self.farewell(job, rank)
        with self.lock:
            self.watched.pop((job, rank), None)
            self.ended[job, rank] = rest[0] if rest else b""
            self._spread(job, "ended", rank, self.ended[job, rank])

    def farewell(self, job: str, rank: int) -> None:
        """Say to the others that a rank has left.

        Args:
            job: the name of the job.
            rank: which rank of it.
        """
        with self.lock:
            self.watched.pop((job, rank), None)
            self._spread(job, "left", rank)

    def _spread(self, job: str, *fields: Any) -> None:
        for (other, _), connection in list(self.watched.items()):
            if other == job:
                try:
                    frames.send(connection, *fields)
                except OSError:
                    pass


def connect(host: str, port: int, seconds: float, secret: bytes) -> socket.socket:
    """Connect to a server, and wait until there is one.

    Args:
        host: its address.
        port: its port.
        seconds: how long to try.
        secret: the token.
    """
    end, pause = time.monotonic() + seconds, 0.01
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=max(0.1, end - time.monotonic()))
        except OSError as error:
            if time.monotonic() >= end:
                raise DistNetworkError(
                    f"The client socket has timed out after {seconds * 1000:.0f}ms while trying to connect to "
                    f"({host}, {port}): {error.strerror or error}. Is rank 0 running, and are MASTER_ADDR and "
                    "MASTER_PORT its own?"
                ) from None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)
            continue
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            frames.greet(connection, secret)
        except BaseException:
            connection.close()
            raise
        connection.settimeout(None)
        return connection


class TCPStore(Store):
    """A store that one process serves and others use. Only processes that know the job's token are answered.

    Args:
        host_name: the address of the server, which listens there and nowhere else.
        port: its port; 0 for any, with `is_master`.
        world_size: how many processes use it.
        is_master: whether this process serves it.
        timeout: how long to wait for a key, and for the server.
        wait_for_workers: whether the server waits until all processes are there.
        multi_tenant: whether several stores of this process may share a port.
        master_listen_fd: PyTorch's; not used.
        use_libuv: PyTorch's; not used.

    Example:
        >>> from vistorch import distributed as dist
        >>> server = dist.TCPStore("127.0.0.1", 0, 1, is_master=True)
        >>> client = dist.TCPStore(server.host, server.port, 1)
        >>> client.set("key", "value")
        >>> server.get("key"), server.libuvBackend
        (b'value', False)
        >>> client.close(); server.close()
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        browser.refuse("TCPStore()", browser.PROCESSES, "use a HashStore, which is for one process")
        super().__init__()
        if not 0 <= int(port) < 2**16:
            raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
        self._timeout, self._host, secret = timeout, host_name, token()
        self._server: Server | None = None
        if is_master:
            shared = _SERVERS.get(int(port)) if multi_tenant else None
            self._server = shared or Server(host_name, int(port), secret)
            if multi_tenant:
                _SERVERS[self._server.port] = self._server
            port = self._server.port
        self._port, self._lock, self._pid = int(port), threading.Lock(), os.getpid()
        self._connection = connect(host_name, self._port, timeout.total_seconds(), secret)
        if world_size is not None and world_size > 0 and wait_for_workers:
            self.add("worker-count", 1)
            if is_master:
                self._all_there(world_size, timeout)

    def _all_there(self, world_size: int, timeout: timedelta) -> None:
        end = time.monotonic() + timeout.total_seconds()
        while (here := self.add("worker-count", 0)) < world_size:
            if time.monotonic() > end:
                raise DistNetworkError(
                    f"Timed out after {timeout.seconds + 1} seconds waiting for clients. {here}/{world_size} "
                    "clients joined."
                )
            time.sleep(0.005)

    @property
    def host(self) -> str:
        """The address of the server."""
        return self._host

    @property
    def port(self) -> int:
        """The port of the server."""
        return self._port

    @property
    def libuvBackend(self) -> bool:
        """False: the server is a thread of Python."""
        return False

    def clone(self) -> TCPStore:
        """A second connection to the same server."""
        return TCPStore(self._host, self._port, timeout=self._timeout)

    def close(self) -> None:
        """Close the connection, and the server if it is here."""
        self._connection.close()
        if self._server is not None:
            _SERVERS.pop(self._port, None)
            self._server.close()

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None and self._pid == os.getpid():
            connection.close()
            if self._server is not None and _SERVERS.get(self._port) is not self._server:
                self._server.close()

    def _ask(self, *fields: Any) -> list[bytes]:
        with self._lock:
            try:
                frames.send(self._connection, *fields)
                return frames.receive(self._connection)
            except (OSError, DistNetworkError) as error:
                raise DistNetworkError(
                    f"the store at {self._host}:{self._port} is gone ({error}): the process that served it has ended."
                ) from None

    def _do(self, what: str, *fields: Any) -> Any:
        return self._ask(what, *fields)[1]

    def _do_within(self, what: str, seconds: float, *keys: str) -> Any:
        end = time.monotonic() + seconds
        while True:  # in short turns, so that an interrupt ends the wait
            found = self._ask(what, min(1.0, max(0.0, end - time.monotonic())), *keys)
            if found[0] == b"1":
                return found[1]
            if time.monotonic() >= end:
                return None
