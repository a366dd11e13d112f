"""Run a pass that is about to start, and look at each step when it has run.

Invariant: what is left behind (`.grad`, freed nodes, what was caught) is what a plain pass leaves, also after an
exception.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.graph import FREED, Leaf
from ...engine.modes import mode, recording
from ...engine.quiet import quiet
from ..stepper import settle


def drive(run: Any, visit: Callable[[Any, Any, dict], None]) -> None:
    """Run a pass to its end; whoever prepared it then finds nothing left to run.

    Args:
        run: the pass.
        visit: told each node that ran, its entry in the journal, and what waits after it; what it saved is still there.
    """
    free, create_graph = run.free, run.create_graph
    run.free = False
    run.journal = journal = []
    before, outer = mode.on, mode.run
    mode.on, mode.run = recording() if create_graph else False, run
    try:
        with quiet():
            for n in run.steps():
                entry = journal[-1]
                journal.clear()
                if n.__class__ is Leaf:
                    settle(entry[3], create_graph)
                visit(n, entry, run.pending)
                if free and n.__class__ is not Leaf:
                    release(n)
    finally:
        for entry in journal:  # of a step that failed after it accumulated
            if entry[1].__class__ is Leaf:
                settle(entry[3], create_graph)
        mode.on, mode.run = before, outer
        run.journal = None
        if run.at < len(run.order):
            run.at = len(run.order)


def release(n: Any) -> None:
    """Free what a node saved, as a pass that retains no graph does."""
    saved = n.saved
    if (
        saved
        and (n.rule is None or n.rule.saves_tensors)
        and (n.edges[0] is not None or any(x is not None for x in saved))
    ):
        n.saved = FREED
