"""The cure of a finding: the first change of the program's own lines that was tried and mends it.

Invariant: a change that was tried and did not mend is not shown; one that could not be tried says why.
"""

from __future__ import annotations

import math
from typing import Any

from .cures import Cure, cures_of
from .finding import MEASURED, Finding
from .trial import Standby, Tried
from .trial.standby import stream
from .trial.tried import compared

LOSSES = 400  # that a trial goes through, at most
LOWER = 0.97  # of a loss: less is lower
FEW = 24  # where the program ended before
OTHER = frozenset(
    (
        "soft twice",
        "no logs",
        "kl without logs",
        "broadcast",
        "wrong sign",
        "odd targets",
        "fresh loss",
        "target given",
    )
)  # whose cure makes the loss another measure


class Mender:
    """Looks for cures of the findings of one run.

    Args:
        standby: a copy of the program; None where none was made.
        named: modules and optimizers, by the names that the program has for them.
        losses: of the run.
    """

    def __init__(self, standby: Standby | None, named: dict[str, Any], losses: list) -> None:
        self.standby, self.named = standby, named
        count = len(stream(losses))
        self.wanted = min(LOSSES, len(losses)) if count >= 4 else FEW
        self.control: dict[str, Any] | None = None

    def mend(self, finding: Finding) -> None:
        """Enter the cure of a finding, and what came of trying it.

        Args:
            finding: which.
        """
        cures = cures_of(finding, self.named)
        if not cures:
            return
        if self.standby is None:
            finding.cure = cures[0].lines
            return
        if self.control is None:
            self.control = self.standby.ask({}, self.wanted)
        why = self.control.get("why", "")
        if not why and finding.rule not in self.control["rules"]:
            steps = len(self.control["losses"])
            ended = self.control["error"]
            why = (
                f"its copy ended with {ended}" if ended else f"its copy does not show it within {steps} steps"
            )
        if why:
            finding.cure, finding.tried = cures[0].lines, Tried(refused=why)
            return
        best: tuple[Cure, dict[str, Any]] | None = None
        for cure in cures:
            answer = self.standby.ask({cure.program.file: cure.text}, self.wanted)
            if answer.get("why"):
                if best is None:
                    finding.cure, finding.tried = cure.lines, Tried(refused=answer["why"])
                break
            if not self._mends(answer, finding):
                continue
            if best is None or self._order(answer, finding) < self._order(best[1], finding):
                best = cure, answer
            if not self._new(answer) and finding.certainty != MEASURED:
                break
        if best is not None:
            finding.cure, finding.tried = best[0].lines, self._tried(best[1], finding)

    def _mends(self, answer: dict[str, Any], finding: Finding) -> bool:
        losses, control = answer["losses"], self.control or {}
        few = len(losses) < len(control["losses"]) / 2
        return (
            not answer["error"]
            and finding.rule not in answer["rules"]
            and bool(losses)
            and not few
            and all(isinstance(x, float | int) and math.isfinite(x) for x in losses)
            and (finding.certainty != MEASURED or late(losses) < LOWER * late(control["losses"]))
        )

    def _order(self, answer: dict[str, Any], finding: Finding) -> tuple:
        """The best first: without new findings; of what was measured, with the lowest loss."""
        return self._new(answer), late(answer["losses"]) if finding.certainty == MEASURED else 0.0

    def _new(self, answer: dict[str, Any]) -> int:
        """How many rules say something that they had not said before."""
        return len(set(answer["rules"]) - set((self.control or {})["rules"]))

    def _tried(self, answer: dict[str, Any], finding: Finding) -> Tried:
        control = self.control or {}
        label, with_it, without = compared(
            [float(x) for x in answer["losses"]],
            [] if control["error"] else [float(x) for x in control["losses"]],
        )
        kind = control["error"].partition(":")[0]
        after = f"With it the {kind} does not come." if kind else "With it the finding is gone."
        if finding.rule in OTHER and with_it and without:
            after += " The loss is another measure then: compare where each goes, not how high."
        elif len(with_it) > 2 and with_it[-1] < LOWER * with_it[0]:
            after += " The loss falls."
        return Tried(label, with_it, without, after)


def late(losses: list) -> float:
    """The mean of the last fifth; infinite where one of them is not finite.

    Args:
        losses: numbers, or words for those that are not finite.
    """
    last = [float(x) for x in losses[-max(1, len(losses) // 5) :]]
    return sum(last) / len(last) if last and all(map(math.isfinite, last)) else math.inf
