"""What travels of a diagnosis.

Invariant: numbers and text.
"""

from __future__ import annotations

from typing import TypedDict

from ..shapes.layout import Drawing
from ..shapes.record import Given

SCHEMA = 1


class Place(TypedDict):
    """A line of the user's: `role` is "guilty", "related" or "" for a neighbour."""

    line: int
    text: str
    role: str
    label: str


class Shapes(TypedDict):
    """What does not fit together, drawn."""

    sentence: str
    op: str  # the sign between the operands
    operands: list[Given]
    drawing: Drawing


class Finding(TypedDict):
    """A finding."""

    rule: str
    severity: str  # "bad", "wrong", "doubtful"
    certainty: str  # "exact", "lineage", "measured"
    text: str
    where: str
    cell: int | None  # the execution number of the cell that the line stands in
    line: int | None
    layer: str
    source: list[Place]
    proof: list[tuple[str, str]]
    confirm: str
    gives: str
    unless: str
    cure: list[tuple[int, str, str]]
    advice: str
    tree: list[tuple[int, str, str, str]]  # depth, name, note, "guilty" or ""


class Found(Finding):
    """The same with its picture."""

    shapes: Shapes | None


class Looked(TypedDict):
    """A rule, and whether it had anything to look at."""

    name: str
    title: str
    looked: bool


class State(TypedDict):
    """The whole."""

    version: int
    title: str
    says: str
    report: str
    steps: int
    passes: int
    count: int
    losses: list[float]
    rules: list[Looked]
    findings: list[Found]
