"""What travels of a diagnosis.

Invariant: numbers and text.
"""

from __future__ import annotations

from typing import TypedDict

from ..shapes.layout import Drawing
from ..shapes.record import Given
from ..wire_types import Finite

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


class Trial(TypedDict):
    """What came of trying a cure: losses with it and without; `refused` says why it was not tried."""

    label: str
    with_it: list[float]
    without: list[float]
    after: str
    refused: str


class Bar(TypedDict):
    """A number on a scale from 0 to 1: `role` is "seen" or "baseline"; a range goes from `start` to `end`."""

    name: str
    text: str
    start: Finite
    end: Finite
    role: str
    log: bool


class Sample(TypedDict):
    """A sample of a batch and its label, or a place and its index."""

    index: int
    label: int
    bad: bool


class Found(Finding):
    """The same with its picture, and what came of its cure."""

    shapes: Shapes | None
    tried: Trial | None
    bars: list[Bar]
    samples: list[Sample]


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
