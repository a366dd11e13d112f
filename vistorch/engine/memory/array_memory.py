"""Where an array's elements lie: its address, its owner, the bytes it spans; and whether a tensor can stand on them.

Invariant: only arrays are known here, of numpy or cupy; nothing is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes


def start(a: Any) -> int:
    """The address of the first element."""
    interface = getattr(a, "__array_interface__", None)
    return (a.__cuda_array_interface__ if interface is None else interface)["data"][0]


def owner(a: Any) -> Any:
    """The array whose memory `a` is."""
    while isinstance(a.base, type(a)):
        a = a.base
    return a


def offset_of(a: Any) -> int:
    """How many elements of its owner come before the first one; with batch dims, before the first sample's."""
    a = getattr(a, "array", a)
    root = owner(a)
    return (start(a) - start(root)) // a.itemsize if root.size and root is not a else 0


class _Stretch:
    """Memory between two addresses, offered to numpy; it keeps alive the array that the memory is of."""

    def __init__(self, array: Any, address: int, length: int) -> None:
        self.array = array
        self.__array_interface__ = {
            "data": (address, not array.flags.writeable),
            "shape": (length,),
            "typestr": "|u1",
            "version": 3,
        }


def reach(a: Any) -> tuple[int, int]:
    """The first address of an array's memory, and how many bytes there are."""
    if not a.size:
        return 0, 0
    low = start(a)
    if a.flags.c_contiguous:
        return low, a.nbytes
    length = a.itemsize
    for n, s in zip(a.shape, a.strides, strict=True):
        length += (n - 1) * abs(s)
        low += min(0, (n - 1) * s)
    return low, length


def bytes_of(a: Any) -> Any:
    """The memory that an array spans, as a one-dimensional array of bytes; no copy."""
    low, length = reach(a)
    if not isinstance(a, np.ndarray):  # cupy
        import cupy

        return cupy.ndarray((length,), np.uint8, a.data)
    if a.flags.c_contiguous and a.dtype.kind != "V":  # ml_dtypes' types refuse the change of type when 0-d
        return a.reshape(-1).view(np.uint8)
    return np.asarray(_Stretch(a, low, length)) if length else np.empty(0, np.uint8)


def check_array(a: np.ndarray) -> None:
    """Refuse a numpy array that no tensor can stand on."""
    dtypes.of(a.dtype)
    itemsize = a.itemsize
    for n in a.strides:
        if n % itemsize:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size. "
                "Copy the numpy array to reallocate the memory."
            )
        if n < 0:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
                "currently supported. (You can probably work around this by making a copy of your array  with "
                "array.copy().) "
            )
