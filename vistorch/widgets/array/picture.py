"""An array record as a PNG: heatmap, marks where a value is not finite, the ramp of colours with its ends.

Few colours where all is heatmap (a small file), full colour where one item is an image. The background is left
open: the page behind it is light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...debug.array.state import ArrayRecord
from .._frame import png
from . import cells
from .digits import dots, short
from .drawing import svg
from .raster import HATCHED, INK, OPEN, Palette, heat, image, ramp

__all__ = ["MIME", "paint", "svg"]

MIME = "image/png"
SMALL = 320  # pixels: the widest side of a small picture


def _stacked(parts: list[np.ndarray], across: bool, space: int) -> np.ndarray:
    side = max(part.shape[0 if across else 1] for part in parts)
    out = []
    for index, part in enumerate(parts):
        free = side - part.shape[0 if across else 1]
        gap = space if index < len(parts) - 1 else 0
        pad = ((0, free), (0, gap)) if across else ((0, gap), (0, free))
        out.append(np.pad(part, (*pad, *((0, 0),) * (part.ndim - 2))))
    return np.concatenate(out, 1 if across else 0)


def one(
    item: Mapping[str, Any], palette: Palette, width: int, most: int, small: bool = False
) -> np.ndarray | None:
    """One item: palette entries, or RGBA for an image; None where there is nothing to paint."""
    if not item["layers"] or not item["layers"][0]["scales"] or not all(item["shape"]):
        return None
    layer = item["layers"][0]
    pixels = cells.picture(item, layer)
    if pixels is not None:
        return image(pixels, width)
    if not item["shape"]:
        entries = np.full((15, 1), OPEN, np.uint8)
        text = dots(short(float(cells.values(layer).reshape(-1)[0])), 3)
        return _stacked([entries, np.where(text, INK, OPEN).astype(np.uint8)], True, 0)
    return _stacked(
        [heat(item, layer, palette, width, most, small), ramp(layer["scales"][layer["scale"]], palette)],
        False,
        6,
    )


def paint(record: ArrayRecord, theme: str = "light", small: bool = False) -> bytes:
    """The picture of an array record.

    Args:
        record: what is drawn.
        theme: "light" or "dark": which end of a map is the bright one.
        small: fewer cells in fewer bytes, to stand in for a page.
    """
    state = record.wire()
    items, beside = state["items"][:12], state["layout"] == "linked"
    palette = Palette(theme)
    width = min(int(state.get("size") or 640), SMALL if small else 4096)
    each = (width - 12 * (len(items) - 1)) // max(1, len(items)) if beside else width
    share = max(200, (HATCHED // 5 if small else HATCHED) // max(1, len(items)))
    made = (one(item, palette, max(48, each), share, small) for item in items)
    parts = [part for part in made if part is not None]
    if not parts:
        parts = [np.full((8, 8), OPEN, np.uint8)]
    colours = palette.array()
    if all(part.ndim == 2 for part in parts):
        return png.indexed(_stacked(parts, beside, 12), colours, OPEN)
    alpha = np.where(np.arange(len(colours)) == OPEN, 0, 255).astype(np.uint8)[:, None]
    wide = np.concatenate([colours, alpha], 1)
    return png.full(_stacked([part if part.ndim == 3 else wide[part] for part in parts], beside, 12))
