"""Memory seen with other strides: what numpy's slicing and reshaping cannot say.

Invariant: what `strided` and `expand` return is memory of their argument, writable wherever that is.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

ndarray = np.ndarray


def owner(a: Any) -> Any:
    """The array that owns the memory of `a`, or the outermost one that is known."""
    base = a.base
    while base is not None and base.__class__ is a.__class__:
        a = base
        base = a.base
    return a


def start(a: Any) -> int:
    """The address of the first element."""
    if isinstance(a, ndarray):
        return a.__array_interface__["data"][0]
    return a.data.ptr


def extent(shape: tuple, strides: tuple) -> int:
    """How far apart the first and the last element are, in the unit of the strides (none negative)."""
    far = 0
    for n, s in zip(shape, strides, strict=True):
        if n == 0:
            return -1
        far += (n - 1) * s
    return far


def lay(memory: Any, shape: tuple, dtype: Any, offset: int, steps: tuple) -> Any:
    """`shape` and `steps` (in bytes) over the memory of a contiguous array, beginning `offset` bytes into it.

    The bounds are checked here, with Python's numbers: numpy takes a buffer of no bytes for one of unknown length, and
    where (size - 1) * stride leaves 64 bits it wraps around and finds that it fits.
    """
    held = memory.nbytes
    low = high = offset
    for n, s in zip(shape, steps, strict=True):
        if n <= 0:
            return ndarray(shape, dtype, memory, offset if 0 <= offset <= held else 0, steps)
        if s < 0:
            low += (n - 1) * s
        else:
            high += (n - 1) * s
    if low < 0 or high + dtype.itemsize > held:
        raise ValueError(
            f"bytes {low} to {high + dtype.itemsize} are asked of a memory that has {held}: sizes {tuple(shape)} and "
            f"strides {tuple(steps)} (in bytes) do not fit"
        )
    return ndarray(shape, dtype, memory, offset, steps)


def laid(xp: Any, memory: Any, shape: tuple, steps: tuple) -> Any:
    """`shape` and `steps` (in bytes) over an array from its first element on; it is contiguous, and long enough."""
    if xp is np:
        return lay(memory, shape, memory.dtype, 0, steps)
    return xp.ndarray(shape, memory.dtype, memory.data, strides=steps)


def strides_of(a: Any) -> tuple:
    """Strides counted in elements."""
    size = a.itemsize
    return tuple([s // size for s in a.strides])


def strided(xp: Any, a: Any, shape: tuple, strides: tuple, shift: int = 0) -> Any:
    """`shape` and `strides` (in elements) over the memory of `a`, beginning `shift` elements after its first."""
    size = a.itemsize
    steps = tuple([s * size for s in strides])
    if xp is not np:
        if 0 in shape:
            return a.reshape(-1)[:0].reshape(shape) if a.flags.c_contiguous else xp.empty(shape, a.dtype)
        return xp.ndarray(shape, a.dtype, a.data + shift * size, strides=steps)
    if shift == 0 and a.flags.c_contiguous:
        try:
            return lay(a, shape, a.dtype, 0, steps)
        except ValueError:
            pass  # it reaches further than `a` does
    whole = owner(a)
    at = start(a) - start(whole) + shift * size
    if not whole.flags.c_contiguous and whole.size:
        length = extent(whole.shape, whole.strides) + whole.itemsize
        whole = np.lib.stride_tricks.as_strided(
            whole, (length // whole.itemsize,), (whole.itemsize,), writeable=whole.flags.writeable
        )
    return lay(whole, shape, a.dtype, at, steps)


def same_memory(xp: Any, made: Any, a: Any) -> bool:
    """Whether a reshape of `a` is a view of it; so is one without elements."""
    root = made.base  # numpy gives a view the base of what it is a view of; a copy is its own
    if root is not None and (root is a or root is a.base):
        return True
    return not a.size or xp.may_share_memory(made, a)


def expand(xp: Any, a: Any, shape: tuple) -> Any:
    """`a` broadcast to `shape` without copying."""
    old = a.shape
    if old == shape:
        return a[...]
    lead = len(shape) - len(old)
    if lead < 0:
        raise ValueError(f"{old} does not broadcast to {shape}")
    steps = a.strides if not lead else (0,) * lead + a.strides
    if old != shape[lead:]:
        steps = list(steps)
        at = lead
        for n in old:
            if n != shape[at]:
                if n != 1:
                    raise ValueError(f"{old} does not broadcast to {shape}")
                steps[at] = 0
            at += 1
    # numpy.broadcast_to takes ten times as long as making the array of zero strides ourselves, and locks it
    if a.__class__ is ndarray and a.flags.c_contiguous and a.size:
        return ndarray(shape, a.dtype, a, 0, steps)
    if min(shape, default=0) < 0:
        raise ValueError(f"negative sizes: {shape}")
    return xp.lib.stride_tricks.as_strided(a, shape, steps)


def places(shape: tuple, strides: tuple) -> np.ndarray:
    """Where each element is, counted in elements from the first."""
    at = np.zeros(shape, np.int64)
    for dim, (n, s) in enumerate(zip(shape, strides, strict=True)):
        at += (np.arange(n) * s).reshape((n,) + (1,) * (len(shape) - dim - 1))
    return at


def copied(xp: Any, a: Any) -> Any:
    """A copy with the strides of `a`, gaps included."""
    if a.flags.c_contiguous or a.flags.f_contiguous:
        return xp.array(a)
    return laid_out(xp, a.shape, a.dtype, a.strides, a)


def laid_out(xp: Any, shape: tuple, dtype: Any, strides: tuple, values: Any = None) -> Any:
    """A new array with these strides (in bytes), filled with `values` or zeros."""
    length = (extent(shape, strides) + dtype.itemsize) // dtype.itemsize
    if 0 in shape or min(strides, default=0) < 0:
        out = xp.zeros(shape, dtype)
    else:
        buffer = xp.zeros(length, dtype)
        out = laid(xp, buffer, shape, strides)
    if values is not None:
        out[...] = values
    return out


def restride(xp: Any, g: Any, source: tuple, target: tuple, shift: int, divide: str) -> Any:
    """Add `g` into memory by one geometry and read it out by another.

    Args:
        xp: the array library.
        g: what is added.
        source: (shape, strides) of `g`'s elements in that memory.
        target: (shape, strides) of the result's elements.
        shift: where the source begins, counted in elements from where the target begins.
        divide: the geometry whose elements share what lies in one place: "source" or "target".
    """
    a = places(*source) + shift
    b = places(*target)
    low = min(0, *[int(at.min()) for at in (a, b) if at.size])
    high = max(0, *[int(at.max()) for at in (a, b) if at.size])
    count = np.bincount((a if divide == "source" else b).ravel() - low, minlength=high - low + 1)
    shared = xp.asarray(np.maximum(count, 1)) if (count > 1).any() else None
    a, b = xp.asarray(a - low), xp.asarray(b - low)
    if shared is not None and divide == "source":
        g = (g / shared[a]).astype(g.dtype)
    memory = xp.zeros(high - low + 1, g.dtype)
    xp.add.at(memory, a.ravel(), xp.asarray(g).ravel())
    if shared is not None and divide == "target":
        memory = (memory / shared).astype(g.dtype)
    return memory[b]


def channels_last(a: Any) -> bool:
    """Whether a dense array of images or volumes lies with its channels, the second dim, last."""
    if a.ndim not in (4, 5):
        return False
    step = a.itemsize
    steps = a.strides
    for i in (1, *range(a.ndim - 1, 1, -1), 0):
        if a.shape[i] != 1:
            if steps[i] != step:
                return False
            step *= a.shape[i]
    return True


def asks_channels_last(shape: tuple, strides: tuple) -> bool:
    """Whether an operand of images or volumes asks for a result with its channels last, as PyTorch reads strides."""
    if len(shape) not in (4, 5) or 0 in shape:
        return False
    least = 0
    for i in (1, *range(len(shape) - 1, 1, -1), 0):
        if strides[i] < least or (i == 0 and least == strides[1]):
            return False
        least = strides[i] * shape[i] if shape[i] > 1 else strides[i]
    return strides[1] != 0


def with_channels_last(xp: Any, a: Any) -> Any:
    """A copy whose channels lie side by side."""
    return xp.moveaxis(xp.ascontiguousarray(xp.moveaxis(a, 1, -1)), -1, 1)


class Scope(threading.local):
    """Whether results may lie with channels last in this thread, since nobody looks at them yet, and which do."""

    open: bool | None = None  # None where it was not asked for, False where someone looks
    made: list | None = None


scope = Scope()
