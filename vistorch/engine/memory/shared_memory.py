"""Memory that several processes see: segments behind file descriptors, and the pieces of them that storages are.

Nothing has a name in a file system, so nothing can be left there: the memory is gone when the last process that mapped
it is. Small pieces lie together in one segment, so that a network of hundreds of parameters costs few descriptors.

Invariant: an array on shared memory has a Piece at the end of its chain of bases; a Piece keeps its Segment mapped.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import threading
import weakref
from typing import Any

import numpy as np

from .. import browser

TOGETHER = 1 << 20  # pieces up to this size lie together
ARENA = 4 << 20
ALIGNED = 64
TOO_MANY = (
    "Too many open files. Communication with the workers is no longer possible. Please increase the limit using "
    "`ulimit -n` in the shell"
)
_FAILED = ctypes.c_void_p(-1).value
_calls: list = []


def system() -> Any:
    """The C library, its two calls for memory declared."""
    if not _calls:
        browser.refuse("a mapping", browser.MEMORY, "keep the tensor in this process")
        if os.name != "posix":
            raise NotImplementedError(
                "memory is shared between processes by file descriptors, which this system lacks"
            )
        library = ctypes.CDLL(None, use_errno=True)
        library.mmap.restype = ctypes.c_void_p
        library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        _calls.append(library)
    return _calls[0]


def anonymous(size: int) -> int:
    """A descriptor of new memory, full of zeros, that no file system knows."""
    try:
        return _sized(size)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        if not raise_limit():
            raise RuntimeError(TOO_MANY) from error
        return _sized(size)


def _sized(size: int) -> int:
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("vistorch")
        os.ftruncate(fd, size)
        return fd
    import tempfile

    with tempfile.TemporaryFile() as file:  # it has lost its name already
        file.truncate(size)
        return os.dup(file.fileno())


def raise_limit() -> bool:
    """Let this process open as many files as the system allows; False if it may already."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return True


class _Mapping:
    """A descriptor and where it is mapped, given back when nobody refers to them.

    Not the segment itself: while its `__del__` ran, another thread could still come by it through a weak reference.
    """

    __slots__ = ("_close", "_unmap", "address", "fd", "size")

    def __init__(self, fd: int, size: int) -> None:
        self.fd, self.size, self.address = fd, size, None
        library = system()
        self._unmap, self._close = library.munmap, os.close  # modules may be gone when the last one goes
        address = library.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
        if address == _FAILED:
            code = ctypes.get_errno()
            raise RuntimeError(f"unable to mmap {size} bytes of shared memory: {os.strerror(code)} ({code})")
        self.address = address

    def __del__(self) -> None:
        if self.address is not None:
            self._unmap(self.address, self.size)
        self._close(self.fd)


class Segment:
    """A stretch of memory that several processes may map: one descriptor, one mapping.

    Args:
        fd: the descriptor, which is this object's from now on.
        size: how many bytes.
    """

    __slots__ = ("__weakref__", "_mapping", "address", "fd", "key", "pieces", "size")

    def __init__(self, fd: int, size: int) -> None:
        self._mapping = _Mapping(fd, size)
        self.fd, self.size, self.address = fd, size, self._mapping.address
        there = os.fstat(fd)
        self.key = there.st_dev, there.st_ino
        self.pieces: Any = weakref.WeakValueDictionary()

    def piece(self, offset: int, size: int) -> Piece:
        """The piece of this segment that begins at `offset`: the one someone holds, or a new one."""
        if not 0 <= offset <= offset + size <= self.size:
            raise ValueError(f"bytes {offset} to {offset + size} are asked of a segment of {self.size} bytes")
        found = self.pieces.get(offset)
        if found is None:
            found = self.pieces.setdefault(offset, Piece(self, offset, size))
        return found


class Piece:
    """The part of a segment that is one storage."""

    __slots__ = ("__array_interface__", "__weakref__", "_root", "offset", "segment", "size")

    def __init__(self, segment: Any, offset: int, size: int) -> None:
        self.segment, self.offset, self.size = segment, offset, size
        self._root: Any = None
        self.__array_interface__ = {
            "data": (segment.address + offset, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }

    def array(self) -> Any:
        """The bytes as an array, the same one as long as anybody holds it."""
        found = None if self._root is None else self._root()
        if found is None:
            found = np.asarray(self)
            self._root = weakref.ref(found)
        return found


class _Nowhere:
    """Stands for the segment of storages without bytes."""

    byte = ctypes.c_char()
    address = ctypes.addressof(byte)
    key = None


def _gone() -> None:
    """What a weak reference says when its object is no more."""


class Ledger:
    """The segments this process has mapped, and the one that small pieces are cut from."""

    def __init__(self) -> None:
        self.known: Any = weakref.WeakValueDictionary()
        self.forked()

    def forked(self) -> None:
        """In a forked child: what the parent mapped is still there, but it must not cut from the parent's arena."""
        self.lock = threading.Lock()
        self.arena: Any = _gone  # weak: its pieces keep it
        self.used = 0

    def new(self, size: int) -> Piece:
        """A piece of new memory."""
        if not size:
            return Piece(_Nowhere, 0, 0)
        with self.lock:
            if size > TOGETHER:
                return self._segment(size).piece(0, size)
            arena = self.arena()
            if arena is None or self.used + size > ARENA:
                arena, self.used = self._segment(ARENA), 0
                self.arena = weakref.ref(arena)
            piece = arena.piece(self.used, size)
            self.used += -(-size // ALIGNED) * ALIGNED  # never cut again: another process may still read it
            return piece

    def _segment(self, size: int) -> Segment:
        segment = Segment(anonymous(size), size)
        self.known[segment.key] = segment
        return segment

    def adopt(self, fd: int, size: int) -> Segment:
        """The segment behind a descriptor that came from another process: the one mapped already, or a new one."""
        there = os.fstat(fd)
        if there.st_size < size:  # to look past the end would end the process
            os.close(fd)
            raise ValueError(f"a segment of {size} bytes is asked of a descriptor that has {there.st_size}")
        with self.lock:
            found = self.known.get((there.st_dev, there.st_ino))
            if found is not None and found.size >= size:
                os.close(fd)
                return found
            segment = Segment(fd, size)
            self.known[segment.key] = segment
            return segment


ledger = Ledger()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ledger.forked)
