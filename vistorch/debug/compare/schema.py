"""What travels of a comparison: a row an op, the first difference with its values, the leaves whose gradients differ.

Invariant: of a long run the rows that differ come first.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from ..values import Value


class Side(TypedDict):
    """How the two runs stand at an op, in one pass; "differs" where it was not run again."""

    state: Literal["same", "own", "inherited", "differs"]
    differs: bool
    largest: float | None
    relative: float | None
    beyond: int  # how many elements
    size: int
    at: list[int]
    shapes: str  # what of shape or type differs
    own: float | None  # the largest difference when fed the reference's inputs


class Row(TypedDict):
    """One op of both runs, or of one."""

    id: int
    a: int | None
    b: int | None
    op: str
    module: str
    layer: str  # class and size of the module
    line: str
    forward: Side | None
    backward: Side | None


# `pass` is no name of Python's: so these are written as calls
First = TypedDict(
    "First",
    {
        "row": int,
        "pass": Literal["forward", "backward"],
        "output": int,
        "at": list[int],
        "values": list[str],
        "apart": str,  # what the second is above the first; "" where there are no values
        "a": Value | None,
        "b": Value | None,
        "difference": Value | None,
    },
)


class _Leaf(TypedDict):
    name: str
    only: Literal["a", "b", ""]


class Leaf(_Leaf, total=False):
    """A leaf whose gradients differ, or that one run has."""

    state: Literal["same", "own", "inherited", "differs"]
    differs: bool
    largest: float | None
    relative: float | None
    beyond: int
    size: int
    at: list[int]
    shapes: str
    own: float | None


class State(TypedDict):
    """The whole record."""

    title: str
    report: str
    a: str
    b: str
    names: tuple[str, str]  # what the two runs are called
    libraries: list[str]  # whose ops they are: one of both runs, or one for each
    rtol: float | None
    atol: float | None
    sentence: str
    ops: int
    differing: int
    rows: list[Row]
    first: First | None
    leaves: list[Leaf]
