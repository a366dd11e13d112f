"""What a condition names and a pass does not have: a node, a module or a line that is not in it.

Such a condition is no error, for it can be meant for another pass; but who waits for it should know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from .. import source as sources
from ..line_lookup import line_of
from .errors import nearest
from .kinds import All, Any_, At, Line, Not, Op, short
from .points import Breakpoint

_MOST = 12  # names that are listed


class Nodes(Protocol):
    """The nodes of a pass that is walked: `debug.Stepper` has them."""

    nodes: list
    modules: Any
    reads: sources.Nodes


def unmatched(points: Iterable[Breakpoint], stepper: Nodes) -> list[str]:
    """One sentence for each name of the conditions that nothing in a pass has.

    Args:
        points: the breakpoints.
        stepper: the pass.
    """
    asked = list(dict.fromkeys(test for point in points for test in _named(point.test)))
    if not asked:
        return []
    reads = stepper.reads
    inner = [node for node in stepper.nodes if not reads.is_leaf(node)]
    said = []
    for test in asked:
        if isinstance(test, Op):
            names = {reads.name(node) for node in stepper.nodes}
            if not any(test.matches(name) for name in names):
                said.append(
                    f"{test.pattern!r} is the name of no node of this pass: {_instead(test.pattern, names)}"
                )
        elif isinstance(test, At):
            paths = {path for node in stepper.nodes if (path := stepper.modules(node)) is not None}
            if not any(test.inside(path) for path in paths):
                known = _instead(test.modules, paths) if paths - {""} else "its modules are not known"
                said.append(f"{test.modules!r} is no module of this pass: {known}")
        elif not any((at := line_of(reads.place(n))) and at.line == test.number for n in inner):
            said.append(f"line {test.number} made no node of this pass")
    return said


def _named(test: Any) -> Iterator[Any]:
    """The tests within a test that name something of a pass."""
    if isinstance(test, (Op, Line, At)):
        yield test
    if isinstance(test, (All, Any_)):
        for one in test.tests:
            yield from _named(one)
    elif isinstance(test, (Not, At)):
        yield from _named(test.test)


def _instead(word: str, names: Iterable[str]) -> str:
    """What was probably meant, or what there is."""
    names = {short(name) for name in names if name}
    found = nearest(word, names)
    return found if len(names) <= _MOST or found.startswith("did") else f"it has {len(names)} others"
