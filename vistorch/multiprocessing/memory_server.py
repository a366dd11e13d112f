"""The memory server of a process: where other processes fetch the memory that it has offered them.

A tensor in a queue is a note that says at which server its memory waits, and under which token. A process that ends
before its notes were read leaves what they stand for at the server of its parent, which looks there when it joins it.

Invariant: an offered segment stays mapped until someone took it. A server has an address as soon as a child may need
it, and a thread only from the first offer on.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from multiprocessing import process, util
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from ..engine.memory.shared_memory import Segment, ledger

PATIENCE = 30  # seconds until someone who says nothing is given up
KEPT_FOR = 300  # seconds that a parent keeps what an ended child left
TOKEN = 16
SIZE = struct.Struct("!Q")
YES, NO, ASK, LEAVE = b"!", b"-", b"?", b"+"
GONE = (
    "the process that sent this tensor ended before the tensor was received, and its memory with it; let it live until "
    "then, for example by joining it after the last get()"
)


class Offer(NamedTuple):
    """The note that stands for a segment: at which server it waits, its token, and where it may be left."""

    address: bytes
    token: bytes
    parent: bytes | None


class Home(NamedTuple):
    """What a child knows of its parent's server: the address, and the token that lets it leave things there."""

    address: bytes
    token: bytes


class MemoryServer:
    """Gives memory to the processes that come for it."""

    def __init__(self) -> None:
        self.home: Home | None = None
        self._open()

    def _open(self) -> None:
        self.lock = threading.RLock()
        self.offers: dict[bytes, Segment] = {}
        self.kept: dict[bytes, tuple[Segment, float]] = {}
        self.socket: socket.socket | None = None
        self.name = b""
        self.password = b""
        self.thread: threading.Thread | None = None
        self.leaving = False

    def forked(self) -> None:
        """In a forked child: the parent's server is not this process's."""
        if self.socket is not None:
            self.socket.close()
        self._open()

    # ---- of the process that offers -------------------------------------------------------------------------------
    def address(self) -> Home:
        """Where this server is, for a child."""
        with self.lock:
            if self.socket is None:
                made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                made.bind(_nowhere())
                made.listen(128)
                name = made.getsockname()
                self.name = name.encode() if isinstance(name, str) else name
                self.password, self.socket = os.urandom(TOKEN), made
            return Home(self.name, self.password)

    def offer(self, segment: Segment) -> Offer:
        """Keep a segment until someone takes it."""
        token = os.urandom(TOKEN)
        with self.lock:
            address = self.address().address
            self.offers[token] = segment
            if self.thread is None:
                self.thread = threading.Thread(target=self._serve, name="vistorch memory server", daemon=True)
                self.thread.start()
                if process.parent_process() is not None:
                    self.will_leave()
        return Offer(address, token, None if self.home is None else self.home.address)

    def _serve(self) -> None:
        while True:
            self._answer()

    def _answer(self) -> None:
        """Serve one visitor. Whatever is wrong with it is its own trouble."""
        assert self.socket is not None
        try:
            visitor = self.socket.accept()[0]
        except OSError:
            time.sleep(0.05)  # no descriptor is free: the visitor waits
            return
        with visitor:
            try:
                _trusted(visitor)
                wish, token = _exactly(visitor, 1), _exactly(visitor, TOKEN)
                if wish == ASK:
                    self._give(visitor, token)
                elif wish == LEAVE and token == self.password:
                    self._keep(visitor)
            except (OSError, EOFError):
                pass

    def _give(self, visitor: socket.socket, token: bytes) -> None:
        segment = self._mine(token)
        if segment is None:
            visitor.sendall(NO)
            return
        try:
            socket.send_fds(visitor, [YES + SIZE.pack(segment.size)], [segment.fd])
            _exactly(visitor, 1)
        except (OSError, EOFError):
            with self.lock:
                self.offers[token] = segment
            raise

    def _keep(self, visitor: socket.socket) -> None:
        """Take over what an ending child offered."""
        visitor.sendall(YES)
        now = time.monotonic()
        with self.lock:
            for token in [t for t, (_, since) in self.kept.items() if since < now - KEPT_FOR]:
                del self.kept[token]
        while True:
            token, fd, size = _received(visitor, TOKEN)
            with self.lock:
                self.kept[token] = ledger.adopt(fd, size), now
            visitor.sendall(YES)

    def _mine(self, token: bytes) -> Segment | None:
        """What waits here under a token; it waits no longer."""
        with self.lock:
            found = self.offers.pop(token, None)
            if found is None and token in self.kept:
                found = self.kept.pop(token)[0]
            return found

    # ---- of a process that waits for a child ------------------------------------------------------------------------
    def attend(self, sentinels: Any, timeout: float | None = None) -> list:
        """Wait until one of some children has ended, and let children leave things here meanwhile.

        Args:
            sentinels: of the children.
            timeout: seconds after which to wait no longer.
        """
        sentinels = list(sentinels)
        if self.socket is None or self.thread is not None:  # the thread lets them
            return wait(sentinels, timeout)
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            rest = None if end is None else max(0.0, end - time.monotonic())
            ready = wait([*sentinels, self.socket], rest)
            if self.socket in ready:
                self._answer()
                ready.remove(self.socket)
                if not ready:
                    continue
            return ready

    # ---- of a process that ends -------------------------------------------------------------------------------------
    def will_leave(self) -> None:
        """In a child: when it ends, after its queues (-5) have written all their notes, its offers are looked after.

        Not at the first offer: a queue's thread may make that one when the list of what is to be done is read already.
        """
        if not self.leaving:
            self.leaving = True
            util.Finalize(None, self.leave, exitpriority=-20)

    def leave(self) -> None:
        """Wait until everything offered was taken, or leave it with the parent, whichever is sooner."""
        if not self.offers:
            return
        parent: Any = process.parent_process()
        end = (
            None if self.home else time.monotonic() + PATIENCE
        )  # a parent without a server is not waited for long
        try:
            while self.offers and not wait([parent.sentinel], 0):
                if self.home is not None:
                    with _visit(self.home.address) as channel:
                        self._leave_at(channel, self.home.token, parent)
                elif end is not None and time.monotonic() > end:
                    return
                else:
                    time.sleep(0.02)
        except (OSError, EOFError, KeyboardInterrupt):
            pass

    def _leave_at(self, channel: socket.socket, password: bytes, parent: Any) -> None:
        channel.sendall(LEAVE + password)
        while not wait([channel, parent.sentinel], 0.02):
            if not self.offers:
                return
        _exactly(channel, 1)
        while True:
            with self.lock:
                if not self.offers:
                    return
                token, segment = self.offers.popitem()
            socket.send_fds(channel, [token + SIZE.pack(segment.size)], [segment.fd])
            _exactly(channel, 1)

    # ---- of a process that receives ---------------------------------------------------------------------------------
    def take(self, offer: Offer) -> Segment:
        """The segment that a note stands for."""
        end = time.monotonic() + PATIENCE
        while True:
            found = self._mine(offer.token)
            if found is not None:
                return found
            there = _ask(offer.address, offer.token) if offer.address != self.name else NO
            if isinstance(there, Segment):
                return there
            if offer.parent is not None and offer.parent == self.name:
                while self.socket is not None and self.thread is None and wait([self.socket], 0):
                    self._answer()
                found = self._mine(offer.token)
            elif offer.parent is not None:
                left = _ask(offer.parent, offer.token)
                found = left if isinstance(left, Segment) else None
            if found is not None:
                return found
            if there is None or time.monotonic() > end:
                raise RuntimeError(GONE)
            time.sleep(0.01)  # it is on its way from the one server to the other


