"""Run a pass that is about to start, and let its watchers look at each step when it has run.

Several may watch one pass: the first of them runs it for all, unless breakpoints of a session do.

Invariant: what is left behind (`.grad`, freed nodes, what was caught) is what a plain pass leaves, also after an
exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..engine.base.events import Listener, _listeners
from ..engine.base.modes import mode, recording
from ..engine.base.numpy_warnings import without_warnings
from ..engine.core.graph import FREED, Leaf, version


class BackwardDriver(Listener):
    """A listener that sees each step of every backward pass.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.backward_driver import BackwardDriver
        >>> class Log(BackwardDriver):
        ...     def begin(self, run):
        ...         super().begin(run)
        ...         print(f"a pass of {len(run.order)} nodes")
        ...
        ...     def step(self, n, entry, pending):
        ...         super().step(n, entry, pending)
        ...         print(f"{n.name()} of {entry[2]}")  # the gradient that came in
        ...
        ...     def end(self):
        ...         super().end()
        ...         print("over")
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> with Log():
        ...     (x * x).backward()
        a pass of 2 nodes
        MulBackward0 of 1.0
        vistorch::autograd::AccumulateGrad of 6.0
        over
    """

    def begin(self, run: Any) -> None:
        """A pass is about to start."""

    def step(self, n: Any, entry: Any, pending: dict) -> None:
        """A node has run; what it saved is still there."""

    def end(self) -> None:
        """The pass is over, or was stopped."""

    def backward(self, run: Any, outputs: tuple) -> None:
        """Run a pass in the place of what prepared it."""
        if run.journal is not None or run.at or mode.run is not None:
            return  # a stepper drives it, or it is a pass within one
        watchers = watching()
        if any(getattr(one, "steers", False) for one in list(_listeners)) or watchers[0] is not self:
            return
        if len(watchers) == 1:
            self.begin(run)
            try:
                drive(run, self.step)
            finally:
                self.end()
            return
        with watched(run, watchers) as visit:
            drive(run, visit)


def watching() -> list[BackwardDriver]:
    """Who sees the steps of a pass now, each once."""
    return list(dict.fromkeys(one for one in list(_listeners) if isinstance(one, BackwardDriver)))


@contextmanager
def watched(run: Any, watchers: list[BackwardDriver]) -> Iterator[Callable[[Any, Any, dict], None]]:
    """Announce a pass to watchers; gives what to call after each step."""
    for one in watchers:
        one.begin(run)

    def visit(n: Any, entry: Any, pending: dict) -> None:
        for one in watchers:
            one.step(n, entry, pending)

    try:
        yield visit
    finally:
        for one in watchers:
            one.end()


def drive(run: Any, visit: Callable[[Any, Any, dict], None]) -> None:
    """Run a pass to its end; its caller then finds nothing left to run.

    Args:
        run: the pass.
        visit: called with each node that ran, its journal entry and what waits after it; saved values are still there.
    """
    free, create_graph = run.free, run.create_graph
    run.free = False
    run.journal = journal = []
    before, outer = mode.on, mode.run
    mode.on, mode.run = recording() if create_graph else False, run
    try:
        with without_warnings():
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


def settle(undo: list, create_graph: bool) -> None:
    """A plain pass adds to an existing `.grad` in place: other references to that tensor must see the sum."""
    for t, _, before, *after in undo:
        if after and before is not None and not create_graph and t._grad is after[0]:
            before._data[...] = after[0]._data
            version(before).n += 1
            t._grad = before
