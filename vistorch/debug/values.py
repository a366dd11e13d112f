"""The table of a record's arrays: each once, exact where it is small, an overview where bytes are short.

A value travels with its cells (`data`, an array of shape grid, or `codes` and `levels` as in an array record: the top
three codes are NaN, +inf, -inf), or without where only numbers fit. A complex array's data are its magnitudes, and
`phase` comes beside them.

Invariant: the largest arrays become overviews first, and what is not finite or extreme is seen in every overview.
"""

from __future__ import annotations

from math import prod
from typing import Any, TypedDict

import numpy as np

from ..engine.base.numpy_warnings import without_warnings
from .array.blocks import choose_block, grid_of
from .array.codes import encode
from .array.measure import measure
from .numbers import host, norm_of, plain
from .wire_types import Array, Array1

CELLS = (
    4096,
    2048,
    1024,
    576,
    256,
    144,
    64,
    16,
    0,
)  # what an overview may have, the first that fits the budget
LEVELS = 1012  # bytes of a table of levels
SMALL = 512  # elements whose statistics need no walk


class _Summary(TypedDict):
    shape: list[int]
    dtype: str
    norm: float
    min: float | None  # of what is finite; None if nothing is
    max: float | None
    mean: float | None
    nan: int
    posinf: int
    neginf: int
    zeros: int
    block: list[int]  # elements merged along each axis
    grid: list[int]
    exact: bool


class Value(_Summary, total=False):
    """One array, exact or as an overview."""

    data: Array
    codes: Array
    levels: Array1
    phase: Array


class Values:
    """Arrays by number. The same array given twice has one number.

    Args:
        budget: bytes of all cells together.
    """

    def __init__(self, budget: int = 96_000) -> None:
        self.budget = budget
        self._arrays: list[np.ndarray] = []
        self._types: list[str] = []
        self._number: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no id is used again
        self.encoded: list[dict[str, Any]] = []
        self.pooled = 0

    def add(self, value: Any) -> int | None:
        """The number of a Tensor or an array; None for None."""
        if value is None:
            return None
        data = getattr(value, "_data", value)
        if id(data) in self._number:
            return self._number[id(data)]
        self._kept.append(data)
        number = self._number[id(data)] = len(self._arrays)
        self._types.append(str(data.dtype).removeprefix("torch."))
        self._arrays.append(plain(host(data)))
        return number

    def close(self) -> list[dict[str, Any]]:
        """Encode all and let go of the arrays."""
        if self._kept:
            cells = self._cells()
            with without_warnings():
                for a, name in zip(self._arrays, self._types, strict=True):
                    self.encoded.append(encoded(a, cells, name))
            self.pooled = sum(not v["exact"] for v in self.encoded)
            self._arrays, self._types, self._kept = [], [], []
            self._number.clear()
        return self.encoded

    def _cells(self) -> int:
        for cells in CELLS:
            if sum(_cost(a, cells) for a in self._arrays) <= self.budget:
                return cells
        return 0


def _cost(a: np.ndarray, cells: int) -> int:
    own = a.size * (16 if a.dtype.kind == "c" else a.dtype.itemsize)
    return min(own, 4 * cells if cells <= 256 else cells + LEVELS)


def encoded(a: np.ndarray, cells: int, name: str = "") -> dict[str, Any]:
    """One array as it travels.

    Args:
        a: the array, of a type numpy knows.
        cells: how many cells an overview may have; an array that takes no more bytes than that is exact.
        name: its type's name.
    """
    phase = None
    size = a.size * (16 if a.dtype.kind == "c" else a.dtype.itemsize)
    state: dict[str, Any] = {
        "shape": list(a.shape),
        "dtype": name or str(a.dtype),
        "norm": _brief(norm_of(a)) if a.size else 0,
    }
    if a.dtype.kind == "c":
        phase, a = np.angle(a).astype(np.float32), np.abs(a)
    if a.dtype.kind == "b":
        a = a.astype(np.uint8)
    exact = size <= (4 * cells if cells <= 256 else cells + LEVELS)
    if exact or not cells:
        state |= _numbers(a) if a.size <= SMALL else _measured(a, (1,) * a.ndim)[0]
        state |= {"block": [1] * a.ndim, "grid": list(a.shape), "exact": exact}
        if exact:
            state["data"] = a
            if phase is not None:
                state["phase"] = phase
        return state
    block = choose_block(a.shape, cells, tuple(range(max(0, a.ndim - 2), a.ndim)))
    numbers, pooled = _measured(a, block)
    pooled = pooled.astype(np.float32) if pooled.dtype == np.float64 else pooled
    data, codes, levels, _ = encode(pooled, 4 * min(cells, 256))
    state |= numbers | {
        "block": list(block),
        "grid": list(grid_of(a.shape, block)),
        "exact": prod(block) == 1 and codes is None,
    }
    if data is not None:
        return state | {"data": data}
    return state | {"codes": codes, "levels": levels}


def _measured(a: np.ndarray, block: tuple[int, ...]) -> tuple[dict[str, Any], np.ndarray]:
    found = measure(a, block)
    s = found.stats
    names = ("min", "max", "mean", "nan", "posinf", "neginf", "zeros")
    return {n: _brief(getattr(s, n)) for n in names}, found.cells


def _numbers(a: np.ndarray) -> dict[str, Any]:
    """The statistics of a small array."""
    good = a
    nan = posinf = neginf = 0
    if a.dtype.kind == "f" and not np.isfinite(a).all():
        good = a[np.isfinite(a)]
        nan, posinf, neginf = (int(x.sum()) for x in (np.isnan(a), a == np.inf, a == -np.inf))
    some = bool(good.size)
    return {
        "min": _brief(good.min().item()) if some else None,
        "max": _brief(good.max().item()) if some else None,
        "mean": _brief(float(good.mean(dtype=np.float64))) if some else None,
        "nan": nan,
        "posinf": posinf,
        "neginf": neginf,
        "zeros": int(a.size - np.count_nonzero(a)),
    }


def _brief(value: Any) -> Any:
    """Seven digits are enough beside a picture."""
    return float(f"{value:.7g}") if isinstance(value, float) else value
