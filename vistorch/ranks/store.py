"""A table of names and bytes that processes share: what every store can do, and those within one process.

Invariant: a value is bytes; what waits for a key ends with `DistStoreError` when the store's timeout has passed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from .errors import DistStoreError, QueueEmptyError

_DEFAULT = timedelta(seconds=300)


def packed(value: Any) -> bytes:
    """A value as bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"a store keeps str and bytes, not {type(value).__name__}.")


class Store:
    """What a store can do. `HashStore` is in this process, `FileStore` in a file, `TCPStore` behind a port.

    Example:
        >>> from datetime import timedelta
        >>> from vistorch import distributed as dist
        >>> store = dist.HashStore()
        >>> store.set("epoch", "3"); store.get("epoch")
        b'3'
        >>> store.add("count", 2), store.add("count", 5)
        (2, 7)
        >>> store.check(["epoch", "step"]), store.num_keys(), sorted(store.list_keys())
        (False, 2, ['count', 'epoch'])
        >>> store.compare_set("epoch", "3", "4"), store.delete_key("count"), store.delete_key("count")
        (b'4', True, False)
        >>> store.append("log", "a"); store.append("log", "b")
        >>> store.multi_set(["x", "y"], ["1", "2"]); store.multi_get(["x", "y", "log"])
        [b'1', b'2', b'ab']
        >>> store.wait(["x"], timedelta(seconds=1))
        >>> store.queue_push("tasks", "first"); store.queue_len("tasks"), store.queue_pop("tasks")
        (1, b'first')
        >>> store.set_timeout(timedelta(seconds=5)); store.timeout.seconds
        5
        >>> store.has_extended_api(), store.clone() is store
        (True, True)
        >>> store.barrier("start", 1)
    """

    def __init__(self) -> None:
        self._timeout = _DEFAULT

    @property
    def timeout(self) -> timedelta:
        """How long to wait for a key."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long to wait for a key."""
        self._timeout = timeout

    def set(self, key: str, value: Any) -> None:
        """Write a value."""
        self._do("set", key, packed(value))

    def get(self, key: str) -> bytes:
        """Read a value, and wait until there is one."""
        return self._await("get", [key])

    def add(self, key: str, value: int) -> int:
        """Add to a number, which begins at 0; return the sum."""
        return int(self._do("add", key, int(value)))

    def append(self, key: str, value: Any) -> None:
        """Write behind what a key has."""
        self._do("append", key, packed(value))

    def compare_set(self, key: str, expected_value: Any, desired_value: Any) -> bytes:
        """Write a value if the key has the expected one (or none, for an empty one); return what it has then."""
        return self._do("compare_set", key, packed(expected_value), packed(desired_value))

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys have values."""
        return self._do("check", *keys) == b"1"

    def delete_key(self, key: str) -> bool:
        """Forget a key; False if there was none."""
        return self._do("delete_key", key) == b"1"

    def num_keys(self) -> int:
        """How many keys there are."""
        return int(self._do("num_keys"))

    def list_keys(self) -> list[str]:
        """The keys."""
        return [key for key in self._do("list_keys").decode().split("\n") if key]

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Read several values."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[Any]) -> None:
        """Write several values."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def queue_push(self, key: str, value: Any) -> None:
        """Put a value at the end of a queue."""
        self._do("queue_push", key, packed(value))

    def queue_len(self, key: str) -> int:
        """How many values a queue has."""
        return int(self._do("queue_len", key))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Take the first value of a queue."""
        if block:
            return self._await("queue_pop", [key])
        if not self.queue_len(key):
            raise QueueEmptyError(f"queue {key} is empty")
        return self._await("queue_pop", [key])

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys have values."""
        self._await("wait", keys, timeout)

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Wait until as many processes as there are have come here."""
        if self.add(f"{key}/count", 1) == world_size:
            self.set(f"{key}/all", "1")
        self.wait([f"{key}/all"], timeout)

    def has_extended_api(self) -> bool:
        """Whether it can append and read several keys."""
        return True

    def clone(self) -> Store:
        """A second handle on the same table."""
        return self

    def _await(self, what: str, keys: Sequence[str], timeout: timedelta | None = None) -> Any:
        timeout = self._timeout if timeout is None else timeout
        found = self._do_within(what, timeout.total_seconds(), *keys)
        if found is None:
            spelled = int(timeout.total_seconds() * 1000)
            raise DistStoreError(f"wait timeout after {spelled}ms, keys: {', '.join(keys)}")
        return found

    def _do(self, what: str, *fields: Any) -> Any:
        raise NotImplementedError

    def _do_within(self, what: str, seconds: float, *keys: str) -> Any:
        raise NotImplementedError


class Table:
    """The table itself, for the threads of one process.

    Each method takes text and bytes and gives bytes, as they travel.
    """

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.queues: dict[str, list[bytes]] = {}
        self.changed = threading.Condition()

    def do(self, what: str, *fields: Any) -> bytes:
        """Do one operation that does not wait.

        Args:
            what: its name.
            *fields: what it takes.
        """
        with self.changed:
            found = _AT_ONCE[what](self, *fields)
            self.changed.notify_all()
        return found

    def do_within(self, what: str, seconds: float, *keys: str) -> bytes | None:
        """Wait for keys; None when the time has passed.

        Args:
            what: "get", "wait" or "queue_pop".
            seconds: how long.
            *keys: the keys.
        """
        end = time.monotonic() + seconds
        where: Any = self.queues if what == "queue_pop" else self.values
        with self.changed:
            while not all(where.get(key) is not None and where.get(key) != [] for key in keys):
                left = end - time.monotonic()
                # A wait without end could not be interrupted everywhere.
                if left <= 0 or (not self.changed.wait(min(left, 1.0)) and time.monotonic() >= end):
                    return None
            if what == "queue_pop":
                return self.queues[keys[0]].pop(0)
            return self.values[keys[0]] if what == "get" else b""

    def _set(self, key: str, value: bytes) -> bytes:
        self.values[key] = value
        return b""

    def _add(self, key: str, value: Any) -> bytes:
        self.values[key] = b"%d" % (int(self.values.get(key, b"0")) + int(value))
        return self.values[key]

    def _append(self, key: str, value: bytes) -> bytes:
        return self._set(key, self.values.get(key, b"") + value)

    def _compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        held = self.values.get(key)
        if held is None and expected:
            return expected  # as PyTorch answers
        if held is None or held == expected:
            self.values[key] = desired
        return self.values[key]

    def _check(self, *keys: str) -> bytes:
        return b"1" if all(key in self.values for key in keys) else b"0"

    def _delete_key(self, key: str) -> bytes:
        return b"1" if self.values.pop(key, None) is not None else b"0"

    def _num_keys(self) -> bytes:
        return b"%d" % len(self.values)

    def _list_keys(self) -> bytes:
        return "\n".join(self.values).encode()

    def _queue_push(self, key: str, value: bytes) -> bytes:
        self.queues.setdefault(key, []).append(value)
        return b""

    def _queue_len(self, key: str) -> bytes:
        return b"%d" % len(self.queues.get(key, ()))


_AT_ONCE: dict[str, Callable[..., bytes]] = {
    name: vars(Table)[f"_{name}"]
    for name in (
        "set add append compare_set check delete_key num_keys list_keys queue_push queue_len".split()
    )
}


class HashStore(Store):
    """A store within this process.

    Example:
        >>> from vistorch import distributed as dist
        >>> store = dist.HashStore()
        >>> store.set("key", "value")
        >>> store.get("key")
        b'value'
    """

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()

    def _do(self, what: str, *fields: Any) -> Any:
        return self._table.do(what, *fields)

    def _do_within(self, what: str, seconds: float, *keys: str) -> Any:
        return self._table.do_within(what, seconds, *keys)


class PrefixStore(Store):
    """A store whose keys all begin alike in another store.

    Args:
        prefix: how they begin.
        store: the other store.

    Example:
        >>> from vistorch import distributed as dist
        >>> store = dist.HashStore()
        >>> first = dist.PrefixStore("first", store)
        >>> first.set("key", "value")
        >>> store.get("first/key"), first.underlying_store is store, first.list_keys()
        (b'value', True, ['key'])
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self._prefix, self._store = prefix, store

    @property
    def underlying_store(self) -> Store:
        """The other store."""
        return self._store

    @property
    def timeout(self) -> timedelta:
        """How long to wait for a key: the other store's."""
        return self._store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long to wait for a key."""
        self._store.set_timeout(timeout)

    def list_keys(self) -> list[str]:
        """The keys that begin so, without their beginning."""
        start = f"{self._prefix}/"
        return [key[len(start) :] for key in self._store.list_keys() if key.startswith(start)]

    def _do(self, what: str, *fields: Any) -> Any:
        if what == "check":
            fields = tuple(f"{self._prefix}/{key}" for key in fields)
        elif fields:
            fields = (f"{self._prefix}/{fields[0]}", *fields[1:])
        return self._store._do(what, *fields)

    def _do_within(self, what: str, seconds: float, *keys: str) -> Any:
        return self._store._do_within(what, seconds, *(f"{self._prefix}/{key}" for key in keys))

    def _await(self, what: str, keys: Sequence[str], timeout: timedelta | None = None) -> Any:
        return super()._await(what, keys, self.timeout if timeout is None else timeout)
