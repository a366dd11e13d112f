"""What must have listened for a graph to know its lines, its modules and how large its gradients were.

To listen costs a small network some ten per cent of a step, and what is heard is for the graph that somebody looks at
next: the first passes of a cell are heard, a training loop then runs alone until the next cell begins.

Invariant: it listens from `%load_ext vistorch`, or from the first `vt.graph` or `vt.step`, until it is told to stop.
"""

from __future__ import annotations

from ...debug.graph import Calls, Norms
from ...debug.lines import Lines
from ...engine.events import Listener

SHARE = 0.03  # of the time, spent on norms of gradients
PASSES = 20  # backward passes of one cell that are heard
MODULES = 2000  # and calls of modules, where nothing goes backward


class _Ears(Listener):
    """The listeners, while they listen; counts what they heard of this cell."""

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


_ears = _Ears()


def start() -> bool:
    """Listen; returns whether it had to begin."""
    _ears.passes = _ears.modules = 0
    if _ears.open:
        for one in _ears.open:
            if isinstance(one, Norms):
                one.renew()  # whatever the cells before this one have cost
        return False
    _ears.open = [Calls(), Lines(), Norms(share=SHARE), _ears]
    for one in _ears.open:
        one.__enter__()
    return True


def stop() -> None:
    """Listen no more."""
    _ears.shut()
