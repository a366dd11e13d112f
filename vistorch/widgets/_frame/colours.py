"""The colour maps: eleven stops each, straight lines between them in OKLab, as in `js/src/shared`.

`tide` for values, `ember` for gradients (its warm half is theirs), `phase` goes round and meets itself. A
sequential scale is the upper half of the first two. Invariant: position -1 ... +1 maps onto 257 colours, the middle
one neutral.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

STOPS = {
    ("tide", "light"): "3e2660 644395 906ec7 bba2ea e0d3fb f8fbf9 b8e7d4 67c7a4 039a75 04684e 01402f",
    ("ember", "light"): "3e2660 644395 906ec7 bba2ea e0d3fb fcf9f7 f6d3b6 e1a269 bb6d12 814800 502b00",
    ("phase", "light"): "28304a 5a4391 906ec7 bba2ea e0d3fb f8fbf9 b8e7d4 67c7a4 12977a 17625f 28304a",
    ("tide", "dark"): "e3d6fe c0a2f5 9576c9 695290 423658 1e2120 164737 057256 0fa17a 59cda6 adefd5",
    ("ember", "dark"): "e3d6fe c0a2f5 9576c9 695290 423658 23201e 543519 885219 be762c eba25f fed5b2",
    ("phase", "dark"): "dde3ea c0a8f2 9576c9 695290 423658 1e2120 164737 057256 0fa17a 6fcbab dde3ea",
}
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def to_lab(rgb: np.ndarray) -> np.ndarray:
    """SRGB (0 ... 255, last axis) as OKLab."""
    part = np.asarray(rgb, float) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ TO_CONES.T) @ TO_LAB.T


def from_lab(lab: np.ndarray) -> np.ndarray:
    """OKLab as sRGB bytes; what no screen can show is cut off."""
    linear = (np.asarray(lab) @ np.linalg.inv(TO_LAB).T) ** 3 @ np.linalg.inv(TO_CONES).T
    part = np.where(
        linear <= 0.0031308, linear * 12.92, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055
    )
    return np.round(255 * np.clip(part, 0, 1)).astype(np.uint8)


@cache
def table(name: str, theme: str = "light") -> np.ndarray:
    """257 colours for the positions -1 ... +1 of a map, uint8 of shape (257, 3)."""
    hexes = STOPS[name, theme].split()
    stops = to_lab(np.array([[int(text[i : i + 2], 16) for i in (0, 2, 4)] for text in hexes]))
    where = np.linspace(0, len(stops) - 1, 257)
    colours = from_lab(np.stack([np.interp(where, np.arange(len(stops)), stops[:, i]) for i in range(3)], 1))
    colours.setflags(write=False)
    return colours


def part_of(scale: Mapping[str, Any]) -> bool | None:
    """Which part of a map a scale uses: all around zero, else the half of its sign; None is the lower."""
    return True if scale["centre"] else None if float(scale["hi"]) <= 0 else False


def sampled(name: str, theme: str, part: bool | None, count: int) -> np.ndarray:
    """`count` colours over the part of a map that a scale uses: the whole, the upper half, or for None the lower."""
    low, high = (0, 256) if part or name == "phase" else (128, 256) if part is False else (0, 128)
    positions = np.linspace(low, high, count)
    return table(name, theme)[np.round(positions).astype(int)]
