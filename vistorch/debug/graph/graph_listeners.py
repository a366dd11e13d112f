"""The listeners that let a graph know its lines, its modules and the norms of its gradients.

They cost a small network some ten per cent of a step, and serve the graph that is looked at next. So they record the
first passes of each cell, and a training loop then runs without them until the next cell begins.

Invariant: they are active from `%load_ext vistorch`, or from the first `vt.graph` or `vt.step`, until `stop`.
"""

from __future__ import annotations

from ...engine.base.events import Listener
from ..lines import Lines
from .module_calls import Calls
from .norms import Norms

SHARE = 0.03  # of the time, spent on norms of gradients
PASSES = 20  # backward passes of one cell that are recorded
MODULES = 2000  # and calls of modules, where nothing goes backward


class _Listeners(Listener):
    """The active listeners, and how much of this cell they have recorded."""

    def __init__(self) -> None:
        self.open: list = []
        self.passes = self.modules = 0

    def backward(self, run: object, outputs: tuple) -> None:
        self.passes += 1
        if self.passes >= PASSES:
            self.shut()

    def phase(self, name: str, subject: object, *details: object) -> None:
        if name == "forward":
            self.modules += 1
            if self.modules >= MODULES:
                self.shut()

    def shut(self) -> None:
        for one in reversed(self.open):
            one.__exit__(None, None, None)
        self.open = []


_active = _Listeners()


def start() -> bool:
    """Start the listeners for the passes to come; returns whether they were not active yet."""
    _active.passes = _active.modules = 0
    if _active.open:
        for one in _active.open:
            if isinstance(one, Norms):
                one.renew()  # whatever the cells before this one have cost
        return False
    _active.open = [Calls(), Lines(), Norms(share=SHARE), _active]
    for one in _active.open:
        one.__enter__()
    return True


def stop() -> None:
    """Stop the listeners."""
    _active.shut()
