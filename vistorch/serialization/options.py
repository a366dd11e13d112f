"""What a person can choose about saving and loading: byte order, checksums, mapping, skipping the data.

Invariant: everything here is PyTorch's name and default; `choice` and `skipping` are read when a file is, never copied.
"""

from __future__ import annotations

import mmap
import sys
import threading
from enum import Enum
from typing import Any

ON_WINDOWS = sys.platform == "win32"


class LoadEndianness(Enum):
    """Which byte order a file has that does not say it.

    Example:
        >>> from vistorch.serialization import LoadEndianness
        >>> [order.name for order in LoadEndianness]
        ['NATIVE', 'LITTLE', 'BIG']
    """

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class SourceChangeWarning(Warning):
    """A whole module was loaded whose class has other source code now.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", vistorch.serialization.SourceChangeWarning)  # as programs write
    """


class _Choice:
    """The choices of this process."""

    __slots__ = ("compute_crc32", "endianness", "mmap", "mmap_flags", "storage_alignment")

    def __init__(self) -> None:
        self.compute_crc32 = True
        self.storage_alignment = 64
        self.mmap = False
        self.endianness: LoadEndianness | None = None
        self.mmap_flags: int | None = None if ON_WINDOWS else mmap.MAP_PRIVATE


class _Skipping(threading.local):
    """Whether this thread is in a `with skip_data()`."""

    on = False


choice = _Choice()
skipping = _Skipping()


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order supposed of files that do not say theirs; None is little-endian.

    Example:
        >>> import vistorch
        >>> vistorch.serialization.get_default_load_endianness() is None
        True
    """
    return choice.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Choose the byte order supposed of files that do not say theirs.

    Args:
        endianness: a `LoadEndianness`, or None.

    Example:
        >>> from vistorch import serialization
        >>> serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
        >>> serialization.get_default_load_endianness()
        <LoadEndianness.BIG: 3>
        >>> serialization.set_default_load_endianness(None)
    """
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    choice.endianness = endianness


def get_crc32_options() -> bool:
    """Whether `save` writes a checksum of each record.

    Example:
        >>> import vistorch
        >>> vistorch.serialization.get_crc32_options()
        True
    """
    return choice.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Choose whether `save` writes a checksum of each record: without, other programs that unzip the file complain.

    Args:
        compute_crc32: whether.

    Example:
        >>> import io, zipfile, vistorch
        >>> vistorch.serialization.set_crc32_options(False)
        >>> f = io.BytesIO()
        >>> vistorch.save(vistorch.ones(2), f)
        >>> vistorch.serialization.set_crc32_options(True)
        >>> zipfile.ZipFile(f).testzip() is None  # its checksums are no true ones
        False
    """
    choice.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """How `load(..., mmap=True)` maps: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`.

    Example:
        >>> import mmap, vistorch
        >>> vistorch.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
        True
    """
    return choice.mmap_flags


class set_default_mmap_options:
    """Choose how `load(..., mmap=True)` maps, for good or for a `with` block.

    Args:
        flags: `mmap.MAP_PRIVATE`: writes stay in this process; `mmap.MAP_SHARED`: they change the file.

    Example:
        >>> import mmap, vistorch
        >>> with vistorch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        ...     vistorch.serialization.get_default_mmap_options() == mmap.MAP_SHARED
        True
    """

    def __init__(self, flags: int) -> None:
        if ON_WINDOWS:
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                f"mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = choice.mmap_flags
        choice.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        choice.mmap_flags = self.prev


class skip_data:
    """In this block `save` leaves room for the elements instead of writing them, and `load` gives zeros.

    Args:
        materialize_fake_tensors: accepted, as in PyTorch; there are no fake tensors here.

    Example:
        >>> import io, vistorch
        >>> f = io.BytesIO()
        >>> with vistorch.serialization.skip_data():
        ...     vistorch.save(vistorch.ones(2), f)
        >>> _ = f.seek(0)
        >>> vistorch.load(f)
        tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors
        self._before = False

    def __enter__(self) -> None:
        self._before = skipping.on
        skipping.on = True

    def __exit__(self, *exception: Any) -> None:
        skipping.on = self._before
