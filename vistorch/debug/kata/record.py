"""The card of a kata, and the table of all twelve: what is shown of them, as text and as it travels.

Invariant: a hint or a solution that is not open is not in the record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypedDict

import numpy as np

from ..wire_types import Array1
from . import BELTS, KATA
from .attempt import Attempt, broken
from .judge import OPEN, RIGHT, WRONG, Row, guilty, kept, mended, place
from .kata import EACH, Kata, Picture
from .progress import Progress


class RowState(TypedDict):
    """A row to earn: `state` is "", "right" or "not yet"."""

    state: str
    title: str
    says: str


class PictureState(TypedDict):
    """The second picture: `kind` is "fit" or "bars", `mine` is empty before the mended cell has run."""

    kind: str
    names: list[str]
    x: Array1
    target: Array1
    broken: Array1
    mine: Array1


class Card(TypedDict):
    """One kata."""

    number: int
    title: str
    belt: str
    minutes: int
    status: str  # "open", "not yet", "solved"
    symptom: str
    rules: str
    code: list[str]
    guilty: int  # the line that was named rightly; 0 before
    rows: list[RowState]
    broken: Array1  # losses
    mine: Array1
    picture: PictureState
    hints: list[str]
    more: int  # hints that are not open
    solution: list[tuple[int, str, str]]  # lines: number, "-", "+" or " ", text
    solvable: bool  # whether the solution may be opened
    why: str
    lesson: str
    after: int  # the kata to go on with; 0 where there is none


class Entry(TypedDict):
    """One line of the table: `state` is "solved", "helped", "next" or ""."""

    number: int
    title: str
    state: str


class Belt(TypedDict):
    """Three kata of a colour."""

    name: str
    solved: int
    entries: list[Entry]


class State(TypedDict):
    """A card or the table: one of the lists is empty."""

    title: str
    report: str
    cards: list[Card]
    belts: list[Belt]
    solved: int
    after: int


NOTHING = np.zeros(0)
MARKS = {"solved": "x", "helped": "h", "next": ">", "": " "}


@dataclass
class KataRecord:
    """What is shown of a kata, or of all.

    Args:
        progress: how far each is.
        kata: which; None for the table of all.
        said: a place that was named now.
        run: the reader's cell.
        solution: whether it was asked for.

    Example:
        >>> from vistorch.debug.kata import KATA
        >>> from vistorch.debug.kata.progress import Progress
        >>> from vistorch.debug.kata.record import KataRecord
        >>> print(KataRecord(Progress(), KATA[2]).text().splitlines()[0])
        kata 3: Every answer is the same (white belt, about 8 minutes)
    """

    kind: ClassVar[str] = "kata"
    replaces_text: ClassVar[bool] = True

    progress: Progress
    kata: Kata | None = None
    said: str = ""
    run: Attempt | None = None
    solution: bool = False

    @property
    def title(self) -> str:
        """The first line."""
        if self.kata is None:
            return f"kata: {self._solved()} of {len(KATA)}"
        return f"kata {self.kata.number}: {self.kata.title}"

    def rows(self) -> list[Row]:
        """The three rows."""
        assert self.kata is not None
        standing, kata = self.progress.of(self.kata.number), self.kata
        said = self.said or standing.place
        last = kata.code.count("\n") + 1
        first = (
            place(kata, said)
            if said
            else Row(
                OPEN,
                "Name the place",
                f"a line of the cell, 1 to {last}, or a node of the graph: PowBackward0",
            )
        )
        if self.run is None:
            return [
                first,
                Row(OPEN, "Mend the cell", f"run it with `%%vt kata {kata.number}` as its first line"),
                Row(OPEN, "Same seed, same steps", kata.rules.partition(";")[0]),
            ]
        return [first, mended(kata, self.run), kept(kata, self.run)]

    def all_right(self) -> bool:
        """Whether it is solved by this very run."""
        return all(row.state == RIGHT for row in self.rows())

    def text(self) -> str:
        """What a terminal shows, and what is stored with a cell."""
        if self.kata is None:
            return self._table()
        kata, rows = self.kata, self.rows()
        head = f"{self.title} ({kata.belt} belt, about {kata.minutes} minutes)"
        code = [f"{i:>3}  {line}".rstrip() for i, line in enumerate(kata.code.split("\n"), 1)]
        marks = {OPEN: " ", RIGHT: "x", WRONG: "-"}
        said = [f"[{marks[row.state]}] {row.title}: {row.says}".replace("`", "") for row in rows]
        hints = [f"Hint {i}: {hint}".replace("`", "") for i, hint in enumerate(self._hints(), 1)]
        lines = [head, "", kata.symptom.replace("`", ""), "", *code, "", *said, *hints]
        if self._open():
            lines += [
                "",
                f"Solution. {kata.why}".replace("`", ""),
                *(f"{s}{n:>3}  {t}" for n, s, t in self._diff()),
            ]
        if all(row.state == RIGHT for row in rows):
            lines += ["", f"Solved. {kata.lesson}".replace("`", "")]
        return "\n".join(lines)

    def _hints(self) -> list[str]:
        assert self.kata is not None
        return list(self.kata.hints[: self.progress.of(self.kata.number).hints])

    def _open(self) -> bool:
        """Whether the solution is open."""
        return self.kata is not None and self.solution and self.allowed

    @property
    def allowed(self) -> bool:
        """Whether the solution may be opened: after both hints, or when it is solved."""
        assert self.kata is not None
        standing = self.progress.of(self.kata.number)
        return standing.hints >= len(self.kata.hints) or standing.solved

    def _diff(self) -> list[tuple[int, str, str]]:
        assert self.kata is not None
        out: list[tuple[int, str, str]] = []
        for i, line in enumerate(self.kata.code.split("\n"), 1):
            new = self.kata.mended.get(i)
            if new is None or new == line:
                continue
            out.append((i, "-", line))
            out += [(i, "+", part) for part in new.split("\n")]
        return out

    def _solved(self) -> int:
        return sum(self.progress.of(one.number).solved for one in KATA)

    def _belts(self) -> list[Belt]:
        after = self.progress.next()
        belts: list[Belt] = []
        for i, name in enumerate(BELTS):
            entries: list[Entry] = []
            for one in KATA[i * EACH : (i + 1) * EACH]:
                standing = self.progress.of(one.number)
                state = ("helped" if standing.helped else "solved") if standing.solved else ""
                entries.append(
                    {
                        "number": one.number,
                        "title": one.title,
                        "state": "next" if one.number == after else state,
                    }
                )
            solved = sum(entry["state"] in ("solved", "helped") for entry in entries)
            belts.append({"name": name, "solved": solved, "entries": entries})
        return belts

    def _table(self) -> str:
        lines = [self.title]
        for belt in self._belts():
            lines += ["", f"{belt['name']} belt, {belt['solved']} of {EACH}"]
            lines += [f" {MARKS[e['state']]} {e['number']:>2}  {e['title']}" for e in belt["entries"]]
        return "\n".join([*lines, "", "x solved, h solved with hints, > next"])

    def wire(self) -> State:
        """As it travels."""
        after = self.progress.next() or 0
        cards = [] if self.kata is None else [self._card(self.kata, after)]
        belts = self._belts() if self.kata is None else []
        return {
            "title": self.title,
            "report": self.text(),
            "cards": cards,
            "belts": belts,
            "solved": self._solved(),
            "after": after,
        }

    def _card(self, kata: Kata, after: int) -> Card:
        rows, run, before = self.rows(), self.run, broken(kata.number)
        right = all(row.state == RIGHT for row in rows)
        tried = any(row.state == WRONG for row in rows)
        return {
            "number": kata.number,
            "title": kata.title,
            "belt": kata.belt,
            "minutes": kata.minutes,
            "status": "solved" if right else "not yet" if tried else "open",
            "symptom": kata.symptom,
            "rules": f"Name the place, then mend the cell: {kata.rules}. Every view is allowed.",
            "code": kata.code.split("\n"),
            "guilty": guilty(kata, self.said or self.progress.of(kata.number).place)
            if rows[0].state == RIGHT
            else 0,
            "rows": [{"state": row.state, "title": row.title, "says": row.says} for row in rows],
            "broken": np.asarray(before.losses),
            "mine": NOTHING if run is None else np.asarray(run.losses),
            "picture": _picture(before.picture, None if run is None else run.picture),
            "hints": self._hints(),
            "more": len(kata.hints) - len(self._hints()),
            "solution": self._diff() if self._open() else [],
            "solvable": self.allowed,
            "why": kata.why if self._open() else "",
            "lesson": kata.lesson if right else "",
            "after": after,
        }


def _picture(before: Picture | None, mine: Picture | None) -> PictureState:
    one = before or mine or Picture("fit", [], [], [], [])
    return {
        "kind": one.kind,
        "names": one.names,
        "x": np.asarray(one.x, float),
        "target": np.asarray(one.target, float),
        "broken": NOTHING if before is None else np.asarray(before.got, float),
        "mine": NOTHING if mine is None else np.asarray(mine.got, float),
    }
