"""A ring of slots in memory that two processes share: the writer fills a slot, the reader borrows it, or copies out.

It is one anonymous file (memfd), mapped once in each process. A slot is an address range so wide that no batch outgrows
it; a page costs memory only once it is written, so growing needs no new mapping and no message.

Invariant: a slot has one owner at a time. It is the reader's from the message that names it until the reader has sent
its number back, which it does only when nothing there refers to the slot's memory any more.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

STRIDE = 2**33  # addresses of a slot: 8 GiB; a larger batch goes through the pipe
MOST = 32  # slots of a ring
ALIGN = 64
STEP = 2**16  # a slot grows by whole multiples of this
POPULATE = 23  # Linux's MADV_POPULATE_WRITE, from 5.14 on


def supported() -> bool:
    """Whether this system has what a ring is made of."""
    return hasattr(os, "memfd_create") and sys.maxsize > 2**32


def aligned(at: int) -> int:
    """The next place at or after this one where an array may begin."""
    return -(-at // ALIGN) * ALIGN


class Ring:
    """The slots, as one process sees them. To send a ring to a process that is being started is to share it.

    Args:
        fd: the file, which becomes the ring's own; without it, a new one is made.
        slots: how many slots.

    Example:
        >>> from vistorch.utils.data._workers.ring import Ring, supported
        >>> ring = Ring(slots=2)
        >>> ring.reserve(0, 1000)
        True
        >>> memory = ring.lease(0, 1000)
        >>> ring.busy(0), ring.busy(1)
        (True, False)
        >>> del memory
        >>> ring.busy(0)
        False
        >>> ring.close()
    """

    def __init__(self, fd: int | None = None, slots: int = 4) -> None:
        self.slots = slots
        new = fd is None
        self.fd: int = os.memfd_create("vistorch-ring", os.MFD_CLOEXEC) if fd is None else fd
        try:
            if new:
                os.ftruncate(self.fd, slots * STRIDE)
            # Before 3.13 the mapping keeps a second descriptor, for a resize that never comes.
            options: Any = {"trackfd": False} if sys.version_info >= (3, 13) else {}
            self._map: Any = mmap.mmap(self.fd, slots * STRIDE, **options)
        except (OSError, ValueError, OverflowError):
            os.close(self.fd)
            raise
        self._reserved = [0] * slots
        self._leases: list[Any] = [None] * slots

    def __reduce__(self) -> tuple:
        from multiprocessing.reduction import DupFd

        return _attached, (DupFd(self.fd), self.slots)

    def reserve(self, slot: int, nbytes: int) -> bool:
        """See to it that a slot has memory for so many bytes; False where there is no more."""
        if nbytes <= self._reserved[slot]:
            return True
        if nbytes > STRIDE:
            return False
        before, size = self._reserved[slot], min(-(-nbytes // STEP) * STEP, STRIDE)
        try:
            # To touch a page that cannot be had is a bus error; to ask for it first is an answer.
            os.posix_fallocate(self.fd, slot * STRIDE + before, size - before)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.ENOMEM, errno.EFBIG):
                return False
            raise
        self._reserved[slot] = size
        # All pages at once: a fault for each takes as long as writing what they hold.
        with contextlib.suppress(OSError):
            self._map.madvise(POPULATE, slot * STRIDE + before, size - before)
        return True

    def lease(self, slot: int, nbytes: int, back: Callable | None = None) -> np.ndarray:
        """The first bytes of a slot as an array; the slot is busy while the array, or a view of it, lives.

        Args:
            slot: which.
            nbytes: how many.
            back: called with the slot's number once the array is gone, in whatever thread let it go.
        """
        memory = np.frombuffer(self._map, np.uint8, nbytes, slot * STRIDE)
        self._leases[slot] = weakref.ref(memory, None if back is None else lambda _: back(slot))
        return memory

    def busy(self, slot: int) -> bool:
        """Whether a lease of this slot lives in this process."""
        lease = self._leases[slot]
        return lease is not None and lease() is not None

    def give_up(self) -> None:
        """Return the memory of all slots that are not busy, for when no writer is left."""
        if self._map is None:
            return
        for slot in range(self.slots):
            if not self.busy(slot):
                self._map.madvise(mmap.MADV_REMOVE, slot * STRIDE, STRIDE)

    def close(self) -> None:
        """Let go of the file and the mapping; memory on lease stays until its lease ends."""
        if self._map is None:
            return
        leases, self._map = self._map, None
        os.close(self.fd)
        try:
            leases.close()
        except BufferError:  # on lease: it goes with the last array
            pass


def _attached(fd: Any, slots: int) -> Ring:
    """The ring in a process that was just started; without it, where this process may not map so much."""
    return Ring(fd.detach(), slots)
