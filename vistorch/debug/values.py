"""The table of a record's arrays: each once, exact where it is small, an overview where bytes are short.

A value travels with its cells (`data`, an array of shape grid, or `codes` and `levels` as in an array record: the top
three codes are NaN, +inf, -inf), or without where only numbers fit. A complex array's data are its magnitudes, and
`phase` comes beside them.

Invariant: the largest arrays become overviews first, and what is not finite or extreme is seen in every overview.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypedDict

import numpy as np

from ..engine.base.numpy_warnings import without_warnings
from .array.blocks import choose_block, grid_of
from .array.codes import encode
from .array.measure import Measured, measure
from .array.on_device import ask_measure
from .device_reads import WHOLE, Batch, place_of
from .numbers import ask_norm, host, norm_of, plain
from .source import is_torch, named
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
        self._types: list[str] = []
        self._arrays: list[Any] = []  # of numpy where they are on the host
        self._number: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no id is used again
        self.encoded: list[dict[str, Any]] = []
        self.pooled = 0

    def add(self, value: Any) -> int | None:
        """The number of a Tensor or an array; None for None."""
        if value is None:
            return None
        data = value if is_torch(value) else getattr(value, "_data", value)
        if id(data) in self._number:
            return self._number[id(data)]
        number = self._number[id(data)] = len(self._arrays)
        self._kept.append(data)
        self._types.append(str(data.dtype).removeprefix("torch."))
        if place_of(data) is None:
            self._arrays.append(plain(host(data)))
        else:
            self._arrays.append(named("torch").readable(data) if is_torch(data) else data)
        return number

    def close(self) -> list[dict[str, Any]]:
        """Encode all, with what is on a device brought by one transfer, and let go of the arrays."""
        if self._kept:
            cells, batch = self._cells(), Batch()
            with without_warnings():
                read = [
                    _reader(batch, a, cells, name) for a, name in zip(self._arrays, self._types, strict=True)
                ]
                batch.send()
                self.encoded += [one() for one in read]
            self.pooled = sum(not v["exact"] for v in self.encoded)
            self._arrays, self._types, self._kept = [], [], []
            self._number.clear()
        return self.encoded

    def _cells(self) -> int:
        for cells in CELLS:
            if sum(_cost(a, cells) for a in self._arrays) <= self.budget:
                return cells
        return 0


def _cost(a: Any, cells: int) -> int:
    return min(bytes_of(a), _most(cells))


def _most(cells: int) -> int:
    """How many bytes an array of so many cells takes at most."""
    return 4 * cells if cells <= 256 else cells + LEVELS


def _reader(batch: Batch, a: Any, cells: int, name: str) -> Callable[[], dict[str, Any]]:
    """Ask for what an array's state is made of, and give what makes it."""
    if isinstance(a, np.ndarray):
        return lambda: encoded(a, cells, name)
    if is_torch(a) or a.dtype.kind == "c" or bytes_of(a) <= max(WHOLE, _most(cells)):
        whole = batch.whole(a)
        return lambda: encoded(plain(whole.value), cells, name)
    block = choose_block(a.shape, cells, tuple(range(max(0, a.ndim - 2), a.ndim))) if cells else None
    place = place_of(a)
    with place:
        norm = ask_norm(batch, a)
        measured = ask_measure(batch, place.xp, a, block, brief=True)

    def read() -> dict[str, Any]:
        found = None if measured is None else measured.value
        if found is None:  # numbers that float64 cannot square: rare
            return encoded(plain(host(a)), cells, name)
        return _state(a.shape, name, norm.value, _named(found), block, found.cells, cells)

    return read


def encoded(a: np.ndarray, cells: int, name: str = "") -> dict[str, Any]:
    """One array as it travels.

    Args:
        a: the array, of a type numpy knows.
        cells: how many cells an overview may have; an array that takes no more bytes than that is exact.
        name: its type's name.
    """
    phase = None
    norm = norm_of(a) if a.size else 0
    size = bytes_of(a)
    if a.dtype.kind == "c":
        phase, a = np.angle(a).astype(np.float32), np.abs(a)
    if a.dtype.kind == "b":
        a = a.astype(np.uint8)
    if size <= _most(cells):
        state = _state(a.shape, name or str(a.dtype), norm, _few(a), (1,) * a.ndim, None, cells)
        state |= {"exact": True, "data": a}
        return state if phase is None else state | {"phase": phase}
    if not cells:
        return _state(a.shape, name or str(a.dtype), norm, _few(a), None, None, cells)
    block = choose_block(a.shape, cells, tuple(range(max(0, a.ndim - 2), a.ndim)))
    found = measure(a, block)
    return _state(a.shape, name or str(a.dtype), norm, _named(found), block, found.cells, cells)


def bytes_of(a: Any) -> int:
    """How many bytes an array takes in a type that numpy knows.

    Args:
        a: an array, or a tensor of PyTorch.
    """
    if is_torch(a):
        half = a.element_size() <= 2 and (a.is_floating_point() or a.is_complex())
        return a.numel() * (16 if a.is_complex() else 4 if half else a.element_size())
    kind, wide = a.dtype.kind, a.dtype.itemsize
    return a.size * (16 if kind == "c" else 4 if wide <= 2 and kind not in "iub" else wide)


def _state(
    shape: tuple[int, ...],
    dtype: str,
    norm: float,
    numbers: dict[str, Any],
    block: tuple[int, ...] | None,
    pooled: np.ndarray | None,
    cells: int,
) -> dict[str, Any]:
    """What an array amounts to, as it travels; `pooled` where it is shown as an overview of blocks."""
    whole = (1,) * len(shape)
    state: dict[str, Any] = {"shape": list(shape), "dtype": dtype, "norm": _brief(norm)} | numbers
    if pooled is None or block is None:
        return state | {"block": list(whole), "grid": list(shape), "exact": False}
    pooled = pooled.astype(np.float32) if pooled.dtype == np.float64 else pooled
    data, codes, levels, _ = encode(pooled, 4 * min(cells, 256))
    state |= {
        "block": list(block),
        "grid": list(grid_of(shape, block)),
        "exact": prod(block) == 1 and codes is None,
    }
    return state | ({"data": data} if data is not None else {"codes": codes, "levels": levels})


def _few(a: np.ndarray) -> dict[str, Any]:
    """The statistics of an array by itself."""
    return _numbers(a) if a.size <= SMALL else _named(measure(a, (1,) * a.ndim))


def _named(found: Measured) -> dict[str, Any]:
    names = ("min", "max", "mean", "nan", "posinf", "neginf", "zeros")
    return {n: _brief(getattr(found.stats, n)) for n in names}


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
