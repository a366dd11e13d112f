"""A record in a file: a zip of one JSON and numbered .npy files. No pickle, so reading it runs nothing.

Invariant: a file is written whole or not at all, and what is written is read again; reading takes no more memory than
the file's length justifies (`serialization.budget`), and ends in what was written or in one ValueError.
"""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..serialization.archive_in import LIKELY, ArchiveReader, file_length, opened
from ..serialization.atomic import whole
from ..serialization.budget import allowed, budget, limited

MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '([<>|][biufc]\d{1,2})', 'fortran_order': (True|False), 'shape': \(((?:\d{1,19},? ?)*)\), \}\s*"
)
MOST_HEADER = 10_000
COST = 400  # bytes of an array besides its elements
BROKEN = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    pickle.UnpicklingError,
)
"""What reading something broken raises; what the system says of a file is left as it is."""


def write(target: Any, name: str, head: Any, arrays: list[np.ndarray], level: int) -> None:
    """Write a file.

    Args:
        target: a path, or an open binary file.
        name: what the JSON is called in it.
        head: what the JSON says.
        arrays: of numbers; each becomes "0.npy", "1.npy" and so on.
        level: how hard to compress, from 1 to 9.
    """
    text = json.dumps(head, allow_nan=False)
    with whole(target) as file:
        if _written(file, name, text, arrays, zipfile.ZIP_DEFLATED, level) > allowed(file.tell()):
            # It packs so well that it would be taken for a bomb when it is read.
            file.seek(0)
            file.truncate()
            _written(file, name, text, arrays, zipfile.ZIP_STORED, None)


def _written(file: Any, name: str, text: str, arrays: list, method: int, level: int | None) -> int:
    """Write all; what it takes when it is read."""
    size = json_cost(text)
    with zipfile.ZipFile(file, "w", method, compresslevel=level) as z:
        z.writestr(name, text)
        for i, a in enumerate(arrays):
            held = io.BytesIO()
            np.lib.format.write_array(held, a, (1, 0), allow_pickle=False)
            z.writestr(f"{i}.npy", held.getvalue())
            size += held.tell() + COST
    return size


class Bundle:
    """An open file.

    Args:
        file: a file object that can seek.
        name: what the JSON is called.
    """

    def __init__(self, file: Any, name: str) -> None:
        self._archive = ArchiveReader(file, flat=True)
        self._arrays: dict[int, np.ndarray] = {}
        data = self._archive.read(name)
        self._archive.check(name, data)
        budget.spend(json_cost(data))
        self.head = json.loads(data)

    def array(self, number: Any) -> np.ndarray:
        """One of the arrays; asked for again, it is the same one.

        Args:
            number: which.
        """
        if type(number) is not int or number < 0:
            raise ValueError(f"{str(number)[:40]!r} is no number of an array")
        if number not in self._arrays:
            self._arrays[number] = self._read(f"{number}.npy")
        return self._arrays[number]

    def _read(self, name: str) -> np.ndarray:
        budget.spend(COST)
        data = np.empty(self._archive.size(name), np.uint8)
        self._archive.read_into(name, data)
        self._archive.check(name, data)
        return array_of(data)


@contextmanager
def reading(path: Any, name: str, what: str) -> Iterator[Bundle]:
    """Open a file; what goes wrong in the block because of what is in it, is a ValueError.

    Args:
        path: a file name, or an open binary file, which is read from its start.
        name: what the JSON is called in it.
        what: what the file should be, in words.
    """
    said = f"{path if isinstance(path, (str, os.PathLike)) else 'the file'} is no {what}"
    try:
        with opened(path) as file:
            file.seek(0)
            with limited(file_length(file)):
                yield Bundle(file, name)
    except RecursionError:
        raise ValueError(f"{said}: it is nested too deeply") from None
    except BROKEN as error:
        why = " ".join(str(error).removesuffix(LIKELY).removeprefix("PytorchStreamReader failed ").split())
        raise ValueError(f"{said}: {why or type(error).__name__}") from None


def json_cost(text: Any) -> int:
    """About how many bytes the objects of a JSON take.

    Args:
        text: the JSON, as text or bytes.
    """
    data = text.encode() if isinstance(text, str) else text
    signs = ((b"{", 240), (b"[", 64), (b",", 40))
    return 2 * len(data) + sum([data.count(sign) * cost for sign, cost in signs])


def array_of(data: np.ndarray) -> np.ndarray:
    """The array in the bytes of an .npy file, which it keeps.

    Args:
        data: the bytes.
    """
    start = data[:MOST_HEADER].tobytes()
    length = int.from_bytes(start[8:10], "little")
    found = HEADER.fullmatch(start, 10, 10 + length)
    if start[:8] != MAGIC or found is None or 10 + length > len(start):
        raise ValueError("an array has a header that is not one of plain numbers")
    kind, order, sizes = found.groups()
    dtype = np.dtype(kind.decode())
    shape = tuple([int(n) for n in re.findall(rb"\d+", sizes)])
    if math.prod(shape) * dtype.itemsize != len(data) - 10 - length:
        raise ValueError(f"an array of shape {str(shape)[:60]} has not as many bytes as it needs")
    flat = data[10 + length :]
    if flat.ctypes.data % dtype.alignment:
        flat = flat.copy()
    a = flat.view(dtype)
    return a.reshape(shape[::-1]).T if order == b"True" else a.reshape(shape)
