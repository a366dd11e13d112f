"""When lines, modules and norms of torch's passes are noted: from the first command that shows a graph of torch.

Loading the extension starts nothing. Once a command has asked, the first passes of each cell are noted, as the engine's
are (`debug.graph.graph_listeners`), and a training loop then runs without.

Invariant: until a command asks, torch runs as if vistorch were not there.
"""

from __future__ import annotations

from typing import Any

from . import passes
from .norms import Norms
from .notes import Noting

PASSES = 20  # backward passes of one cell that are noted
MODULES = 2000  # and calls of modules, where nothing goes backward


class _Listening:
    """Whether a command has asked, what is active, and how much of this cell was noted."""

    def __init__(self) -> None:
        self.asked = False
        self.noting = Noting()
        self.norms = Norms()
        self.end: Any = None
        self.passes = 0

    def start(self) -> bool:
        """Note the next passes."""
        new, self.asked, self.passes = not self.asked, True, 0
        self.noting.modules.count = 0
        self.norms.renew()
        self.noting.start()
        if self.end is None:
            self.end = passes.listen(self._backward, passes.LAST)
        return new

    def _backward(self, tensors: Any, gradient: Any, options: dict) -> bool:
        self.passes += 1
        if self.passes >= PASSES or self.noting.modules.count >= MODULES:
            self.pause()
            return False
        end = self.norms.measure(tensors)
        if end is None:
            return False
        try:
            passes.run(tensors, gradient, options)
        finally:
            end()
        return True

    def pause(self) -> None:
        """Note nothing until the next cell."""
        self.noting.stop()
        if self.end is not None:
            self.end()
            self.end = None

    def stop(self) -> None:
        """Note nothing until a command asks again."""
        self.pause()
        self.asked = False


_state = _Listening()
start, stop = _state.start, _state.stop


def next_cell() -> None:
    """A cell is about to run: where a command has asked, its first passes are noted."""
    if _state.asked:
        _state.start()
