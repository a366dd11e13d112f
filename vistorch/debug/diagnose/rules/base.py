"""What every rule is.

A rule may have `at_pass(p)`, `at_look(p)` (in turns that are looked at closely), `at_end(p)` (when a pass is over),
`at_step(ledger)`, `at_taken(kind, value, place)` and `at_drew(entry, training, call)`; `findings()` says what came
of it.
Invariant: a rule keeps numbers, places and counts; of the arrays of a turn that is over, a few samples at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from ...line_lookup import Line
from ..finding import Finding

if TYPE_CHECKING:
    from ..evidence import Evidence


class Rule:
    """One rule.

    Args:
        evidence: what is known of the run.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""  # three or four words, for the list of those that looked
    certainty: ClassVar[str] = ""
    severity: ClassVar[str] = ""
    most_looks: ClassVar[int | None] = None  # looks after which it has seen enough
    counts_looks: ClassVar[bool] = False  # whether it knows by itself when it has seen enough
    cheap: ClassVar[bool] = False  # whether it may look on in any watched run

    def __init__(self, evidence: Evidence) -> None:
        self.ev = evidence

    def findings(self) -> Iterator[Finding]:
        """What it has found by now."""
        yield from ()

    @property
    def had_something(self) -> bool:
        """Whether there was anything it could have looked at."""
        return self.ev.passes > 0

    def found(self, text: str, place: Any = None, label: str = "", **more: Any) -> Finding:
        """A finding of this rule.

        Args:
            text: the sentence.
            place: raw, or a line.
            label: of that line.
            **more: fields of the finding; `also` is (raw or a line, label).
        """
        line = place if isinstance(place, Line) else self.ev.line(place)
        also = more.pop("also", None)
        if also is not None and also[0] is not None:
            more["also"] = next(iter(self.lines(also)), None)
        more.setdefault("severity", self.severity)
        more.setdefault("certainty", self.certainty)
        return Finding(self.name, text=text, place=line, label=label, **more)

    def lines(self, *pairs: tuple[Any, str]) -> list[tuple[Line, str]]:
        """Related lines, those that are known."""
        out = []
        for place, label in pairs:
            line = place if isinstance(place, Line) else self.ev.line(place)
            if line is not None:
                out.append((line, label))
        return out


class Counting(Rule):
    """A rule that counts in how many looks it saw a thing, under a key of its own: a place, a module."""

    def __init__(self, evidence: Evidence) -> None:
        super().__init__(evidence)
        self.times: dict[Any, Any] = {}
