"""What must have listened for a graph to know its lines, its modules and how large its gradients were.

Invariant: it listens from `%load_ext vistorch`, or from the first `vt.graph` or `vt.step`, until it is told to stop.
"""

from __future__ import annotations

from typing import Any

from ..debug.graph import Calls, Norms
from ..debug.lines import Lines

SHARE = 0.03  # of the time, spent on norms of gradients


class _Ears:
    """The listeners, while they listen."""

    def __init__(self) -> None:
        self.open: list = []


_ears = _Ears()


def start() -> bool:
    """Listen; returns whether it had to begin."""
    if _ears.open:
        return False
    _ears.open = [Calls(), Lines(), Norms(share=SHARE)]
    for one in _ears.open:
        one.__enter__()
    return True


def renew(info: Any = None) -> None:
    """A cell begins: its first backward pass is looked at whatever the cells before it have cost.

    Args:
        info: what IPython tells of the cell.
    """
    for one in _ears.open:
        if isinstance(one, Norms):
            one.renew()


def stop() -> None:
    """Listen no more."""
    for one in reversed(_ears.open):
        one.__exit__(None, None, None)
    _ears.open = []
