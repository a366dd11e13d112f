"""Where the storages of a file come from: the records of an archive, a mapped file, or what follows a legacy pickle.

Invariant: a storage is made once for each key; its length is what the file's own bytes can fill.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.base import dtypes
from ..engine.memory.array_memory import bytes_of
from ..engine.memory.memory_map import mapped
from ..engine.memory.storage import UntypedStorage
from ..engine.methods.typed_storage import TypedStorage
from .archive_in import ArchiveReader
from .budget import budget, refuse
from .machine import Truncated
from .options import LoadEndianness, choice, skipping

BOOL = dtypes.bool
COST = 600  # bytes of a storage besides its elements


class UnknownOrder(ValueError, RuntimeError):
    """An archive whose bytes have no known order; PyTorch raises ValueError."""


def storage_dtype(kind: Any) -> dtypes.dtype:
    """The type of the elements of a storage that a file names by its class.

    Args:
        kind: the class, as `vistorch.FloatStorage`.
    """
    found = dtypes.uint8 if kind is UntypedStorage else getattr(kind, "dtype", None)
    if type(found) is not dtypes.dtype or not isinstance(kind, type):
        raise refuse("what the file names as a storage's class is none")
    return found


def _text(value: Any) -> Any:
    """A text, also where `encoding="bytes"` left it as bytes."""
    return value.decode("ascii", "replace") if type(value) is bytes else value


def _named(saved: Any, length: int) -> tuple:
    """What stands in a pickle for a storage, checked: its type, key, location, number of elements and the rest."""
    if type(saved) is not tuple or len(saved) != length:
        raise refuse(f"a storage is named by {length} values")
    what = _text(saved[0])
    if what != "storage":
        raise refuse(f"Only persistent_load of storage is allowed, but got {type(saved[0])}")
    kind, key, location, number = storage_dtype(saved[1]), _text(saved[2]), _text(saved[3]), saved[4]
    if type(key) is not str or type(location) is not str or type(number) is not int or number < 0:
        raise refuse("a storage is named by its class, its key, its location and a number of elements")
    return kind, key, location, number, *saved[5:]


def _true_or_false(array: Any) -> Any:
    """Make every byte of a bool array 0 or 1: with others numpy counts wrongly, and writes where it should not."""
    b = bytes_of(array)
    return (b != 0).reshape(array.shape) if b.size and b.max() > 1 else array


class ArchiveStorages:
    """The storages of an archive.

    Args:
        archive: the archive.
        restore: from a storage and its location tag to a storage where it belongs.
        path: the archive's file, if it is to be mapped.
    """

    def __init__(self, archive: ArchiveReader, restore: Callable, path: Any = None) -> None:
        self._archive, self._restore = archive, restore
        self._swap = _swapped(archive)
        self._file: Any = None
        if path is not None:
            self._file = mapped(path, choice.mmap_flags == _shared(), os.path.getsize(path))
        self._known: dict[str, TypedStorage] = {}

    def persistent_load(self, saved: Any) -> TypedStorage:
        """The storage that a pickle names."""
        kind, key, location, number = _named(saved, 5)
        found = self._known.get(key)
        if found is None:
            budget.spend(COST)
            storage = UntypedStorage._of(self._array(kind, f"data/{key}", number))
            if self._swap:
                storage.byteswap(kind)
            if kind is BOOL:
                storage = UntypedStorage._of(_true_or_false(storage._array))
            found = TypedStorage(wrap_storage=self._restore(storage, location), dtype=kind, _internal=True)
            self._known[key] = found
        return found

    def _array(self, kind: dtypes.dtype, name: str, number: int) -> np.ndarray:
        """The elements of a record."""
        archive, count = self._archive, number * kind.itemsize
        if count > archive.size(name):
            raise RuntimeError(
                f"the storage {name} claims {count} bytes, but its record in the file has {archive.size(name)}"
            )
        if skipping.on:
            return np.zeros(number, kind.np)
        if self._file is not None:
            offset = archive.place(name)
            if offset is not None and offset % kind.itemsize == 0:
                return self._file[offset : offset + count].view(kind.np)
        array = np.empty(number, kind.np)
        if count:
            archive.read_into(name, bytes_of(array))
        return array


def _shared() -> Any:
    """The flag of mappings whose writes reach the file."""
    import mmap

    return getattr(mmap, "MAP_SHARED", object())


def _swapped(archive: ArchiveReader) -> bool:
    """Whether the elements of an archive have the other byte order than this machine."""
    if "byteorder" in archive:
        order = archive.read("byteorder", 64)
        if order not in (b"little", b"big"):
            raise UnknownOrder(f"Unknown endianness type: {order.decode('utf-8', 'replace')}")
        return order.decode() != sys.byteorder
    supposed = choice.endianness
    if supposed is LoadEndianness.NATIVE:
        return False
    return sys.byteorder != ("big" if supposed is LoadEndianness.BIG else "little")


class LegacyStorages:
    """The storages of a file from before 1.6: made while the pickle is read, filled afterwards.

    Args:
        restore: from a storage and its location tag to a storage where it belongs.
        left: how many bytes the file has, all storages together have no more.
    """

    def __init__(self, restore: Callable, left: int) -> None:
        self._restore, self._left = restore, left
        self._made: dict[
            str, tuple[Any, Any]
        ] = {}  # the memory on the host, and the storage where it belongs
        self._known: dict[str, TypedStorage] = {}

    def persistent_load(self, saved: Any) -> Any:
        """The storage that a pickle names, still empty; or the class of a module."""
        if type(saved) is tuple and len(saved) == 4 and _text(saved[0]) == "module":
            return saved[1]  # with it stands the source code it had, which nobody here compares
        kind, key, location, number, view = _named(saved, 6)
        found = self._known.get(key)
        if found is None:
            budget.spend(COST)
            count = number * kind.itemsize
            self._left -= count
            if self._left < 0:
                raise RuntimeError(
                    f"the storage {key[:40]} claims {count} bytes, which the file does not have"
                )
            host = UntypedStorage._of(np.zeros(number, kind.np))
            storage = self._restore(host, location)
            found = TypedStorage(wrap_storage=storage, dtype=kind, _internal=True)
            self._made[key], self._known[key] = (host, storage), found
        return found if view is None else self._part(found, view)

    def _part(self, whole: TypedStorage, view: Any) -> TypedStorage:
        """The part of a storage that files before 0.4 could name."""
        if type(view) is not tuple or len(view) != 3 or type(_text(view[0])) is not str:
            raise refuse("a part of a storage is named by a key, an offset and a number of elements")
        key, (offset, number) = _text(view[0]), view[1:]
        if type(offset) is not int or type(number) is not int or offset < 0 or number < 0:
            raise refuse("a part of a storage is named by a key, an offset and a number of elements")
        if key not in self._known:
            size = whole.dtype.itemsize
            if (offset + number) * size > whole.nbytes():
                raise refuse("a part of a storage reaches beyond it")
            budget.spend(COST)
            part = whole._untyped_storage[offset * size : (offset + number) * size]
            self._known[key] = TypedStorage(wrap_storage=part, dtype=whole.dtype, _internal=True)
        return self._known[key]

    def fill(self, keys: Any, read_into: Callable[[Any], int]) -> None:
        """Read the elements, which follow the pickles in the order of their keys.

        Args:
            keys: the keys, as the file lists them.
            read_into: fills an array of bytes from the file and returns how many it got.
        """
        if type(keys) is not list:
            raise refuse("the keys of the storages must be a list")
        for key in keys:
            key = _text(key)
            if type(key) is not str or key not in self._made:
                raise refuse(f"storage key {str(key)[:40]!r} not found in deserialized_objects")
            host, storage = self._made[key]
            typed = self._known[key]
            head = np.empty(8, np.uint8)
            if read_into(head) != 8:
                raise Truncated("the file ends before its storages do")
            (number,) = struct.unpack("<q", head.tobytes())
            if number != typed._size():
                raise RuntimeError(
                    f"storage has wrong byte size: expected {typed.nbytes()} got {number * typed.dtype.itemsize}"
                )
            content = bytes_of(host._array)
            if content.size and read_into(content) != len(content):
                raise Truncated("the file ends before its storages do")
            if sys.byteorder == "big":
                host.byteswap(typed.dtype)
            if typed.dtype is BOOL:
                host._array[...] = _true_or_false(host._array)
            if storage is not host:
                storage.copy_(host)
