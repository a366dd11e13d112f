"""A run of a kata's cell under the tools of the debugger: what it computed, what they found, what it left.

Invariant: the broken cell is run in names of its own, and the state of the generator is afterwards what it was.
"""

from __future__ import annotations

import linecache
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ...engine.base.events import Listener
from ...engine.random.generators import get_rng_state, initial_seed, manual_seed, set_rng_state
from ..check import check_node
from ..compare import Record, Recording, compare
from ..diagnose import Diagnosis
from ..line_lookup import line_of
from ..lines import Lines, note_of
from ..trace import Trace
from . import KATA
from .kata import Kata, Picture

UNSEEDED = 0x5EED_0FF  # what the generator begins with, so that a cell without a seed is seen
_LINE = re.compile(r"(?:line |:)(\d+)(?=:|$)")


@dataclass
class Attempt:
    """What a run of a cell showed.

    Args:
        losses: of each backward pass.
        passes: how many there were.
        seed: that the cell set; None where it set none.
        rate: the learning rate of the first optimizer's first step; None where there was none.
        value: what the kata measures; nan where it could not be measured.
        trouble: why not, or the exception that ended the cell; "".
        picture: the numbers of the second picture; None where it could not be measured.
        findings: what a diagnosis says, with the line where it is known.
        first: the ops of the first forward and backward pass.
        error: the exception that ended the cell.
    """

    losses: list[float] = field(default_factory=list)
    passes: int = 0
    seed: int | None = None
    rate: float | None = None
    value: float = math.nan
    trouble: str = ""
    picture: Picture | None = None
    findings: list[tuple[int | None, str]] = field(default_factory=list)
    first: Recording | None = None
    error: BaseException | None = None


class _FirstStep(Listener):
    """Ends a recording with the first backward pass, and notes the learning rate of the first step."""

    def __init__(self, record: Record) -> None:
        self.record, self.open = record, True
        self.rate: float | None = None

    def backward_end(self, run: Any, outputs: tuple) -> None:
        """The first pass is over."""
        self.stop()

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """An optimizer is about to step."""
        if name == "step" and self.rate is None:
            self.rate = float(subject.param_groups[0]["lr"])

    def stop(self) -> None:
        """Record no more."""
        if self.open:
            self.open = False
            self.record.__exit__(None, None, None)


def attempt(kata: Kata, run: Callable[[], tuple[dict[str, Any], BaseException | None]]) -> Attempt:
    """Run a cell, and note what it does.

    Args:
        kata: whose cell it is.
        run: runs it, and returns the names that it left and the exception that ended it.
    """
    made = Attempt()
    manual_seed(UNSEEDED)
    diagnosis = Diagnosis({}, f"kata {kata.number}")
    record = Record("")
    first = _FirstStep(record)
    with diagnosis, first:
        record.__enter__()
        try:
            names, error = run()
        finally:
            first.stop()
    seed = initial_seed()
    made.seed = None if seed == UNSEEDED else seed
    made.rate, made.first = first.rate, record.recording()
    made.losses = [loss for _, loss, _ in diagnosis.evidence.losses]
    made.passes = diagnosis.evidence.passes
    if error is not None:
        made.error = error
        made.trouble = f"The cell raised {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return made
    made.findings = [(one.place.line if one.place else None, one.text) for one in diagnosis.findings()]
    if kata.needs not in names:
        made.trouble = f"The cell must leave the name `{kata.needs}`: it is what is measured."
        return made
    try:
        made.value, made.picture = float(kata.measure(names)), kata.picture(names)
    except Exception as failure:  # the reader's own things may be of any kind
        made.trouble = f"`{kata.needs}` cannot be measured: {type(failure).__name__}: {failure}"
    return made


@dataclass(frozen=True)
class Facts:
    """What the tools say about a broken cell, by line.

    Args:
        nodes: the nodes of the first graph that each line made: name, whether it agrees with finite differences.
        bad: the line of the first number that is not finite; None where all are.
    """

    nodes: dict[int, list[tuple[str, bool | None]]]
    bad: int | None


class _Stop(Exception):
    """The first backward pass is about to start."""


class _Stopper(Listener):
    """Ends a cell where its first backward pass would start, and keeps the graph."""

    order: Any = ()

    def backward(self, run: Any, outputs: tuple) -> None:
        """Keep its order and end."""
        self.order = list(run.order)
        raise _Stop


def ran(kata: Kata, code: str) -> tuple[dict[str, Any], BaseException | None]:
    """Run a text as a kata's cell, in names of its own; return them and the exception that ended it.

    Args:
        kata: whose cell it is.
        code: the text.
    """
    names: dict[str, Any] = {"__name__": f"kata {kata.number}"}
    file = f"kata {kata.number}"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(code, file, "exec"), names)
    except Exception as error:
        return names, error
    return names, None


class _Apart:
    """The state of the default generator, kept and given back."""

    def __enter__(self) -> None:
        self.state = get_rng_state()

    def __exit__(self, *exc: object) -> None:
        set_rng_state(self.state)


@cache
def broken(number: int) -> Attempt:
    """The run of a kata's broken cell.

    Args:
        number: which.
    """
    kata = KATA[number - 1]
    with _Apart():
        return attempt(kata, lambda: ran(kata, kata.code))


@cache
def facts(number: int) -> Facts:
    """What the tools say about each line of a kata's broken cell.

    Args:
        number: which.
    """
    kata = KATA[number - 1]
    stopper, nodes = _Stopper(), {}
    with _Apart():
        with Lines(values=True), stopper:
            ran(kata, kata.code)
        for node in stopper.order:
            line = line_of(note_of(node).get("line"))
            if line is None:
                continue
            try:
                fine: bool | None = check_node(node).ok
            except ValueError:  # it cannot be checked there
                fine = None
            nodes.setdefault(line.line, []).append((plain(node.name()), fine))
        with Trace() as trace:
            ran(kata, kata.code)
    origins = trace.record().wire()
    return Facts(nodes, next((row["line"] for row in origins["rows"] if _begins(row)), None))


def _begins(row: Any) -> bool:
    return any(mark is not None and mark["state"] == "origin" for mark in (row["forward"], row["backward"]))


def plain(name: str) -> str:
    """The name of a node without what PyTorch adds to it.

    Args:
        name: such as "PowBackward0".

    Example:
        >>> from vistorch.debug.kata.attempt import plain
        >>> plain("PowBackward0")
        'Pow'
    """
    return re.sub(r"Backward\d*$", "", name)


def parts(number: int, mended: Attempt) -> int | None:
    """The line of the broken cell whose op is the first that a mended cell computes otherwise in its first step.

    Args:
        number: which kata.
        mended: the other run.
    """
    a, b = broken(number).first, mended.first
    if a is None or b is None:
        return None
    other = False
    for row in compare(a, b).rows:
        other = other or any(side is not None and side["state"] != "same" for side in (row["forward"],))
        other = other or row["a"] is None or row["b"] is None
        if other and row["a"] is not None:
            found = _LINE.search(a.ops[row["a"]].line)
            return int(found[1]) if found else None
    return None
