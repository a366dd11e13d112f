"""What would mend a finding, as a change of the user's own lines, the likeliest first.

Invariant: what has no line, or whose line is not as expected, has no cure in code; the advice in words stays.
"""

from __future__ import annotations

import ast
from typing import Any

from ..finding import Finding
from . import again, copies, exceptions, losses, meaning, modes, numbers, reach, signs, steps, structure, sums
from .case import Case, Cure

CURES = {
    **steps.CURES,
    **again.CURES,
    **copies.CURES,
    **signs.CURES,
    **structure.CURES,
    **reach.CURES,
    **modes.CURES,
    **meaning.CURES,
    **losses.CURES,
    **numbers.CURES,
    **sums.CURES,
    **exceptions.CURES,
}
MOST = 4  # changes that are worth a trial


def cures_of(finding: Finding, named: dict[str, Any]) -> list[Cure]:
    """Changes that may mend a finding, the likeliest first; none where nothing is known.

    Args:
        finding: it has a line.
        named: modules and optimizers, by the names that the program has for them.
    """
    rule = CURES.get(finding.rule)
    if rule is None or finding.place is None:
        return []
    found: list[Cure] = []
    texts: set[str] = set()
    try:
        for cure in rule(Case(finding, named)):
            text = cure.text
            if text in texts or text == cure.program.text or not _reads(text):
                continue
            texts.add(text)
            found.append(cure)
            if len(found) >= MOST:
                break
    except (SyntaxError, ValueError, KeyError, IndexError):
        pass  # a line that is written as nobody expected
    return found


def _reads(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


__all__ = ["CURES", "Cure", "cures_of"]
