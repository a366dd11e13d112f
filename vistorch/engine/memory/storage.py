"""`UntypedStorage`: the memory behind tensors, as bytes that can be read, written, sliced and moved.

Invariant: two storages are equal exactly when they are the same stretch of memory; nothing here knows an element type.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from ..base import cuda_probe
from ..library_name import library
from . import pinned
from .array_memory import bytes_of, reach
from .memory_users import SLOTS, piece_of, share
from .placement import CPU, move, place_of


class UntypedStorage:
    """The memory behind a tensor, as bytes.

    Args:
        data: how many bytes, or the bytes as a sequence of numbers.
        device: where.

    Example:
        >>> import vistorch
        >>> x = vistorch.zeros(2, 3)
        >>> x[1].untyped_storage().nbytes(), x[1].untyped_storage().data_ptr() == x.data_ptr()
        (24, True)
        >>> x.untyped_storage()[:2]
         0
         0
        [vistorch.storage.UntypedStorage(device=cpu) of size 2]
        >>> s = vistorch.UntypedStorage([1, 2, 3, 4])
        >>> s.size(), s.element_size(), s.device, s.is_cuda, s.get_device()
        (4, 1, device(type='cpu'), False, None)
        >>> s.byteswap(vistorch.int16)
        >>> s.tolist(), s.clone().fill_(9).tolist()
        ([2, 1, 4, 3], [9, 9, 9, 9])
        >>> s.copy_(x.untyped_storage()[:4]).tolist()
        [0, 0, 0, 0]
        >>> s.untyped() is s, s.cpu() is s, s.to(device="cpu") is s
        (True, True, True)
        >>> s.is_shared(), s.share_memory_().is_shared(), s.is_pinned(), s.resizable()
        (False, True, False, False)
        >>> s.resize_(8)
        Traceback (most recent call last):
            ...
        RuntimeError: Trying to resize storage that is not resizable
    """

    __slots__ = ("_array", "_place")
    __module__ = "vistorch.storage"
    is_sparse = False

    def __init__(self, *args: Any, device: Any = None) -> None:
        place = place_of("cpu" if device is None else device)
        if len(args) > 1:
            raise TypeError(
                f"UntypedStorage() takes at most 1 positional argument, but {len(args)} were given. To read from a "
                "file, use UntypedStorage.from_file"
            )
        data = args[0] if args else 0
        if isinstance(data, builtins.int) and not isinstance(data, builtins.bool):
            if data < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension {data}: [{data}]")
            array = np.zeros(data, np.uint8)
        else:
            array = _from_sequence(data)
        self._array, self._place = (array if place is CPU else move(array, CPU, place)), place

    @classmethod
    def _of(cls, array: Any, place: Any = CPU) -> UntypedStorage:
        """The storage that is an array's whole memory; no copy."""
        made = object.__new__(cls)
        made._array, made._place = array, place
        return made

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """A file's bytes, mapped: read when they are looked at.

        Args:
            filename: the file.
            shared: whether writes change the file; if not, they stay in this process.
            nbytes: how many bytes; a shared file is made that long if it is shorter.

        Example:
            >>> import vistorch
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "bytes")
            ...     with open(path, "wb") as file:
            ...         _ = file.write(b"abcd")
            ...     vistorch.UntypedStorage.from_file(path, nbytes=3).tolist()
            [97, 98, 99]
        """
        from .memory_map import mapped

        return cls._of(mapped(filename, shared, nbytes))

    # ---- what it is ---------------------------------------------------------------------------------------------
    @property
    def _bytes(self) -> Any:
        return bytes_of(self._array)

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return self._place.device

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a CUDA device."""
        return self._place.device.type == "cuda"

    @property
    def _cdata(self) -> int:
        return self.data_ptr() or id(self._array)

    def get_device(self) -> Any:
        """The index of the device."""
        return self._place.device.index

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def nbytes(self) -> int:
        """How many bytes there are."""
        return reach(self._array)[1]

    size = nbytes
    __len__ = nbytes

    def element_size(self) -> int:
        """One: the elements of this storage are bytes."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return reach(self._array)[0]

    def resizable(self) -> bool:
        """Whether `resize_` may change the size: it never may here."""
        return False

    def is_shared(self) -> bool:
        """Whether other processes can see the memory; always True on a CUDA device."""
        return self.is_cuda or piece_of(self._array) is not None

    def share_memory_(self) -> UntypedStorage:
        """Move the memory, and all tensors on it, to where other processes can see it; nothing on a CUDA device."""
        if not self.is_cuda:
            share(self)
        return self

    @classmethod
    def _new_shared(cls, size: int, *, device: Any = "cpu") -> UntypedStorage:
        """New memory that other processes can see."""
        return cls(size, device=device).share_memory_()

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is page-locked."""
        return self._place is CPU and pinned.is_pinned(self._array)

    def pin_memory(self, device: Any = None) -> UntypedStorage:
        """A copy in page-locked memory; itself if it is there.

        Args:
            device: accepted, as in PyTorch.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.UntypedStorage(8).pin_memory().is_pinned()
            True
            >>> vistorch.cuda.simulate(None)
        """
        if not cuda_probe.find().ok:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        if self._place is not CPU:
            raise TypeError(f"cannot pin '{self._place.device.type}' only CPU memory can be pinned")
        return self if self.is_pinned() else UntypedStorage._of(pinned.copied(self._bytes))

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        if self._array is other._array:
            return True
        return self._place is other._place and reach(self._array) == reach(other._array) != (0, 0)

    def __hash__(self) -> int:
        return hash(reach(self._array)) if self._array.size else id(self._array)

    # ---- its bytes ----------------------------------------------------------------------------------------------
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(
                    f"Trying to slice with a step of {index.step}, but only a step of 1 is supported"
                )
            return UntypedStorage._of(self._bytes[index], self._place)
        return builtins.int(self._bytes[self._position(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        where = index if isinstance(index, slice) else self._position(index)
        self._bytes[where] = operator.index(value) & 255

    def _position(self, index: Any) -> int:
        """An index that exists, counted from the front."""
        try:
            position = operator.index(index)
        except TypeError:
            raise TypeError(f"can't index a {library}.UntypedStorage with {type(index).__name__}") from None
        n = len(self)
        if not -n <= position < n:
            raise IndexError(f"index {position + n * (position < 0)} out of range for storage of size {n}")
        return position % n

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return move(self._bytes, self._place, CPU).tolist()

    def fill_(self, value: Any) -> UntypedStorage:
        """Write one number into all bytes."""
        self._bytes[...] = operator.index(value) & 255
        return self

    def copy_(self, source: Any, non_blocking: Any = None) -> UntypedStorage:
        """Write another storage's bytes into this one.

        Args:
            source: a storage of as many bytes.
            non_blocking: accepted, as in PyTorch.
        """
        source = source.untyped()
        if len(source) != len(self):
            raise RuntimeError(
                f"size does not match, self was {len(self)} bytes but src was {len(source)} bytes"
            )
        self._bytes[...] = move(source._bytes, source._place, self._place)
        return self

    def byteswap(self, dtype: Any) -> None:
        """Reverse the bytes of each element.

        Args:
            dtype: the elements' type; a complex one has two parts.
        """
        size = dtype.itemsize // (2 if dtype.is_complex else 1)
        if size > 1:
            b = self._bytes[: len(self) // size * size].reshape(-1, size)
            b[...] = b[:, ::-1].copy()

    def resize_(self, size: int) -> None:
        """Refused: tensors hold the memory they were made with."""
        if size != len(self):
            raise RuntimeError("Trying to resize storage that is not resizable")

    # ---- copies -------------------------------------------------------------------------------------------------
    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """The bytes on a device; itself if it is there already.

        Args:
            device: the device.
            non_blocking: accepted, as in PyTorch.
        """
        place = place_of(device, "to")
        if place is self._place:
            return self
        # The array keeps its element type: a tensor is built on it without another view between.
        a = self._array if self._array.flags.c_contiguous else self._bytes
        return UntypedStorage._of(move(a, self._place, place), place)

    def cpu(self) -> UntypedStorage:
        """The bytes on the CPU; itself if they are there."""
        return self.to(device="cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """The bytes on a CUDA device; itself if they are there.

        Args:
            device: which one, the current one if None.
            non_blocking: accepted, as in PyTorch.

        Example:
            >>> import vistorch
            >>> from vistorch.cuda import simulate
            >>> simulate(1)
            >>> vistorch.UntypedStorage([1, 2]).cuda().device
            device(type='cuda', index=0)
            >>> simulate(None)
        """
        return self.to(
            device="cuda" if device is None else f"cuda:{device}" if type(device) is int else device
        )

    def clone(self) -> UntypedStorage:
        """A copy."""
        with self._place:
            return UntypedStorage._of(self._bytes.copy(), self._place)

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> UntypedStorage:
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = self.clone()
        return found

    def __reduce__(self) -> tuple:
        return _restored, (move(self._bytes, self._place, CPU).copy(), self._place.name)

    def __repr__(self) -> str:
        head = f"[{library}.storage.UntypedStorage(device={self._place.name}) of size {len(self)}]"
        return lines_of(self.tolist()) + head

    __str__ = __repr__


SLOTS[UntypedStorage] = "_array"


def lines_of(values: list) -> str:
    """How a storage prints its elements: one a line."""
    return " " + "\n ".join(map(str, values)) + "\n"


def _restored(array: Any, name: str) -> UntypedStorage:
    """The storage that a pickle describes."""
    place = place_of(name)
    return UntypedStorage._of(array if place is CPU else move(array, CPU, place), place)


def _from_sequence(data: Any) -> Any:
    """Bytes out of a sequence of numbers."""
    if not hasattr(data, "__iter__"):
        raise TypeError(
            f"{library}.UntypedStorage(): argument must be int or a sequence, not {type(data).__name__}"
        )
    found = []
    for item in data:
        if not hasattr(item, "__index__"):
            raise RuntimeError(
                f"{library}.UntypedStorage(): tried to construct a storage from a sequence "
                f"({type(data).__name__}), but one of the items was of type {type(item).__name__} instead of int"
            )
        found.append(operator.index(item) & 255)
    return np.array(found, np.uint8)
