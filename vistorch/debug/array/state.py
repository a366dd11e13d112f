"""The record of arrays: what is known of them and what of them is shown. Numbers, strings and numpy arrays only.

Invariant: nothing of the engine is in a record, so it can be kept, saved, drawn and sent after its tensor is gone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from .schema import State

Number = int | float | None
EXACT_IN_JSON = 2**53


@dataclass
class Stats:
    """Numbers over all elements; all but the counts are of the finite ones, None where there is none.

    `std` divides by n - 1, `median` is the lower of two middle ones, both as PyTorch's. `argmin` and `argmax` are flat
    C-order positions of one smallest and one largest finite element. Where not `read`, only the count is known.
    """

    count: int = 0
    min: Number = None
    max: Number = None
    mean: Number = None
    std: Number = None
    median: Number = None
    zeros: int = 0
    nan: int = 0
    posinf: int = 0
    neginf: int = 0
    argmin: int | None = None
    argmax: int | None = None
    read: bool = True

    @property
    def finite(self) -> int:
        """How many elements are finite."""
        return self.count - self.nan - self.posinf - self.neginf


@dataclass
class Scale:
    """How values become places on a colour map, the sentence that says so, and what is counted along it.

    `counts[i]` elements v have `edges[i] <= v < edges[i + 1]` (the last step holds its end too): exactly. For large
    arrays the inner edges are the boundaries nearest to equal steps at which elements were counted.
    """

    id: str
    label: str
    map: str
    centre: bool
    curve: str
    lo: float
    hi: float
    linear: float
    beyond: int
    say: str
    counts: np.ndarray
    under: int
    over: int
    edges: np.ndarray


@dataclass
class Layer:
    """One real number per cell: the values, or magnitude or phase of complex ones.

    Either `data` are the cells' values themselves, or `levels[codes]` are, the top three codes being NaN (largest),
    +inf and -inf. Both are None for an item of which only the numbers are known. `ends` are codes and levels of the
    second values of blocks that show both ends of their range; code 255 where a block shows one.
    """

    name: str
    stats: Stats
    scales: list[Scale] = field(default_factory=list)
    scale: int = 0
    data: np.ndarray | None = None
    codes: np.ndarray | None = None
    levels: np.ndarray | None = None
    exact: bool = True
    ends: tuple[np.ndarray, np.ndarray] | None = None

    def cells(self) -> np.ndarray | None:
        """The values that are shown, NaN and infinities among them."""
        if self.codes is None or self.levels is None:
            return self.data
        top = np.array([-np.inf, np.inf, np.nan], self.levels.dtype)
        missing = np.iinfo(self.codes.dtype).max - 2 - len(self.levels)
        table = np.concatenate([self.levels, np.zeros(missing, self.levels.dtype), top])
        return table[self.codes]

    def wire(self) -> dict[str, Any]:
        """As the page gets it."""
        if self.data is not None:
            values: Any = {"data": _sendable(self.data)}
        elif self.codes is not None:
            values = {"codes": self.codes, "levels": self.levels, "exact": self.exact}
        else:
            values = None
        return {
            "name": self.name,
            "values": values,
            "ends": None if self.ends is None else {"codes": self.ends[0], "levels": self.ends[1]},
            "stats": _fields(self.stats),
            "scales": [_fields(s) for s in self.scales],
            "scale": self.scale,
        }


@dataclass
class Image:
    """The axes of a picture and the values that are black and white; `shown` if it is first seen as one."""

    channels: int
    rows: int
    cols: int
    lo: float = 0.0
    hi: float = 1.0
    shown: bool = True


@dataclass
class Bad:
    """How many elements are not finite, and where the first are: flat C-order positions, at most 512.

    `which` says 0 for NaN, 1 for +inf, 2 for -inf.
    """

    nan: int
    posinf: int
    neginf: int
    at: np.ndarray
    which: np.ndarray


@dataclass
class Item:
    """One array: what it is, how it is cut into blocks, and a layer of cells (two for complex numbers)."""

    name: str
    index: str
    role: str
    shape: tuple[int, ...]
    dims: tuple[str, ...]
    dtype: str
    device: str
    nbytes: int
    notes: list[str]
    block: tuple[int, ...]
    grid: tuple[int, ...]
    pooled: str
    roles: tuple[str, ...]
    image: Image | None
    layers: list[Layer]
    bad: Bad

    def wire(self) -> dict[str, Any]:
        """As the page gets it."""
        state = {k: _plain(v) for k, v in vars(self).items() if k not in ("layers", "image", "bad")}
        state["layers"] = [layer.wire() for layer in self.layers]
        state["image"] = None if self.image is None else _fields(self.image)
        state["bad"] = _fields(self.bad)
        return state


@dataclass
class ArrayRecord:
    """What is shown of one array, of one parameter (value, gradient, update), or of several: see `record`."""

    kind: ClassVar[str] = "array"

    layout: str
    title: str
    shown: str
    items: list[Item]
    size: int = 640
    says: list[str] = field(default_factory=list)

    @property
    def replaces_text(self) -> bool:
        """A strip's rows say all that its table does."""
        return self.layout == "strip"

    def text(self) -> str:
        """What a terminal shows: the tensor as PyTorch prints it, for several a table."""
        return self.shown

    def wire(self) -> State:
        """The state for the page: what JSON can hold, and numpy arrays in native C order."""
        state = {
            "layout": self.layout,
            "title": self.title,
            "text": self.shown,
            "items": [item.wire() for item in self.items],
            "size": self.size,
            "says": list(self.says),
        }
        return cast("State", state)


def _fields(part: Any) -> dict[str, Any]:
    return {k: _plain(v) for k, v in vars(part).items()}


def _plain(value: Any) -> Any:
    """A value as JSON holds it exactly; what no JSON number can be is a string."""
    if isinstance(value, np.ndarray):
        return _sendable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT_IN_JSON:
        return str(value)  # the page reads numbers as doubles, which would round it
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return value


def _sendable(array: np.ndarray) -> np.ndarray:
    """The array in a type that travels: no booleans, no halves, no unsigned 64 bits; native and in C order."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b":
        array = array.view(np.uint8)
    elif kind == "u" and size == 8:
        array = array.astype(np.int64 if not array.size or array.max() < 2**63 else np.float64)
    elif kind == "V" or (kind == "f" and size not in (4, 8)):
        array = array.astype(np.float32 if size < 8 else np.float64)
    return np.ascontiguousarray(array).reshape(array.shape)
