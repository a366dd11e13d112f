"""What travels of a trace: the first bad value, every origin with the values around it, and a row an op.

Invariant: what travels is stable: it holds no time.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from ..graph import schema as graphs
from ..wire_types import Array1, Array2

Found = Literal["clean", "origin", "propagated", "healed"]


class Mark(TypedDict):
    """What was found at an op in one pass."""

    state: Found
    nan: int
    posinf: int
    neginf: int
    beyond: int
    size: int
    text: str  # "2 of 6 -inf"; of a origin in backward how it came; of a clean number its value


class Row(TypedDict):
    """One op."""

    id: int
    line: int | None
    where: str
    op: str
    code: str  # the op as written
    module: str
    layer: str  # class and size of the module
    forward: Mark | None
    backward: Mark | None


class Table(TypedDict):
    """Values of a tensor around a bad one."""

    name: str
    shape: list[int]
    dtype: str
    lead: list[int]  # indices before the last two axes
    start: tuple[int, int]  # row, column
    values: Array2
    bad: Array2
    whole: bool


# `pass` is no name of Python's: so this is written as a call
Origin = TypedDict(
    "Origin",
    {
        "row": int,
        "pass": Literal["forward", "backward"],
        "op": str,
        "where": str,
        "cure": str,
        "how": str,  # "log of p[1, 0] = 0 gives -inf"
        "at": Array2,  # one row of indices each, the first 64
        "which": Array1,  # 0 for NaN, 1 for +inf, 2 for -inf, 3 beyond the bound
        "count": int,
        "size": int,
        "inputs": list[Table],
        "outputs": list[Table],
    },
)


class Line(TypedDict):
    """A line of the source, and what was found on it."""

    number: int
    text: str
    marks: list[tuple[str, Found | Literal["failed"]]]


class Source(TypedDict):
    """The lines that ran."""

    where: str
    lines: list[Line]


class Leaf(TypedDict):
    """A leaf whose gradient is bad."""

    name: str
    nan: int
    posinf: int
    neginf: int
    beyond: int
    size: int


class State(TypedDict):
    """The whole record."""

    title: str
    library: str  # whose ops they are: "vistorch", "PyTorch 2.13"
    report: str
    sentence: str  # the first bad value; "" if there is none
    course: str  # how the loss grew before; "" if it did not
    more: str
    cure: str
    forward: int
    backward: int
    bound: float | None
    error: str | None
    says: list[str]
    source: Source | None
    rows: list[Row]
    first: Origin | None
    origins: list[Origin]
    graph: graphs.State | None
    leaves: list[Leaf]
