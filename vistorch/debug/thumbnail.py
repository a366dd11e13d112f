"""A picture of an array in at most 16 x 48 cells: what a table of many arrays has room for.

The cells are pooled as the array view's are: NaN, the infinities and the entry furthest from its block's mean show, and
with it the other end of its range where that is at least half as far.
Invariant: a thumbnail holds bytes only, and says nothing of its array that the array view would not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from .array.measure import Measured, measure
from .array.on_device import ask_measure
from .array.scales import scales_for
from .array.state import Scale
from .device_reads import WHOLE, Batch, place_of
from .numbers import host
from .source import is_torch
from .wire_types import Array

ROWS, COLS = 16, 48
TOP = 252  # the code of a scale's end
NEGINF, POSINF, NAN = 253, 254, 255
PACE = 2e-8  # seconds an element, at most: what is too slow for the time that is left is not begun
CROSSES = 1 << 22  # elements that are fetched from a GPU for it


class ThumbState(TypedDict):
    """A small picture as it travels."""

    codes: Array
    map: str
    centre: bool


@dataclass(frozen=True, eq=False)
class Thumb:
    """A small picture.

    `codes` are uint8: 0 to 252 is the place on the scale from one end to the other, 253 -inf, 254 +inf, 255 NaN. With
    `centre` zero is in the middle (126); else the scale is the map's upper half.
    """

    codes: np.ndarray
    map: str
    centre: bool

    def wire(self) -> ThumbState:
        """The state, as it travels."""
        return {"codes": self.codes, "map": self.map, "centre": self.centre}


def thumbnail(array: Any, seconds: float = 1.0) -> Thumb | None:
    """Make the picture of a numpy or cupy array.

    Args:
        array: the array; anything but numbers and booleans has no picture.
        seconds: an array that would take longer has none either.

    Example:
        >>> thumbnail(np.array([[-1.0, 0.0, np.nan, 1.0]])).codes
        array([[  0, 126, 255, 252]], dtype=uint8)
    """
    return ask_thumbnail(Batch(), array)(seconds)


def ask_thumbnail(batch: Batch, array: Any) -> Callable[[float], Thumb | None]:
    """Ask for what the picture is made of, and give what makes it if so many seconds are enough.

    Args:
        batch: what brings it, with that of other pictures.
        array: the array, also a tensor of PyTorch.
    """
    place = place_of(array)
    if place is None:
        here = batch.whole(array).value if is_torch(array) else array
        return lambda seconds: _made(here if isinstance(here, np.ndarray) else np.asarray(here), seconds)
    if is_torch(array) or array.dtype.kind == "c" or array.nbytes <= WHOLE:
        if (array.numel() if is_torch(array) else array.size) > CROSSES:
            return lambda seconds: None
        whole = batch.whole(array)
        return lambda seconds: _made(whole.value, math.inf)
    rows, cols = halves(array.shape)
    with place:
        asked = ask_measure(batch, place.xp, array.reshape(rows, cols), _block(rows, cols))

    def make(seconds: float) -> Thumb | None:
        found = None if asked is None else asked.value
        if found is None:  # doubles that float32 cannot tell apart: rare
            return _made(host(array), seconds) if array.size <= CROSSES else None
        return _drawn(found, array.dtype.kind)

    return make


def _block(rows: int, cols: int) -> tuple[int, int]:
    return -(-rows // ROWS), -(-cols // COLS)


def _made(array: np.ndarray, seconds: float) -> Thumb | None:
    if not array.size or array.size * PACE > seconds:
        return None
    if array.dtype.kind == "c":
        array = np.abs(array)
    if array.dtype.kind not in "biufV" or array.dtype.names is not None:
        return None
    rows, cols = halves(array.shape)
    return _drawn(measure(array.reshape(rows, cols), _block(rows, cols)), array.dtype.kind)


def _drawn(found: Measured, kind: str) -> Thumb:
    """The picture of what was measured, of an array of that kind of type."""
    scales, chosen = scales_for(found.stats, found.spread, whole=kind in "iu", truth=kind == "b")
    scale = scales[chosen]
    codes = codes_of(np.asarray(found.cells, np.float64), scale)
    if found.ends is not None and not np.array_equal(found.ends, found.cells, equal_nan=kind == "f"):
        codes = _woven(codes, codes_of(np.asarray(found.ends, np.float64), scale))
    if (
        not scale.centre and scale.hi <= 0
    ):  # the half of the map below zero, which is that of a scale around it
        codes = np.where(codes <= TOP, np.rint(codes / 2), codes).astype(np.uint8)
        return Thumb(codes, scale.map, True)
    return Thumb(codes, scale.map, scale.centre)


def _woven(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Each cell as two by two: where a block shows both ends of its range, both colours are in it alike."""
    out = codes.repeat(2, 0).repeat(2, 1)
    out[::2, 1::2] = out[1::2, ::2] = others
    return out


def halves(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return rows and columns of a shape: its axes in order, cut where the table is nearest to 1 : 3.

    Example:
        >>> halves((64, 3, 3, 3)), halves((5, 7)), halves((9,)), halves(())
        ((64, 27), (5, 7), (1, 9), (1, 1))
    """
    if len(shape) < 3:
        return (shape[0], shape[1]) if len(shape) == 2 else (1, math.prod(shape))
    cuts = [(math.prod(shape[:at]), math.prod(shape[at:])) for at in range(1, len(shape))]
    return min(cuts, key=lambda cut: abs(math.log(cut[1] / cut[0] / 3)))


def codes_of(values: np.ndarray, scale: Scale) -> np.ndarray:
    """Return the places of values on a scale, as codes."""
    with np.errstate(all="ignore"):
        places = np.nan_to_num(_places(values, scale), nan=0.0, posinf=1.0, neginf=0.0)
    codes = np.rint(np.clip(places, 0.0, 1.0) * TOP).astype(np.uint8)
    codes[values == -np.inf] = NEGINF
    codes[values == np.inf] = POSINF
    codes[np.isnan(values)] = NAN
    return codes


def _places(values: np.ndarray, scale: Scale) -> np.ndarray:
    """Return where values are between a scale's ends, 0 to 1."""
    if scale.curve == "log" and scale.centre:
        part = np.log1p(np.abs(values) / scale.linear) / np.log1p(scale.hi / scale.linear)
        return (np.sign(values) * part + 1) / 2
    if scale.curve == "log":
        return np.log(values / scale.lo) / np.log(scale.hi / scale.lo)
    return values / scale.hi / 2 + 0.5 if scale.centre else (values - scale.lo) / (scale.hi - scale.lo)
