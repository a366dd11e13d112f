"""Tensors whose memory is a file.

Invariant: a shared one writes to the file; any other reads it once.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from vistorch import from_numpy
from vistorch.engine.base import dtypes
from vistorch.engine.core.tensor import Tensor

__all__ = ["from_file"]


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of the elements that a file holds.

    Args:
        filename: the file.
        shared: whether the tensor's memory is the file itself, which is made, or made longer, as need be.
        size: how many elements.
        dtype: their type; the default one if not given.
        layout: `vistorch.strided` or None.
        device: only the CPU.
        pin_memory: accepted.

    Example:
        >>> import tempfile, vistorch
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     t = vistorch.from_file(folder + "/x", shared=True, size=2)
        ...     _ = t.fill_(3)
        ...     vistorch.from_file(folder + "/x", size=2)
        tensor([3., 3.])
    """
    if not isinstance(
        filename, (str, os.PathLike)
    ):  # a number would be a descriptor, which closing it takes away
        raise TypeError(
            f"from_file(): argument 'filename' (position 1) must be str, not {type(filename).__name__}"
        )
    kind = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "from_file")
    count = size or 0
    needed = count * kind.itemsize
    try:
        with open(filename, "ab" if shared else "rb") as file:
            there = file.seek(0, os.SEEK_END)
            if shared and there < needed:
                there = file.truncate(needed)
    except OSError as error:
        how = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{filename}> in {how} mode: {error.strerror} ({error.errno})"
        ) from None
    if there < needed:
        raise RuntimeError(
            f"file <{filename}> size <{there}> is smaller than the required mapping size <{needed}>"
        )
    if not count:
        return from_numpy(np.empty(0, kind))
    if shared:
        return from_numpy(np.memmap(filename, kind, "r+", shape=(count,)).view(np.ndarray))
    return from_numpy(np.fromfile(filename, kind, count))
