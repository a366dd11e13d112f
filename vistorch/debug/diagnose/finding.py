"""A finding: what is wrong with a training, where, what proves it, and what would mend it.

Invariant: plain numbers and text; a place is a `Line` of the user's or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..line_lookup import Line

BAD, WRONG, DOUBTFUL = "bad", "wrong", "doubtful"
EXACT, LINEAGE, MEASURED = "exact", "lineage", "measured"
CERTAINTY = {EXACT: "= exact", LINEAGE: "→ lineage", MEASURED: "≈ measured"}
SIGNS = {BAD: "✹", WRONG: "▲", DOUBTFUL: "△"}


@dataclass
class Finding:
    """One thing that is wrong.

    Args:
        rule: which rule says so.
        severity: BAD (not finite, an exception), WRONG or DOUBTFUL.
        certainty: EXACT (counted), LINEAGE (from the history of a value) or MEASURED (beside a baseline).
        text: what happens, one sentence, no advice.
        place: the line; None where only the layer is known.
        label: 1 to 3 words for that line.
        also: a second line that might be changed as well, with its label: where a wrong value was written and where
            it is used.
        related: other lines that belong to it, with a label each.
        layer: a module or parameter, as a person writes it.
        proof: what was counted or measured: rows of (what, number or words).
        confirm: a line of plain PyTorch that shows it too, and what it gives.
        unless: the one healthy reading of the same evidence.
        cure: lines of the user's own code: (number, "-", "+" or " ", text).
        advice: the cure in words, where it is no line.
        weight: among findings that are as certain, the larger first.
        explains: rules whose findings this one makes superfluous.
        tree: the modules around its layer: rows of (depth, name, note, role).
        shapes: what did not fit, as a record that can be drawn.
        tried: what came of trying the cure; None where that was not asked for.
        samples: those around the first that does not fit.

    Example:
        >>> from vistorch.debug.diagnose.finding import EXACT, WRONG, Finding
        >>> print(Finding("cleared", WRONG, EXACT, "Every gradient is cleared before it is used.").head())
        ▲ Every gradient is cleared before it is used.  = exact
    """

    rule: str
    severity: str
    certainty: str
    text: str
    place: Line | None = None
    label: str = ""
    also: tuple[Line, str] | None = None
    related: list[tuple[Line, str]] = field(default_factory=list)
    layer: str = ""
    proof: list[tuple[str, Any]] = field(default_factory=list)
    confirm: tuple[str, str] = ("", "")
    unless: str = ""
    cure: list[tuple[int, str, str]] = field(default_factory=list)
    advice: str = ""
    weight: float = 0.0
    explains: tuple[str, ...] = ()
    tree: list[tuple[int, str, str, str]] = field(default_factory=list)
    shapes: Any = None
    tried: Any = None
    samples: list[Any] = field(default_factory=list)

    def head(self) -> str:
        """The mark, the sentence and how certain it is."""
        return f"{SIGNS[self.severity]} {self.text}  {CERTAINTY[self.certainty]}"

    @property
    def named(self) -> list[Line]:
        """The lines that it names: its place, and the second one where there is any."""
        return [line for line in (self.place, self.also and self.also[0]) if line is not None]

    @property
    def where(self) -> str:
        """The lines, or the layer, in words."""
        if self.place is None:
            return self.layer
        line = self.place
        text = f"[{line.cell}] line {line.line}" if line.cell is not None else f"{line.path}:{line.line}"
        if self.also is None:
            return text
        other = self.also[0]
        if (other.file, other.line) == (line.file, line.line):
            return text
        if other.file == line.file:
            return f"{text} or {other.line}"
        more = f"[{other.cell}] line {other.line}" if other.cell is not None else f"{other.path}:{other.line}"
        return f"{text} or {more}"


def rank(finding: Finding) -> tuple:
    """The order of findings: the most certain first, then the worst.

    Args:
        finding: which.
    """
    # a value that is not finite or an exception leaves nothing else to look at
    return (
        finding.severity != BAD,
        finding.severity == DOUBTFUL,
        (EXACT, LINEAGE, MEASURED).index(finding.certainty),
        -finding.weight,
    )


def number(x: float) -> str:
    """A number in a sentence.

    Args:
        x: the number.

    Example:
        >>> from vistorch.debug.diagnose.finding import number
        >>> number(0.123456), number(1234567.0), number(3.0)
        ('0.123', '1.23e+06', '3')
    """
    return f"{x:.3g}"
