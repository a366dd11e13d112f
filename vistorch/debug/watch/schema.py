"""What travels of a watched training, section by section; None is what is not known.

Files of earlier versions are read too: a field that came later may be left out.
Invariant: a curve's columns hold steps of equal number, nan where nothing was.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from ..wire_types import Array, Array1, Array2, Finite
from .progress import OPEN, Status

FEW = 20  # samples below which a share says little
EACH = 8  # misread samples of a cell of the confusion matrix that are kept
MOST = 512  # misread samples that are kept
# What the page counts by, too: `make generated` writes it beside the types.
CONSTANTS = {"OPEN": OPEN, "FEW": FEW, "EACH": EACH, "MOST": MOST}
Kind = Literal["classification", "regression", "language", "loss"]


# `from` is no name of Python's: so this is written as a call
Columns = TypedDict(
    "Columns", {"width": int, "from": int, "low": Array2, "high": Array2, "mean": Array2, "bad": Array2}
)


class _Counts(TypedDict):
    right: Array1
    seen: Array1


class Counts(_Counts, total=False):
    """Right and seen by class; pairs of label and reading, and how often."""

    pairs: Array2
    counts: Array1
    size: int
    first: int | None
    last: int | None


class Epoch(TypedDict):
    """The same of one epoch."""

    epoch: int
    step: int
    right: Array1
    seen: Array1


class _Validation(TypedDict):
    step: int
    epoch: int
    loss: float | None
    accuracy: Finite | None
    samples: int


class Validation(_Validation, total=False):
    """One validation."""

    without: int
    r2: float | None
    perplexity: float | None


class Alarm(TypedDict):
    """What is not finite: the sentence, what is known beside it, and what became of the loop."""

    what: str
    kind: str
    name: str
    step: int
    epoch: int
    last: int | None
    over: int
    now: bool
    word: str
    say: str
    cause: str
    rest: str
    way: str
    weights: list[str]
    snapshot: int | None
    how: Literal["", "paused", "on", "unanswered"]


class _Failure(TypedDict):
    kind: str
    message: str
    say: str


class Failure(_Failure, total=False):
    """The exception that ended the loop."""

    module: str
    where: str
    line: object


class Head(TypedDict):
    """Where the loop is and how it goes."""

    status: Status
    say: str
    error: Failure | None
    step: int
    steps: int | None
    epoch: int
    epochs: int | None
    epoch_steps: int | None
    batch: int | None
    speed: Finite | None
    left: Finite | None
    seconds: Finite
    overhead: Finite | None
    cost: dict[str, float]
    device: str
    memory: list[int] | None
    parameters: int
    loss: float | None
    accuracy: Finite | None
    lr: list[float | None] | None
    why: dict[str, str]
    says: list[str]
    alarm: Alarm | None
    autopause: bool | None  # whether an alarm pauses the loop; None where it cannot
    tries: int  # one more than there were rewinds
    begins: list[tuple[int, int, int]]  # epoch, the step after which it began, 1, or 0 where a rewind cut it


class Loss(TypedDict):
    """The curves of loss and learning rate, and those of rewound steps."""

    curve: Columns
    lr: Columns | None
    undone: list[Columns]


class Accuracy(TypedDict):
    """By class, over the newest samples, the epoch, the validation."""

    window: Counts | None
    epoch: Counts | None
    validation: Counts | None
    before: Counts | None
    epochs: list[Epoch]
    without: int  # outputs that were not finite: no predictions, in no count
    without_from: int


class Mistake(TypedDict):
    """A sample that was read as another class."""

    label: int
    read: int
    step: int
    index: int | None
    where: Literal["training", "validation"]
    top: list[tuple[int, float]]
    image: Array | None


class Mistakes(TypedDict):
    """The newest, or those after a number."""

    whole: bool
    after: int
    items: list[Mistake]


class Flow(TypedDict):
    """Norms of gradients, a row a parameter; beyond the bounds one is far from the others."""

    names: list[str]
    shapes: list[list[int]]
    columns: Columns | None
    now: Array1
    there: Array1
    bounds: tuple[float, float]


class _Layer(TypedDict):
    name: str
    parameters: int
    ratio: float | None
    mean: float | None
    low: float | None
    high: float | None
    kind: Literal["", "rectifier", "ends"]
    units: Array1 | None
    dead: Array1 | None
    saturated: Array1 | None
    seen: int
    state: str
    cure: str


class Layer(_Layer, total=False):
    """How large its updates are, and what its units do."""

    module: str  # its class; "" for tensors of none


class Health(TypedDict):
    """Every layer; the band is that of update / weight that is drawn."""

    band: tuple[Finite, Finite]
    window: int
    flag: Finite
    layers: list[Layer]


class Coded(TypedDict):
    """Filters as small pictures."""

    codes: Array
    scale: object


class Choice(TypedDict):
    """A parameter whose filters can be shown."""

    name: str
    shape: list[int]


class Filters(TypedDict):
    """Those that were chosen."""

    choices: list[Choice]
    chosen: str
    step: int | None
    weight: Coded | None
    gradient: Coded | None


# as Columns
Entry = TypedDict(
    "Entry",
    {
        "number": int,
        "step": int,
        "what": str,
        "from": object,
        "to": object,
        "effect": str,
        "undone": bool,
    },
)


class Log(TypedDict):
    """What was done to the run, newest last."""

    whole: bool
    items: list[Entry]


class Snapshots(TypedDict):
    """Steps to rewind to."""

    steps: list[int]
    bytes: int
    budget: int


class Score(TypedDict):
    """Of one output."""

    n: int
    r2: Finite | None
    mae: Finite | None
    rmse: Finite | None
    bias: Finite | None
    constant_mae: Finite | None
    constant_rmse: Finite | None


class Worst(TypedDict):
    """A sample far from its target."""

    step: int
    index: int | None
    error: Finite | None
    predicted: list[Finite | None]
    target: list[Finite | None]


class Values(TypedDict):
    """Predictions and targets."""

    outputs: list[str]
    pooled: int
    shape: list[int]
    broadcast: bool
    echo: bool
    size: int
    n: int
    bad: int
    scores: list[Score]
    r2: Finite | None
    predicted: Array2
    target: Array2
    bins: Array2
    span: Array2
    beyond: list[int]
    worst: list[Worst]


class Place(TypedDict):
    """Where a token was hard; `read` is -2 where it was not asked for."""

    step: int
    token: int
    read: int
    loss: Finite
    position: int
    before: list[int]


class Tokens(TypedDict):
    """A language model."""

    vocabulary: int
    length: int
    shifted: bool
    n: int
    size: int
    bad: int
    loss: Finite | None
    perplexity: Finite | None
    accuracy: Finite | None
    looked: int
    position: Array1 | None
    positions: Array1 | None
    hard: list[tuple[int, Finite, int]]  # token, mean loss, how often seen
    pairs: list[tuple[int, int, int]]  # target, read as, times
    places: list[Place]
    names: dict[str, str]


class BothValues(TypedDict):
    """Of training and of validation."""

    window: Values | None
    validation: Values | None


class BothTokens(TypedDict):
    """Of training and of validation."""

    window: Tokens | None
    validation: Tokens | None


class Task(TypedDict):
    """What the loop is about; `kind` is "" where it is not known yet."""

    kind: Literal[""] | Kind
    loss: str
    constant: str
    values: BothValues | None
    tokens: BothTokens | None


class FindingPlace(TypedDict):
    """A line of the user's: `role` is "guilty", "related" or "" for a neighbour."""

    line: int
    text: str
    role: str
    label: str


class Finding(TypedDict):
    """What is wrong, as in the record of a diagnosis."""

    rule: str
    severity: str
    certainty: str
    text: str
    where: str
    cell: int | None
    line: int | None
    layer: str
    source: list[FindingPlace]
    proof: list[tuple[str, str]]
    confirm: str
    gives: str
    unless: str
    cure: list[tuple[int, str, str]]
    advice: str
    tree: list[tuple[int, str, str, str]]


class Looked(TypedDict):
    """A rule that looks on, and whether it had anything to look at."""

    name: str
    title: str
    looked: bool


class Findings(TypedDict):
    """What is wrong with the run, at most three; `count` are all, `withdrawn` those whose evidence went."""

    items: list[Finding]
    count: int
    withdrawn: int
    rules: list[Looked]


class _State(TypedDict):
    version: int
    title: str
    text: str
    head: Head
    classes: list[str]
    several: bool
    loss: Loss
    validation: list[Validation]
    accuracy: Accuracy
    mistakes: Mistakes
    flow: Flow
    health: Health
    filters: Filters | None
    log: Log
    snapshots: Snapshots


class State(_State, total=False):
    """The whole run."""

    task: Task
    findings: Findings