def _nowhere() -> Any:
    """An address for a new server: one that needs no file, where the system has such."""
    if os.path.exists("/proc/net/unix"):
        return b""
    import tempfile

    return tempfile.mktemp(prefix="memory-", dir=util.get_temp_dir())


def _visit(address: bytes) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        channel.settimeout(PATIENCE)
        channel.connect(address)
        _trusted(channel)
    except BaseException:
        channel.close()
        raise
    return channel


def _trusted(other: socket.socket) -> None:
    """Only processes of the same user deal with each other."""
    other.settimeout(PATIENCE)
    if hasattr(socket, "SO_PEERCRED"):
        _, user, _ = struct.unpack("3i", other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.getuid():
            raise ConnectionRefusedError("another user's process")


def _ask(address: bytes, token: bytes) -> Any:
    """The segment that waits at a server; NO if it is not there, None if nobody is."""
    try:
        with _visit(address) as channel:
            channel.sendall(ASK + token)
            _, fd, size = _received(channel, 1)
            channel.sendall(YES)
            return ledger.adopt(fd, size)
    except EOFError:
        return NO
    except (ConnectionError, FileNotFoundError):
        return None


def _received(channel: socket.socket, head: int) -> tuple[bytes, int, int]:
    """A message with a descriptor: its head, the descriptor, and the size of what is behind it."""
    data, fds, _, _ = socket.recv_fds(channel, head + SIZE.size, 1)
    if not fds:
        raise EOFError
    data += _exactly(channel, head + SIZE.size - len(data))
    return data[:head], fds[0], SIZE.unpack(data[head:])[0]


def _exactly(channel: socket.socket, n: int) -> bytes:
    data = b""
    while len(data) < n:
        more = channel.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


server = MemoryServer()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=server.forked)
util.register_after_fork(server, MemoryServer.will_leave)  # for a process of Python's own that was forked
