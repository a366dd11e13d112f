"""A part of an array, pooled like the overview: what the page asks for when it is zoomed in.

Invariant: whatever the request, at most 65,536 cells come back, and nothing of the array is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .item import fetched, measure_source
from .measure import measure_complex
from .source import source_of
from .state import _sendable

CELLS = 65_536


def tile(
    array: Any,
    start: Sequence[int],
    stop: Sequence[int],
    block: Sequence[int],
    layer: int = 0,
    *,
    mean: bool = False,
) -> np.ndarray:
    """The cells of a part of an array.

    Args:
        array: what was given to `record`.
        start: where the part begins along each axis.
        stop: where it ends; not in it.
        block: how many elements along each axis become one cell; blocks are counted from `start`.
        layer: 0, or 1 for the phase of complex numbers.
        mean: show the mean of each block, as pictures do.

    Raises:
        ValueError: the request does not fit the array; the sentence says why.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.array import tile
        >>> tile(vistorch.arange(12).reshape(3, 4), [1, 0], [3, 4], [2, 2])
        array([[ 9, 11]])
    """
    return tile_ends(array, start, stop, block, layer, mean=mean)[0]


def tile_ends(
    array: Any,
    start: Sequence[int],
    stop: Sequence[int],
    block: Sequence[int],
    layer: int = 0,
    *,
    mean: bool = False,
) -> tuple[np.ndarray, np.ndarray | None]:
    """The cells of a part of an array, and the other ends of blocks that show both; see `tile`.

    Where a block shows one value it stands in both; None where all blocks do.
    """
    source = source_of(array, text=False)
    shape = source.shape
    start, stop, block = (
        _whole(v, n, len(shape))
        for v, n in zip((start, stop, block), ("start", "stop", "block"), strict=True)
    )
    for axis, n in enumerate(shape):
        if not 0 <= start[axis] < stop[axis] <= n:
            raise ValueError(
                f"axis {axis} has {n} elements: there is no part from {start[axis]} to {stop[axis]}"
            )
        if not 1 <= block[axis] <= n:
            raise ValueError(f"axis {axis} has {n} elements: a block cannot have {block[axis]}")
    cells = prod([-(-(b - a) // k) for a, b, k in zip(start, stop, block, strict=True)])
    if cells > CELLS:
        raise ValueError(f"{cells} cells are more than the {CELLS} one answer may have")
    layers = 2 if source.data.dtype.kind == "c" else 1
    if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < layers:
        raise ValueError(f"there is no layer {layer!r}")
    part = source.data[tuple([slice(a, b) for a, b in zip(start, stop, strict=True)])]
    if layers == 2:
        found = measure_complex(fetched(source, part), block)[layer][1]
    else:
        found = measure_source(source, part, block, lambda least, most: mean)
    cells, ends = found.cells, found.ends
    one = ends is None or np.array_equal(ends, cells, equal_nan=cells.dtype.kind == "f")
    return _sendable(cells), None if one or ends is None else _sendable(ends)


def _whole(values: Any, name: str, rank: int) -> tuple[int, ...]:
    """A tuple of `rank` integers, or an error with a sentence."""
    if not isinstance(values, (list, tuple)) or len(values) != rank:
        raise ValueError(f"{name} must be a list of {rank} integers")
    if any(isinstance(v, bool) or not isinstance(v, int) for v in values):
        raise ValueError(f"{name} must hold integers only")
    return tuple(values)
