"""Cells as pixels: palette entries of a heatmap with its marks, RGBA of an image, the ramp of a scale.

Invariant: every cell that is not finite has its mark, whatever its size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._frame.colours import part_of, sampled
from . import cells
from .digits import dots, short

OPEN, INK, RED, WHITE, FIRST = range(5)
SHADES = (
    64  # a scale's colours; enough for the eye, and noise of 64 values packs into three quarters of its bytes
)
MAPS = ("tide", "ember", "phase")
GAP, EDGE, TALL = 4, 34, 420
HATCHED = 3_600  # cells of a picture some of which are hatched
LINE = 2  # pixels of a line of the hatching
MARKS = {  # five by five dots: a cross, a triangle up, a triangle down
    "nan": ("10001", "01010", "00100", "01010", "10001"),
    "inf": ("00100", "00100", "01110", "01110", "11111"),
    "-inf": ("11111", "01110", "01110", "00100", "00100"),
}


class Palette:
    """Which colours a picture uses: an entry for each shade of each map met."""

    def __init__(self, theme: str) -> None:
        self.theme = theme
        bad, on = ("c0302a", "ffffff") if theme == "light" else ("ff8172", "1a0d0b")
        self.rows = [
            [0, 0, 0],
            [138, 147, 161],
            *([int(c[i : i + 2], 16) for i in (0, 2, 4)] for c in (bad, on)),
        ]
        self.at: dict[tuple[str, bool | None], int] = {}

    def base(self, name: str, part: bool | None) -> int:
        """The entry of the lowest shade of a part of a map."""
        key = (name if name in MAPS else "tide", part)
        if key not in self.at:
            self.at[key] = len(self.rows)
            self.rows += sampled(key[0], self.theme, key[1], SHADES).tolist()
        return self.at[key]

    def array(self) -> np.ndarray:
        """All entries."""
        return np.array(self.rows[:256], np.uint8)


def _mark(canvas: np.ndarray, y: int, x: int, cell: int, value: float) -> None:
    name = "nan" if value != value else "inf" if value > 0 else "-inf"
    shape = np.array([[int(dot) for dot in row] for row in MARKS[name]], bool)
    factor = max(1, (cell - 2) // 7)
    shape = shape.repeat(factor, 0).repeat(factor, 1)
    side = max(cell, len(shape) + 2)
    top, left = y + (cell - side) // 2, x + (cell - side) // 2
    mark = np.full((side, side), RED, np.uint8)
    inset = (side - len(shape)) // 2
    mark[inset : inset + len(shape), inset : inset + len(shape)][shape] = WHITE
    height, width = canvas.shape
    top, left = min(max(top, 0), max(height - side, 0)), min(max(left, 0), max(width - side, 0))
    canvas[top : top + side, left : left + side] = mark[: height - top, : width - left]


def heat(
    item: Mapping[str, Any],
    layer: Mapping[str, Any],
    palette: Palette,
    width: int,
    most: int = HATCHED,
    small: bool = False,
) -> np.ndarray:
    """One item's cells as palette entries; so many at most where some are hatched, or where the file is to be small."""
    scale = layer["scales"][layer["scale"]]
    values, others = cells.values(layer), cells.ends(layer)
    others = values if others is None else np.where(np.isnan(others), values, others)
    shown = cells.tiles(values, item["roles"])
    beside = cells.tiles(others, item["roles"])
    down, rows, across, cols = shown.shape
    least = max(1, 2 * TALL // down), max(1, width // across - (GAP if across > 1 else 0))
    least = min(rows, least[0]), min(cols, least[1])
    if small or (shown != beside).any():  # hatched cells pack badly: fewer of them
        less = min(1.0, (most / (down * least[0] * across * least[1])) ** 0.5)
        least = max(1, int(least[0] * less)), max(1, int(least[1] * less))
    both = cells.shrink(shown, beside, *least)
    places, others = (cells.position(scale, part) for part in both)
    if places.shape[2] > width // 2:  # more tiles than pixels: the first ones
        places, others = places[:, :, : width // 2], others[:, :, : width // 2]
    down, rows, across, cols = places.shape
    gap_x, gap_y = (GAP if across > 1 else 0), (GAP if down > 1 else 0)
    cell = min(EDGE, (width - (across - 1) * gap_x) // (across * cols))
    cell = max(1, min(cell, (TALL - (down - 1) * gap_y) // (down * rows)))
    base = palette.base(scale["map"], part_of(scale))
    low = -1.0 if scale["centre"] else 0.0
    finite = np.isfinite(places)
    tall, wide = rows * cell + gap_y, cols * cell + gap_x
    drawn = []
    for part in (places, others):
        level = np.where(finite, (part - low) / (1 - low), 0)
        shade = (base + np.round(level * (SHADES - 1))).astype(np.uint8)
        canvas = np.full((down, tall, across, wide), OPEN, np.uint8)
        canvas[:, : rows * cell, :, : cols * cell] = shade.repeat(cell, 1).repeat(cell, 3)
        drawn.append(canvas.reshape(down * tall, across * wide))
    # Lines across all of the picture: where a block shows both ends of its range, it is hatched.
    lines = (np.add.outer(np.arange(down * tall), np.arange(across * wide)) // LINE) % 2 == 1
    canvas = np.where(lines, drawn[1], drawn[0])
    canvas = canvas[: canvas.shape[0] - gap_y, : canvas.shape[1] - gap_x]
    if canvas.shape[0] < 8:  # a thin row is hard to see and leaves no room for a mark
        canvas = canvas.repeat(-(-8 // canvas.shape[0]), 0)
    for d, r, a, c in np.argwhere(~finite)[:4096]:
        _mark(canvas, d * tall + r * cell, a * wide + c * cell, cell, float(places[d, r, a, c]))
    return canvas


def ramp(scale: Mapping[str, Any], palette: Palette) -> np.ndarray:
    """The colours of a scale from its low to its high end, with the numbers there."""
    base, length = palette.base(scale["map"], part_of(scale)), 192
    low, high = cells.number(scale["lo"]), cells.number(scale["hi"])
    outside = scale.get("beyond") or 0
    ends = (
        dots(("<=" if outside and scale["centre"] else "") + short(low)),
        dots((">=" if outside else "") + short(high)),
    )
    canvas = np.full((22, max(length, ends[0].shape[1] + ends[1].shape[1] + 24)), OPEN, np.uint8)
    canvas[:8, :length] = (base + np.arange(length) * SHADES // length).astype(np.uint8)
    for end, at in zip(ends, (0, canvas.shape[1] - ends[1].shape[1]), strict=True):
        canvas[12:22, at : at + end.shape[1]][end] = INK
    return canvas


def image(pixels: np.ndarray, width: int) -> np.ndarray:
    """An image's tiles as RGBA, grown to a size one can see."""
    down, rows, across, cols, channels = pixels.shape
    gap_x, gap_y = (GAP if across > 1 else 0), (GAP if down > 1 else 0)
    cell = max(1, min((width - across * gap_x) // (across * cols), TALL // (down * rows), 12))
    grown = pixels.repeat(cell, 1).repeat(cell, 3)
    if channels == 3:
        grown = np.concatenate([grown, np.full((*grown.shape[:-1], 1), 255, np.uint8)], -1)
    padded = np.pad(grown, ((0, 0), (0, gap_y), (0, 0), (0, gap_x), (0, 0)))
    flat = padded.reshape(down * (rows * cell + gap_y), across * (cols * cell + gap_x), 4)
    return flat[: flat.shape[0] - gap_y, : flat.shape[1] - gap_x]
