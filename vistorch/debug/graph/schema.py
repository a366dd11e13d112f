"""What travels of a graph record: columns of numbers, one table of texts and one of shapes, and layouts of fold states.

Invariant: a column has one entry a node, an edge or a kept value; texts and shapes are numbers of their table.
"""

from __future__ import annotations

from typing import TypedDict

from ..wire_types import Array1, Array2, Finite
from .labels import COLUMN, GROUP, NODE, ROOT, SMALL
from .words import KINDS, MARKS

# What the page counts by and measures with, too: `make generated` writes it beside the types.
CONSTANTS = {
    "KINDS": KINDS,
    "MARKS": MARKS,
    "NODE": NODE,
    "GROUP": GROUP,
    "ROOT": ROOT,
    "COLUMN": COLUMN,
    "SMALL": SMALL,
}


class Nodes(TypedDict):
    """A column an attribute, an entry a node."""

    kind: Array1  # number in `record.KINDS`
    step: Array1
    group: Array1
    shape: Array1
    saved: Array1
    shared: Array1
    grad: Array1
    value: Array1
    formulas: Array1
    mark: Array1  # number in `record.MARKS`
    row: Array1
    bold: Array1
    plain: Array1
    right: Array1
    does: Array1
    layer: Array1
    op: Array1
    name: Array1
    label: Array1
    dtype: Array1
    device: Array1
    line: Array1
    says: Array1
    chip: Array1


class Kept(TypedDict):
    """What nodes saved, an entry a value."""

    node: Array1
    name: Array1
    shape: Array1
    bytes: Array1
    alias: Array1


class Edges(TypedDict):
    """An entry an edge."""

    source: Array1
    target: Array1
    input: Array1
    output: Array1
    shape: Array1
    norm: Array1
    value: Array1  # what flowed, with its sign, where it is one number; else nan
    dead: Array1


class Group(TypedDict):
    """A module's call, or a frame made for order."""

    name: str
    path: str
    kind: str
    about: str
    parent: int
    use: int
    note: str
    synthetic: bool
    ops: int
    parameters: int
    saved: int


class Root(TypedDict):
    """Where a pass begins."""

    node: int
    text: str


class Layout(TypedDict):
    """Where everything is in one fold state; rows of numbers."""

    open: Array1
    width: int
    height: int
    boxes: Array2
    pills: Array2
    frames: Array2
    edges: Array2
    norms: Array1
    points: Array2


class State(TypedDict):
    """The whole record."""

    title: str
    text: str
    name: str
    meta: list[str]
    source: str  # whose graph it is: "vistorch", "PyTorch 2.13"
    says: list[str]
    nodes: Nodes
    kept: Kept
    edges: Edges
    groups: list[Group]
    roots: list[Root]
    scale: tuple[Finite, Finite] | None  # logarithms of the least and the largest norm
    failed: int
    layouts: list[Layout]
    stages: Array1  # numbers of layouts, from all closed to what is open at first
    strings: list[str]
    shapes: list[list[int]]
    formulas: list[list[tuple[str, str]]]
