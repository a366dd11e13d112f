"""What travels of a walk through a backward pass: nodes, what each step changed, and a table of values.

Invariant: where a value is named it is its number in `values`; nodes are named by their ids.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from ..graph import schema as graphs
from ..values import Value
from ..wire_types import Finite

Ref = int | None  # the number of a value


class Line(TypedDict):
    """The line that made a node."""

    text: str
    file: str
    line: int
    cell: int | None


class Formula(TypedDict):
    """How the gradient of one input is made."""

    input: str
    latex: str | None
    reads: list[str]


class Saved(TypedDict):
    """A value that a node keeps."""

    name: str
    what: str
    value: Ref
    text: str
    bytes: int
    alias: bool


class _Node(TypedDict):
    id: int
    name: str
    label: str
    leaf: bool


class StepNode(_Node, total=False):
    """One node; of one that no kept frame shows only the first few are known."""

    op: str
    module: str
    layer: str
    shape: list[int]
    dtype: str
    line: Line | None
    forward: Ref
    formulas: list[Formula]
    to: list[tuple[str, int | None, int]]
    saved: list[Saved]
    bytes: int


class _Part(TypedDict):
    kind: Literal["op", "number", "array"]


class Part(_Part, total=False):
    """A piece of a formula with numbers."""

    text: str
    symbol: str
    role: str
    input: str
    rows: list[list[str]] | None
    shape: list[int]
    norm: float


class Numbers(TypedDict):
    """A formula with this step's numbers."""

    text: str
    latex: str
    at: list[int] | None
    note: str
    parts: list[Part]


class Outgoing(TypedDict):
    """A gradient that a step sends."""

    input: str
    to: int | None
    output: int
    gradient: Ref
    before: Ref
    after: Ref
    sum: str
    numbers: Numbers | None


class Grad(TypedDict):
    """What arrives in a leaf."""

    node: int
    before: Ref
    after: Ref
    sum: str


class Known(TypedDict):
    """What one may look at for an answer: a letter of the formula or a name of the code, and its number or shape."""

    letter: str
    name: str
    text: str
    value: Finite | None
    shape: list[int] | None


class Question(TypedDict):
    """What is asked of a step before its gradients are shown."""

    kind: Literal["number", "sign", "shape"]
    asks: str
    input: str  # whose gradient it is about
    at: list[int] | None
    knows: list[Known]
    choices: list[str]  # of a sign
    answer: Finite | None  # a number, or -1, 0 or 1
    shape: list[int]  # the answer where a shape is asked for
    working: str
    why: str
    hint: str


class StepFrame(TypedDict):
    """What one step changes."""

    node: int
    says: str
    incoming: list[Ref]
    hooked: list[Ref] | None
    outgoing: list[Outgoing]
    grads: list[Grad]
    done: list[int]
    pending: list[int]
    question: Question | None


class State(TypedDict):
    """The whole record."""

    title: str
    text: str
    count: int
    at: int
    says: list[str]
    nodes: list[StepNode]
    frames: list[StepFrame]
    start: list[tuple[int, Ref]]  # every `.grad` before the first step
    waits: list[tuple[int, int, Ref]]  # what waits before it
    values: list[Value]
    failed: str | None
    skipped: int
    total: int
    whole: bool
    done: list[int]
    graph: graphs.State | None
    source: str  # whose pass it is: "vistorch", "PyTorch 2.13"
    places: list[int]  # numbers in that graph, or -1, by node
    stops: list[tuple[int, str]]
    ask: bool  # whether it asks from the start
    held: bool  # whether a running cell waits until the pass is left
