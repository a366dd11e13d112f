"""Cures of what is added up in rounds, and of what shrinks from round to round: a sum, a beginning, another bound.

Invariant: the number that a sum begins with is the program's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..written import given_by
from .case import Case, Cure, name_of


def never_reset(case: Case) -> Iterator[Cure]:
    """The sum begun in each round too."""
    program, also = case.program, case.finding.also
    name = case.finding.confirm[0].partition(" ")[0]
    if also is None:
        return
    for first in program.nodes(case.line, ast.Assign):
        number = next((v for t, v in given_by(first) if program.of(t) == name), first.value)
        for added in program.at(also[0].line):
            loops = [x for x in program.within(added, ast.For) if x.lineno > first.lineno]
            if len(loops) > 1:
                yield Cure(program, program.before(loops[-2], f"{name} = {program.of(number)}"))
                return


def set_not_added(case: Case) -> Iterator[Cure]:
    """A sum in the place of an assignment."""
    program = case.program
    for node in program.nodes(case.line, ast.Assign):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            text = f"{program.of(node.targets[0])} += {program.of(node.value)}"
            yield Cure(program, program.replaced(node, text))


def falls_at_once(case: Case) -> Iterator[Cure]:
    """The other of the smaller and the larger."""
    program = case.program
    for call in program.calls(case.line, "min", "max"):
        other = "max" if name_of(call) == "min" else "min"
        yield Cure(program, program.replaced(call.func, other))


CURES = {"never reset": never_reset, "set, not added": set_not_added, "falls at once": falls_at_once}
