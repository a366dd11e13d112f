"""Memory with guards: bytes of a known pattern around an array, and pages behind it that end the process when touched.

Invariant: what lies outside the array is either the pattern or a page nobody may read or write.
"""

import ctypes
import mmap
from typing import Any

import numpy as np

PAGE = mmap.PAGESIZE
CANARY = 0xA5


class Guarded:
    """A page between two forbidden ones, with an array at its front or at its back."""

    def __init__(self) -> None:
        self.map = mmap.mmap(-1, 3 * PAGE)
        self.bytes = np.frombuffer(self.map, np.uint8)
        self.start = self.bytes.__array_interface__["data"][0]
        library = ctypes.CDLL(None, use_errno=True)
        library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for page in (self.start, self.start + 2 * PAGE):
            if library.mprotect(page, PAGE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.at = slice(PAGE, PAGE)

    def array(self, count: int, dtype: Any, behind: bool) -> np.ndarray:
        """An array of ones against the guard behind it, or against the one before it; the rest is the pattern."""
        size = count * np.dtype(dtype).itemsize
        begin = 2 * PAGE - size if behind else PAGE
        self.at = slice(begin, begin + size)
        self.bytes[PAGE : 2 * PAGE] = CANARY
        made = np.frombuffer(self.map, dtype, max(count, 1), begin if count else begin - (begin > PAGE) * 16)
        made = made[:count]
        made[...] = 1
        return made

    def intact(self) -> bool:
        """Whether the pattern around the array is as it was."""
        before, after = self.bytes[PAGE : self.at.start], self.bytes[self.at.stop : 2 * PAGE]
        return bool((before == CANARY).all() and (after == CANARY).all())


def span(a: np.ndarray) -> tuple[int, int]:
    """The first address of an array's elements and the one behind the last, in Python's numbers."""
    low = a.__array_interface__["data"][0]
    high = low + a.itemsize
    for n, s in zip(a.shape, a.strides, strict=True):
        if not n:
            return 0, 0
        low, high = low + min(0, (n - 1) * s), high + max(0, (n - 1) * s)
    return low, high


def inside(a: np.ndarray, guards: tuple[Guarded, ...] = ()) -> bool:
    """Whether all elements of an array are in memory that was allocated for it."""
    low, high = span(a)
    if low == high:
        return True
    for guard in guards:
        begin, end = guard.start + guard.at.start, guard.start + guard.at.stop
        if begin <= low < end or begin < high <= end:
            return begin <= low and high <= end
    held: Any = a
    whole = a  # the outermost array known
    while held is not None and not (isinstance(held, np.ndarray) and held.flags.owndata):
        if isinstance(held, np.ndarray):
            whole, held = held, held.base
        elif isinstance(getattr(held, "array", None), np.ndarray):  # lent by the engine
            held = held.array
        elif hasattr(held, "__array_interface__") and not hasattr(held, "base"):
            whole, held = np.asarray(held), None
        elif hasattr(held, "base"):
            held = held.base
        elif type(held).__name__ == "PyCapsule":  # another library's: what it handed over is all there is
            held = None
        else:
            whole, held = np.frombuffer(held, np.uint8) if memoryview(held).nbytes else np.empty(0), None
    begin, end = span(whole if held is None else held)
    return begin <= low and high <= end
