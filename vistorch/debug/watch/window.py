"""A few steps of a watched run that the cheap rules see: `Window`.

Invariant: before and after it no event reaches the rules, and what goes wrong in here is no matter of the program's.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from ..diagnose.evidence import Evidence
from ..diagnose.finding import Finding
from ..diagnose.op_lines import OpLines
from ..diagnose.rules import RULES
from ..diagnose.session import findings_of
from ..source import Source

CHEAP = tuple(rule for rule in RULES if rule.cheap)
# Seconds that an op costs the loop when it is followed, its part of passes and steps included. Measured for LeNet at
# batch 4 and a network of two small layers: 31 to 37 us of vistorch's ops, 115 to 140 us of PyTorch's
# (`python -m benchmarks.watching`).
PRICES = {"vistorch": 36e-6, "torch": 140e-6}
OVER = RuntimeError("the window is over")


class Window:
    """The evidence of a few steps, of each library that the loop may run on.

    Args:
        sources: those libraries.
        namespace: names that things have.
    """

    def __init__(self, sources: list[Source], namespace: dict[str, Any]) -> None:
        self.sources = sources
        self.each: list[Evidence] = []
        for source in sources:
            evidence = source.evidence(CHEAP, dict(namespace))
            evidence.measures = False  # no rule that is cheap asks for sizes
            evidence.lines_of_ops = OpLines(source.nodes, inner=source.name != "vistorch")
            self.each.append(evidence)

    def __enter__(self) -> Window:
        """Begin to follow."""
        for one in self.each:
            one.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        """Follow no more."""
        for one in reversed(self.each):
            one.__exit__(None, None, None)

    def let_go(self) -> None:
        """What it found is known: keep nothing of the loop's. Rules and evidence know each other, and go at once."""
        for one in self.each:
            one.forget()
            vars(one).clear()
            one.broken = OVER  # the event at hand may still reach it
        self.each = []

    @property
    def main(self) -> Evidence:
        """Of the library that the loop runs on, as far as that is seen."""
        return max(self.each, key=lambda one: (one.passes, one.steps))

    @property
    def lines(self) -> OpLines:
        """Where the ops of its passes were called."""
        found = self.main.lines_of_ops
        assert found is not None
        return found

    @property
    def turn(self) -> int:
        """Turns of the loop that it saw."""
        return self.main.turn

    @property
    def passes(self) -> int:
        """Backward passes that it saw."""
        return self.main.passes

    @property
    def broken(self) -> Exception | None:
        """What ended the evidence."""
        return self.main.broken

    @property
    def price(self) -> float:
        """Seconds that it has cost the loop."""
        return sum(
            one.lines_of_ops.events * PRICES[source.name]
            for source, one in zip(self.sources, self.each, strict=True)
            if one.lines_of_ops is not None
        )

    def findings(self, failures: list[str]) -> list[Finding]:
        """What the rules have found.

        Args:
            failures: takes the sentences of rules that failed.
        """
        with getattr(self.main, "reading", nullcontext)():
            return findings_of(self.main, failures)
