"""One launch over many arrays of one type: optimizers' steps, gradients unscaled, their common norm.

Invariant: the table of a list of arrays is kept on the device, because most steps ask for the same one; sums go by
pieces of a fixed length, so they are the same every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import launch

CHUNK = 1 << 16  # elements of one block
BLOCK = 512
KEPT = 64  # tables of addresses kept on the device
F4 = np.dtype("f4")
tables: dict[tuple, Any] = {}


def table_of(xp: Any, device: int, rows: list[list[int]]) -> tuple[Any, Any, int]:
    """Rows of addresses, each with its size at the end, on the device; the pieces of the blocks, and how many.

    Args:
        xp: the array library.
        device: the index of the device, which is current.
        rows: the numbers.
    """
    table = np.array(rows, np.int64)
    key = device, table.tobytes()
    found = tables.pop(key, None)
    if found is None:
        while len(tables) >= KEPT:
            del tables[next(iter(tables))]
        sizes = table[:, -1]
        pieces = [(k, start) for k, size in enumerate(sizes.tolist()) for start in range(0, size, CHUNK)]
        where = np.array(pieces, np.int64).reshape(-1, 2)
        found = xp.asarray(table), xp.asarray(where), len(pieces)
    tables[key] = found
    return found


def takes(arrays: list) -> bool:
    """Whether the arrays are of one type that the kernels know, and lie without gaps."""
    return bool(arrays) and launch.known(*arrays) and all(a.flags.c_contiguous for a in arrays)


def _run(xp: Any, name: str, arrays: list, args: tuple, found: tuple | None = None) -> None:
    table, pieces, blocks = found or _laid(xp, arrays)
    if blocks:
        launch.launch("many", name, arrays[0].dtype, blocks, BLOCK, (table, pieces, CHUNK, *args))


def _laid(xp: Any, arrays: list) -> tuple[Any, Any, int]:
    return table_of(xp, arrays[0].device.id, [[int(a.data.ptr), int(a.size)] for a in arrays])


def unscale(xp: Any, arrays: list, factor: Any, found: Any) -> None:
    """Multiply arrays by a float32 on their device; set another there to 1 if an element was not finite."""
    _run(xp, "unscale", arrays, (factor, found))


def multiply(xp: Any, arrays: list, factor: Any) -> None:
    """Multiply arrays by a number of their type on their device."""
    _run(xp, "multiply", arrays, (factor,))


def root_of_squares(xp: Any, arrays: list) -> Any:
    """The Euclidean norm of all elements, an array of no dims of their type."""
    dtype = arrays[0].dtype
    found = _laid(xp, arrays)
    sums = xp.zeros(found[2], "f8" if dtype.itemsize == 8 else F4)
    _run(xp, "squares", arrays, (sums,), found)
    return xp.sqrt(sums.sum(dtype="f8")).astype(dtype)
