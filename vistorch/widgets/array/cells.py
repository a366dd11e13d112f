"""From an item of an array record to a grid of positions on its colour scale, laid out as rows, columns and tiles.

The picture, the drawing and the page (`js/src/array`) share these rules; here they need numpy alone.

Invariant: what is not finite stays so through every step: no rule averages it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...debug.array.pool import furthest

BAD = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
ORDER = ("slider", "down", "rows", "across", "cols")


def number(value: float | str | None) -> float:
    """A number of a state, where NaN and the infinities stand as text."""
    return np.nan if value is None else BAD[value] if isinstance(value, str) else float(value)


def values(layer: Mapping[str, Any]) -> np.ndarray:
    """A layer's values as float64, in the shape of its grid."""
    stored = layer["values"]
    if "data" in stored:
        return np.asarray(stored["data"], np.float64)
    codes, levels = stored["codes"], np.asarray(stored["levels"], np.float64)
    top = np.iinfo(codes.dtype).max
    found = levels[np.minimum(codes, len(levels) - 1)] if len(levels) else np.full(codes.shape, np.nan)
    for code, bad in zip((top, top - 1, top - 2), (np.nan, np.inf, -np.inf), strict=True):
        found[codes == code] = bad
    return found


def position(scale: Mapping[str, Any], at: np.ndarray) -> np.ndarray:
    """Where values stand on a scale: -1 ... +1 around its centre, or 0 ... 1; what is not finite stays."""
    low, high = number(scale["lo"]), number(scale["hi"])
    with np.errstate(all="ignore"):
        if scale["curve"] == "log" and scale["centre"]:
            bend = number(scale["linear"])
            place = np.sign(at) * np.log1p(np.abs(at) / bend) / np.log1p(high / bend)
        elif scale["curve"] == "log":
            place = np.log(at / low) / np.log(high / low)
            place = np.where(at <= 0, 0.0, place)  # no logarithm: the lowest colour
        elif scale["centre"]:
            place = at / high
        else:
            place = (at - low) / (high - low)
        if not high > low:
            place = np.zeros_like(at)
        place = np.clip(place, -1.0 if scale["centre"] else 0.0, 1.0)
    return np.where(np.isfinite(at), place, at)


def tiles(grid: np.ndarray, roles: list[str]) -> np.ndarray:
    """A grid as (down, rows, across, cols): axes of one role are merged, a slider stands at its beginning."""
    seats = ["down" if role == "channels" else role for role in roles]
    order = [axis for role in ORDER for axis, seat in enumerate(seats) if seat == role]
    turned = grid.transpose(order)
    turned = turned[(0,) * seats.count("slider")]
    sizes = [
        int(np.prod([grid.shape[a] for a, seat in enumerate(seats) if seat == role])) for role in ORDER[1:]
    ]
    return turned.reshape(sizes)


def ends(layer: Mapping[str, Any]) -> np.ndarray | None:
    """The other ends of a layer's blocks as float64, NaN where a block shows one value; None where all do."""
    stored = layer.get("ends")
    return None if stored is None else values({"values": {**stored, "exact": False}})


def shrink(shown: np.ndarray, others: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Merge neighbours until there are so many rows and columns at most, by the rule of blocks.

    What is not finite wins; else the value furthest from the mean, and the other end beside it where it is at least
    half as far.

    Args:
        shown: values as (down, rows, across, columns).
        others: the other ends, the same values where there are none.
        rows: how many rows may be left.
        columns: how many columns.
    """
    finite = np.isfinite(shown) & np.isfinite(others)
    bad = np.where(np.isnan(shown), 3, np.where(shown == np.inf, 2, np.where(shown == -np.inf, 1, 0)))
    least = np.where(finite, np.minimum(shown, others), np.inf)
    most = np.where(finite, np.maximum(shown, others), -np.inf)
    total, count = np.where(finite, shown / 2 + others / 2, 0), finite.astype(np.float64)
    for axis, limit in ((1, rows), (3, columns)):
        size = shown.shape[axis]
        if size > limit:
            starts = np.arange(0, size, -(-size // limit))
            bad = np.maximum.reduceat(bad, starts, axis)
            least, most = np.minimum.reduceat(least, starts, axis), np.maximum.reduceat(most, starts, axis)
            total, count = np.add.reduceat(total, starts, axis), np.add.reduceat(count, starts, axis)
    with np.errstate(all="ignore"):
        one, two = furthest(least, most, total / count)
    marks = np.choose(bad, [0, -np.inf, np.inf, np.nan])
    return np.where(bad > 0, marks, one), np.where(bad > 0, marks, two)


def picture(item: Mapping[str, Any], layer: Mapping[str, Any]) -> np.ndarray | None:
    """RGB(A) bytes of an item shown as an image, (down, rows, across, cols, channels); None for others."""
    image = item.get("image")
    if not image or not image.get("shown"):
        return None
    axis = image.get("channels")
    grid, roles = values(layer), list(item["roles"])
    if axis is None:
        grid, roles, axis = grid[..., None], [*roles, "channels"], grid.ndim
    grid = np.moveaxis(grid, axis, -1)
    roles.pop(axis)
    low, high = number(image["lo"]), number(image["hi"])
    level = np.nan_to_num((grid - low) / (high - low), nan=0.0, posinf=1.0, neginf=0.0)
    level = np.round(np.clip(level, 0, 1) * 255).astype(np.uint8)
    parts = [tiles(level[..., c], roles) for c in range(level.shape[-1])]
    if len(parts) == 1:
        parts *= 3
    return np.stack(parts[:4], -1)
