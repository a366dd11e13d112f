"""A tensor as what a transport moves: one contiguous array on the host, written back when it was a copy.

Invariant: what arrives is in the tensor's own memory, and its version counts the write.
"""

from __future__ import annotations

import numpy as np

from ..engine.core.graph import version
from ..engine.core.tensor import Tensor

HALF = ("float16", "bfloat16")


class Buffer:
    """The values of a tensor, contiguous and on the host.

    Args:
        tensor: the tensor.
        reads: whether its values are wanted, or only its memory.
        wide: whether half precision is to be computed in float32.
    """

    __slots__ = ("array", "copied", "tensor")

    def __init__(self, tensor: Tensor, reads: bool = True, wide: bool = False) -> None:
        self.tensor, data = tensor, tensor._data
        if tensor._place.kind:  # on a real CUDA device
            data = tensor._place.xp.asnumpy(data)
        dtype = np.dtype(np.float32) if wide and data.dtype.name in HALF else data.dtype
        if (
            data.flags.c_contiguous
            and dtype == data.dtype
            and not tensor._place.kind
            and data.flags.writeable
        ):
            self.array, self.copied = data, False
        else:
            self.copied = True
            if reads:
                self.array = np.array(data, dtype, order="C", copy=True)
            else:
                self.array = np.empty(data.shape, dtype)

    @property
    def raw(self) -> np.ndarray:
        """Its bytes."""
        return self.array.reshape(-1).view(np.uint8)

    def store(self) -> None:
        """Write what has arrived into the tensor."""
        t = self.tensor
        if self.copied:
            if t._place.kind:
                t._data[...] = t._place.xp.asarray(self.array.astype(t._data.dtype, copy=False))
            else:
                t._data[...] = self.array
        version(t).n += 1


def stacked(tensors: list[Tensor]) -> np.ndarray:
    """The bytes of several tensors, one after the other."""
    parts = [Buffer(t).raw for t in tensors]
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def spread(raw: np.ndarray, tensors: list[Tensor]) -> None:
    """Write bytes that lie one after the other into tensors.

    Args:
        raw: the bytes.
        tensors: where to.
    """
    at = 0
    for t in tensors:
        held = Buffer(t, reads=False)
        part = held.raw
        part[...] = raw[at : at + part.size]
        at += part.size
        held.store()
