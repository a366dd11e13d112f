"""The idx format of MNIST: a magic number, big-endian sizes, then the numbers.

Invariant: a file is as long as its header says, or it is refused.
"""

from __future__ import annotations

import math
import os
import struct

import numpy as np

import vistorch

DTYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
MOST_DIMS = 3


def read_idx(path: str | os.PathLike) -> np.ndarray:
    """The array in an idx file.

    Args:
        path: the file, unpacked.
    """
    with open(path, "rb") as file:
        data = file.read()
    where = os.fspath(path)
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in DTYPES or not 1 <= data[3] <= MOST_DIMS:
        raise RuntimeError(
            f"{where} is no idx file: it begins with {data[:4].hex(' ') or 'nothing'}, expected 00 00, a kind of "
            f"number and 1 to {MOST_DIMS} dimensions"
        )
    kind, dims = np.dtype(DTYPES[data[2]]), data[3]
    start = 4 + 4 * dims
    if len(data) < start:
        raise RuntimeError(f"{where} is broken: it ends within its header")
    shape = struct.unpack(f">{dims}I", data[4:start])
    expected = start + math.prod(shape) * kind.itemsize
    if len(data) != expected:
        raise RuntimeError(
            f"{where} is broken: its header says {shape}, which makes {expected:,} bytes; it has {len(data):,}"
        )
    return np.frombuffer(data, kind, offset=start).reshape(shape).astype(kind.newbyteorder("="))


def read_sn3_pascalvincent_tensor(path: str | os.PathLike, strict: bool = True) -> vistorch.Tensor:
    """The tensor in an idx file.

    Args:
        path: the file, unpacked.
        strict: accepted for compatibility; a file whose length does not fit its header is always refused.
    """
    return vistorch.from_numpy(read_idx(path))


def read_label_file(path: str | os.PathLike) -> vistorch.Tensor:
    """Class numbers, as int64.

    Args:
        path: an idx file of one dimension of bytes.
    """
    return vistorch.from_numpy(_bytes(path, 1).astype(np.int64))


def read_image_file(path: str | os.PathLike) -> vistorch.Tensor:
    """Pictures, as uint8.

    Args:
        path: an idx file of three dimensions of bytes.
    """
    return vistorch.from_numpy(_bytes(path, 3))


def _bytes(path: str | os.PathLike, dims: int) -> np.ndarray:
    """An array of bytes with so many dimensions."""
    found = read_idx(path)
    if found.dtype != np.uint8 or found.ndim != dims:
        raise RuntimeError(
            f"{os.fspath(path)} holds {found.dtype} of {found.ndim} dimensions, expected uint8 of {dims}"
        )
    return found
