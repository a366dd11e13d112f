"""The array view with a kernel: the overview at once, exact values of the part that is looked at on request.

Invariant: the view computes one small tile for a message and nothing without one; it never writes to the array, and
it keeps no array alive: what the program lets go of is gone.
"""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

import numpy as np

from .display import Display
from .live import Live, Refused, whole, wholes
from .wire import NAMES

CELLS = 65_536  # values in one answer
MESH = 4096  # elements merged along one axis of a tile's cell


class ArrayView(Live):
    """The array view that asks its kernel for exact values.

    Args:
        display: the display of an array record.
        sources: the arrays or tensors the record's items were made of, in their order; None where one has no values
        here.
    """

    answers: ClassVar[dict[str, str]] = {"tile": "_tile", "close": "_close"}

    def __init__(self, display: Display, sources: list[Any]) -> None:
        self.sources: list[Any] = [None if source is None else weakref.ref(source) for source in sources]
        super().__init__(display)

    def release(self) -> None:
        """Let go of the arrays."""
        self.sources = []

    def _close(self, message: dict[str, Any]) -> None:
        self.close()

    def _tile(self, message: dict[str, Any]) -> None:
        from ..debug.array import tile

        number = whole(message.get("id"))
        item = whole(message.get("item"), 0, 10_000)
        kept = self.sources[item] if item < len(self.sources) else None
        source = None if kept is None else kept()
        if source is None:
            raise Refused("the array is gone from the kernel: give it a name and show it again")
        shape = self.display.state()["items"][item]["shape"]
        layer = whole(message.get("layer"), 0, 8)
        start, stop, block = (wholes(message.get(key), len(shape)) for key in ("start", "stop", "block"))
        cells = 1
        for size, low, high, step in zip(shape, start, stop, block, strict=True):
            if not (low < high <= size and 1 <= step <= max(size, 1)):
                raise Refused(
                    f"expected a part of {tuple(shape)}, got {start} to {stop} in blocks of {block}"
                )
            cells *= -(-(high - low) // step)
        if cells > CELLS:
            raise Refused(f"expected at most {CELLS:,} values in one tile, got {cells:,}")
        if layer >= len(self.display.state()["items"][item]["layers"]):
            raise Refused(f"item {item} has no layer {layer}")
        found = np.ascontiguousarray(tile(source, start, stop, block, layer))
        if found.dtype.str[1:] not in NAMES:
            found = found.astype(np.float32)
        found = found.astype(found.dtype.newbyteorder("<"), copy=False)
        values = {"type": NAMES[found.dtype.str[1:]], "shape": list(found.shape)}
        place = {"item": item, "layer": layer, "start": start, "stop": stop, "block": block}
        self.send({"type": "tile", "id": number, **place, "values": values}, [found.tobytes()])
