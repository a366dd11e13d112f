"""What travels of arrays: an item each, its layers of cells, its numbers and its scales.

A whole number that a page could not hold exactly travels as text.
Invariant: what is not finite or extreme is among what travels, whatever the size.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from ..wire_types import Array, Array1, Finite

Role = Literal["rows", "cols", "across", "down", "slider", "channels"]
Number = float | str | None


class Scale(TypedDict):
    """How values become colours, and what is counted along it."""

    id: str
    label: str
    map: str
    centre: bool
    curve: Literal["linear", "log"]
    lo: Finite
    hi: Finite
    linear: Finite
    beyond: int
    say: str
    counts: Array1
    under: int
    over: int
    edges: Array1


class Stats(TypedDict):
    """Numbers over all elements; all but the counts of the finite ones."""

    count: int
    min: Number
    max: Number
    mean: Number
    std: Number
    median: Number
    zeros: int
    nan: int
    posinf: int
    neginf: int
    argmin: int | None
    argmax: int | None
    read: bool


class Exact(TypedDict):
    """The values themselves."""

    data: Array


class Coded(TypedDict):
    """Numbers of levels, the top three codes being NaN, +inf and -inf."""

    codes: Array
    levels: Array1
    exact: bool


class Ends(TypedDict):
    """The other ends of blocks that show both ends of their range."""

    codes: Array
    levels: Array1


class Layer(TypedDict):
    """One real number a cell."""

    name: str
    values: Exact | Coded | None
    ends: Ends | None
    stats: Stats
    scales: list[Scale]
    scale: int


class Picture(TypedDict):
    """The axes of a picture, and the values that are black and white."""

    channels: int | None
    rows: int
    cols: int
    lo: Finite
    hi: Finite
    shown: bool


class Bad(TypedDict):
    """How many elements are not finite, and where the first are."""

    nan: int
    posinf: int
    neginf: int
    at: Array1
    which: Array1


class Item(TypedDict):
    """One array."""

    name: str
    index: str
    role: Literal["", "value", "gradient", "update"]
    shape: list[int]
    dims: list[str]
    dtype: str
    device: str
    nbytes: int
    notes: list[str]
    block: list[int]
    grid: list[int]
    pooled: str
    roles: list[Role]
    image: Picture | None
    layers: list[Layer]
    bad: Bad


class State(TypedDict):
    """The whole record."""

    layout: Literal["one", "linked", "strip"]
    title: str
    text: str
    items: list[Item]
    size: int
    says: list[str]
