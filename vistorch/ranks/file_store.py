"""A store in a file that all processes can write: one line of text for each change, replayed by each reader.

Invariant: a line is appended under a lock of the file, so that readers see the same order.
"""

from __future__ import annotations

import os
import time
from binascii import a2b_base64, b2a_base64
from contextlib import contextmanager
from typing import Any

from ..engine import browser
from .store import Store, Table


class FileStore(Store):
    """A store in a file.

    Args:
        file_name: the file; it is made if it is not there.
        world_size: how many processes use it; it is removed with the last of them. -1: it stays.

    Example:
        >>> import tempfile
        >>> from vistorch import distributed as dist
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = dist.FileStore(f"{folder}/store", 1)
        ...     store.set("key", "value")
        ...     again = dist.FileStore(f"{folder}/store", 1)
        ...     print(again.get("key"), store.path == again.path)
        b'value' True
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        browser.refuse("FileStore()", browser.PROCESSES, "use a HashStore, which is for one process")
        super().__init__()
        self._path, self._read = os.fspath(file_name), 0
        self._table = Table()
        with self._locked():
            pass

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    @contextmanager
    def _locked(self) -> Any:
        """Hold the file's lock, with all that others wrote taken in; yields the file, to append to."""
        import fcntl

        with open(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(self._read)
            for line in file.read().splitlines():
                what, *fields = line.decode().split(" ")
                values = [a2b_base64(field) for field in fields]
                self._replay(what, values)
            self._read = file.tell()
            yield file

    def _replay(self, what: str, values: list[bytes]) -> Any:
        if what == "pop":
            return self._table.queues[values[0].decode()].pop(0)
        first = [values[0].decode()] if values else []
        rest: list[Any] = list(values[1:])
        return self._table.do(what, *first, *rest)

    def _append(self, file: Any, what: str, *fields: Any) -> None:
        coded = [b2a_base64(f if isinstance(f, bytes) else str(f).encode(), newline=False) for f in fields]
        file.write(b" ".join([what.encode(), *coded]) + b"\n")
        file.flush()
        self._read = file.tell()

    def _do(self, what: str, *fields: Any) -> Any:
        with self._locked() as file:
            if what not in ("check", "num_keys", "list_keys", "queue_len"):
                self._append(file, what, *fields)
            return self._table.do(what, *fields)

    def _do_within(self, what: str, seconds: float, *keys: str) -> Any:
        end, pause = time.monotonic() + seconds, 0.001
        while True:
            with self._locked() as file:
                found = self._table.do_within(what, 0.0, *keys)
                if found is not None:
                    if what == "queue_pop":
                        self._append(file, "pop", keys[0])
                    return found
            if time.monotonic() >= end:
                return None
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
