"""The table of rows: what is timed, by family.

Invariant: a row never names a library. It is given one, `lib`, and returns the call to be timed, so the same
text runs on both. Only a row with a base, which torch never sees, may ask for what only one library has.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

FAMILIES = (
    "small",
    "pointwise",
    "reductions",
    "indexing",
    "shape",
    "linalg",
    "creation",
    "network",
    "chain",
    "graph",
    "listening",
    "recording",
    "watching",
    "diagnosing",
    "layers",
    "training",
    "loading",
    "pictures",
    "graphs",
    "torch_graphs",
    "pages",
)


@dataclass(frozen=True)
class Row:
    """One line of the table: how to prepare the timed call, and what it may cost as a ratio to torch."""

    family: str
    name: str
    prepare: Callable[[ModuleType], Callable[[], object]]
    budget: float | None
    memory: bool
    base: Callable[[ModuleType], Callable[[], object]] | None = None
    milliseconds: float | None = None
    kilobytes: float | None = None
    waits: bool = False

    @property
    def key(self):
        """The name that is printed, and that a worker is asked for."""
        return f"{self.family}/{self.name}"


ROWS: dict[str, Row] = {}


def add(
    family,
    name,
    prepare,
    *,
    budget=None,
    memory=False,
    base=None,
    milliseconds=None,
    kilobytes=None,
    waits=False,
):
    """Put a row into the table; `memory` asks for its peak memory, each time in a process of its own.

    With `base`, the row holds the library against itself: `base(lib)` is what `prepare(lib)` is compared with, and
    torch has no part in it. `milliseconds` is a budget for one call, whatever the ratio; with `kilobytes`, a budget
    too, both sides return the bytes that they made. A row that `waits` for another process is timed by the wall's
    clock, all others by the processor's.
    """
    row = Row(family, name, prepare, budget, memory, base, milliseconds, kilobytes, waits)
    if row.key in ROWS:
        raise ValueError(f"there are two rows called {row.key}")
    ROWS[row.key] = row


def row(family, *, budget=None, memory=False, base=None):
    """Decorate a function that takes `lib` and returns the call to be timed; the row has its name."""

    def decorate(prepare):
        add(family, prepare.__name__, prepare, budget=budget, memory=memory, base=base)
        return prepare

    return decorate


def load(families=FAMILIES):
    """Import the files of these families and return their rows in order."""
    for family in families:
        importlib.import_module(f"benchmarks.{family}")
    return [row for row in ROWS.values() if row.family in families]
