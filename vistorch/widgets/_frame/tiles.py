"""Exact values of a part of an array, for a page that asks.

Invariant: what is asked is checked before it is computed, an answer is small, and no array is written to. What the
program lets go of is gone; what it never held, such as `show(x @ y)`, is held here, and for one view at a time.
"""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

import numpy as np

from .live import Refused, whole, wholes
from .wire import NAMES

CELLS = 65_536  # values in one answer


class Tiles:
    """The arrays behind one record's items.

    Args:
        items: the items of the record's state.
        sources: what they were made of, in their order; None where one has no values here.
        hold: whether nobody else holds them.
    """

    _holding: ClassVar[Tiles | None] = None

    def __init__(self, items: list[dict[str, Any]], sources: list[Any], hold: bool = False) -> None:
        self.items = items
        self.held: list[Any] = []
        if hold:
            if Tiles._holding is not None:
                Tiles._holding.let_go()
            Tiles._holding = self
            self.held = list(sources)
        self.sources: list[Any] = [None if source is None else weakref.ref(source) for source in sources]

    def let_go(self) -> None:
        """Hold nothing any more."""
        self.held = []
        if Tiles._holding is self:
            Tiles._holding = None

    def answer(self, message: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """The answer to a page's message and its one buffer; `Refused` where it asks for what is not there."""
        from ...debug.array import tile_ends

        number = whole(message.get("id"))
        item = whole(message.get("item"), 0, 10_000)
        kept = self.sources[item] if item < len(self.sources) else None
        source = None if kept is None else kept()
        if source is None:
            raise Refused("the array is gone from the kernel: give it a name and show it again")
        shape, layers = self.items[item]["shape"], len(self.items[item]["layers"])
        layer = whole(message.get("layer"), 0, 8)
        if layer >= layers:
            raise Refused(f"item {item} has no layer {layer}")
        start, stop, block = (wholes(message.get(key), len(shape)) for key in ("start", "stop", "block"))
        cells = 1
        for size, low, high, step in zip(shape, start, stop, block, strict=True):
            if not (low < high <= size and 1 <= step <= size):
                raise Refused(
                    f"expected a part of {tuple(shape)}, got {start} to {stop} in blocks of {block}"
                )
            cells *= -(-(high - low) // step)
        if cells > CELLS:
            raise Refused(f"expected at most {CELLS:,} values in one tile, got {cells:,}")
        image = self.items[item].get("image") or {}
        found, ends = tile_ends(source, start, stop, block, layer, mean=bool(image.get("shown")))
        described, buffers = {}, []
        for name, array in (("values", found), ("ends", ends)):
            if array is not None:
                sent = _sent(array)
                described[name] = {"type": NAMES[sent.dtype.str[1:]], "shape": list(sent.shape)}
                buffers.append(sent.tobytes())
        place = {"item": item, "layer": layer, "start": start, "stop": stop, "block": block}
        return {"type": "tile", "id": number, **place, **described}, buffers


def _sent(array: np.ndarray) -> np.ndarray:
    """An array in a type that travels, little-endian."""
    if array.dtype.str[1:] not in NAMES:
        array = array.astype(np.float32)
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
