"""One kata: a cell that is broken, what is seen of it, and what counts as mended.

Invariant: it is text and numbers; no cell runs before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BELTS = ("white", "grey", "brown", "black")
EACH = 3  # kata of a belt


@dataclass(frozen=True)
class Picture:
    """Numbers for the second picture: `kind` is "fit" (x, target, prediction) or "bars" (share right by name).

    Args:
        kind: which.
        x: positions; for bars 0, 1, ...
        target: what was wanted, at each.
        got: what the network gives, at each.
        names: of bars.
    """

    kind: str
    x: list[float]
    target: list[float]
    got: list[float]
    names: list[str]


@dataclass(frozen=True)
class Kata:
    """A broken cell, and what mends it.

    Args:
        number: from 1 to 12.
        title: the symptom, never the fault.
        minutes: about how long it takes.
        symptom: two sentences.
        code: the broken cell.
        seed: that the cell sets.
        passes: backward passes that it makes.
        rate: the learning rate that its optimizer begins with; None where none is asked for.
        lines: of the cell, any of which is the place.
        nodes: ops of the graph that are the place, too, as a graph names them, without `Backward0`.
        why: one sentence about the place.
        hints: which view to open, then where to look in it.
        mended: the lines that mend it, by number; a line may become several.
        lesson: one sentence to remember.
        tools: what points at the place: "diagnose", "trace", "check", "compare".
        needs: a name that the cell must leave.
        called: what is measured, in words.
        measure: from the names that the cell left to a number.
        limit: what the number must reach.
        above: whether it must be above, not below.
        picture: from the names that the cell left to the numbers of the second picture.
    """

    number: int
    title: str
    minutes: int
    symptom: str
    code: str
    seed: int
    passes: int
    rate: float | None
    lines: tuple[int, ...]
    nodes: tuple[str, ...]
    why: str
    hints: tuple[str, str]
    mended: dict[int, str]
    lesson: str
    tools: tuple[str, ...]
    needs: str
    called: str
    measure: Callable[[dict[str, Any]], float]
    limit: float
    picture: Callable[[dict[str, Any]], Picture]
    above: bool = False

    @property
    def belt(self) -> str:
        """The colour it counts for."""
        return BELTS[(self.number - 1) // EACH]

    @property
    def answer(self) -> str:
        """The mended cell.

        Example:
            >>> from vistorch.debug.kata import KATA
            >>> KATA[0].code == KATA[0].answer
            False
        """
        lines = self.code.split("\n")
        return "\n".join(self.mended.get(i, line) for i, line in enumerate(lines, 1))

    @property
    def rules(self) -> str:
        """What a mended cell must keep, and reach."""
        kept = [f"seed {self.seed}", *([f"lr {self.rate:g}"] if self.rate is not None else [])]
        return f"{', '.join([*kept, f'{self.passes} steps'])}; {self.asked}"

    @property
    def asked(self) -> str:
        """What the mended cell must reach, in words."""
        return f"{self.called} {'above' if self.above else 'below'} {self.limit:g}"

    def reached(self, value: float) -> bool:
        """Whether a measured number will do; one that is not finite never does.

        Args:
            value: what was measured.
        """
        return value > self.limit if self.above else value < self.limit
