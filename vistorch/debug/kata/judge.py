"""What a kata says of a place that was named and of a cell that was run: three rows, each on its own.

Invariant: what is said of a wrong place is true of that place: it is read off a run of the broken cell under the tools.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ..steps.words import count
from .attempt import Attempt, broken, facts, parts, plain
from .kata import Kata

OPEN, RIGHT, WRONG = "", "right", "not yet"


@dataclass(frozen=True)
class Row:
    """One of the three things to earn.

    Args:
        state: OPEN, RIGHT or WRONG.
        title: a few words.
        says: a sentence; what is code stands between backquotes.
    """

    state: str
    title: str
    says: str


def place(kata: Kata, said: str) -> Row:
    """Judge a place: a number of a line, a part of its text, or a node of the graph.

    Args:
        kata: which.
        said: the place, as typed.

    Example:
        >>> from vistorch.debug.kata import KATA
        >>> from vistorch.debug.kata.judge import place
        >>> place(KATA[2], "line 12").title, place(KATA[2], "pow").state
        ('Place named: line 12', 'right')
        >>> print(place(KATA[2], "6").says)
        Line 6 makes no node of the graph, every number is finite, and no rule of `%%vt diagnose` points at it.
    """
    said = said.strip()
    lines = _lines(kata, said)
    if len(lines) == 1:
        return _line(kata, lines[0])
    nodes = [name for found in facts(kata.number).nodes.values() for name, _ in found]
    node = plain(said).lower()
    if node in [name.lower() for name in kata.nodes]:
        return Row(RIGHT, f"Place named: {plain(said)}", kata.why)
    made = [
        line
        for line, found in sorted(facts(kata.number).nodes.items())
        if node in [n.lower() for n, _ in found]
    ]
    if made:
        return Row(WRONG, f"Not {plain(said)}", _of_nodes(kata, node, made))
    last = kata.code.count("\n") + 1
    if len(lines) > 1:
        which = " and ".join(map(str, lines))
        return Row(WRONG, "Which line?", f"That stands in lines {which}: give the number of one.")
    has = ", ".join(dict.fromkeys(nodes))
    return Row(WRONG, "No such place", f"A line from 1 to {last}, please, or a node of the graph: {has}.")


def _lines(kata: Kata, said: str) -> list[int]:
    """The lines that are meant: by number, or by a part of their text."""
    lines = kata.code.split("\n")
    number = re.fullmatch(r"(?:line|l\.?)?\s*(\d+)", said, re.IGNORECASE)
    if number:
        return [int(number[1])] if 1 <= int(number[1]) <= len(lines) else []
    if len(said) < 4 or said.isidentifier():
        return []
    return [i for i, line in enumerate(lines, 1) if said in line]


def guilty(kata: Kata, said: str) -> int:
    """The line to mark for a place that was named rightly.

    Args:
        kata: which.
        said: the place, as typed.
    """
    lines = _lines(kata, said.strip())
    return lines[0] if len(lines) == 1 else kata.lines[0]


def _line(kata: Kata, line: int) -> Row:
    if line in kata.lines:
        return Row(RIGHT, f"Place named: line {line}", kata.why)
    return Row(WRONG, f"Not line {line}", _of_line(kata, line))


def _of_line(kata: Kata, line: int) -> str:
    """What the tools say about a line where the fault is not."""
    if not kata.code.split("\n")[line - 1].strip():
        return f"Line {line} is empty."
    known = facts(kata.number)
    nodes = known.nodes.get(line, [])
    fine = ", ".join(dict.fromkeys(name for name, ok in nodes if ok))
    said = (
        f"Line {line} makes no node of the graph"
        if not nodes
        else f"Line {line} makes {count(len(nodes), 'node')}"
    )
    if fine:
        said += f"; {fine} {'agrees' if ',' not in fine else 'agree'} with finite differences"
    return f"{said}, {_finite(known.bad)}, and no rule of `%%vt diagnose` points at it."


def _of_nodes(kata: Kata, node: str, lines: list[int]) -> str:
    known = facts(kata.number)
    found = [(name, ok) for line in lines for name, ok in known.nodes[line] if name.lower() == node]
    checked = [ok for _, ok in found if ok is not None]
    where = f"{'line' if len(lines) == 1 else 'lines'} {' and '.join(map(str, lines))}"
    said = f"{found[0][0]} is made in {where}"
    if checked and all(checked):
        return f"{said} and agrees with finite differences: what it sends back is the derivative of what it computed."
    return f"{said}, and {_finite(known.bad)}."


def _finite(bad: int | None) -> str:
    return (
        "every number is finite"
        if bad is None
        else "the first number that is not finite comes from another line"
    )


def mended(kata: Kata, run: Attempt) -> Row:
    """Judge what a cell reached.

    Args:
        kata: which.
        run: its run.
    """
    if run.trouble:
        return Row(WRONG, "Not mended yet", run.trouble)
    if math.isnan(run.value):
        return Row(WRONG, "Not mended yet", f"The {kata.called} is NaN. {_asked(kata)}")
    said = f"The {kata.called} is {run.value:.2g} at the end. {_asked(kata)}"
    known = [text for _, text in broken(kata.number).findings]
    still = [text for _, text in run.findings if text in known]
    if kata.reached(run.value) and not still:
        return Row(RIGHT, "Cell mended", said)
    if run.findings:
        line, text = run.findings[0]
        said += f" `%%vt diagnose` says{f' of line {line} of your cell' if line else ''}: {text}"
    return Row(WRONG, "Not mended yet", said)


def _asked(kata: Kata) -> str:
    return f"{'Above' if kata.above else 'Below'} {kata.limit:g} was asked."


def kept(kata: Kata, run: Attempt) -> Row:
    """Judge whether a cell starts from the same numbers and makes as many steps.

    Args:
        kata: which.
        run: its run.
    """
    wrong, fine = [], []
    if run.seed != kata.seed:
        mine = "The cell sets no seed" if run.seed is None else f"Seed {run.seed}"
        wrong.append(f"{mine}, but the kata starts from seed {kata.seed}.")
    else:
        fine.append(f"seed {kata.seed}")
    if kata.rate is not None:
        if run.rate is None:
            wrong.append(f"No optimizer stepped; one with lr {kata.rate:g} was asked.")
        elif not math.isclose(run.rate, kata.rate, rel_tol=1e-6):
            wrong.append(f"The learning rate begins at {run.rate:g}, and should at {kata.rate:g}.")
        else:
            fine.append(f"lr {kata.rate:g}")
    if run.passes != kata.passes:
        wrong.append(f"{count(run.passes, 'backward pass', 'backward passes')}, and not {kata.passes}.")
    else:
        fine.append(f"{kata.passes} steps")
    if wrong:
        rest = f" {', '.join(fine).capitalize()}: as asked." if fine else ""
        return Row(WRONG, "Same seed, same steps", " ".join(wrong) + rest)
    line = parts(kata.number, run)
    how = (
        "the first step is equal op by op" if line is None else f"the first op that differs is in line {line}"
    )
    return Row(RIGHT, "Same seed, same steps", f"{', '.join(fine)}; `%vt compare`: {how}")
