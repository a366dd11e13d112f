"""Files as memory: an array whose bytes are read from the file when someone looks at them.

Invariant: unless a mapping is shared, what is written to it stays in this process and never reaches the file.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np


def mapped(path: Any, shared: bool = False, size: int = 0) -> np.ndarray:
    """A file's first bytes as a writable array.

    Args:
        path: the file.
        shared: whether writes change the file.
        size: how many bytes; a shared file that has fewer is made that long.
    """
    if not isinstance(
        path, (str, os.PathLike)
    ):  # a number would be a descriptor, which closing it takes away
        raise TypeError(f"the name of a file must be str, not {type(path).__name__}")
    if size < 0:
        raise RuntimeError(f"a file's bytes are asked for, but their number is negative: {size}")
    if shared and size > (os.path.getsize(path) if os.path.exists(path) else 0):
        with open(path, "ab") as file:
            file.truncate(size)
    with open(path, "r+b" if shared else "rb") as file:
        there = os.fstat(file.fileno()).st_size
        if size > there:
            raise RuntimeError(f"unable to mmap {size} bytes from file <{os.fspath(path)}>: it has {there}")
        if not size:
            return np.empty(0, np.uint8)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        return np.frombuffer(mmap.mmap(file.fileno(), size, access=access), np.uint8)
