"""Passes within passes: a node whose backward runs a pass of its own, hundreds of levels deep.

Invariant: Python's limit of nested calls is what it was when the outermost pass ends, and a pass that calls itself
without end still meets a limit, long before the C stack does.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

LEVELS = 1000
"""How many passes may stand within each other; PyTorch goes on in other threads, and has no limit."""


def _frames() -> int:
    """How many calls are nested now."""
    frame: Any = sys._getframe()
    count = 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


class Deeper:
    """Room for one more pass within a pass, in the main thread; other threads may have small stacks."""

    __slots__ = ("before", "given")
    level = 0
    margin = 1000  # what Python grants a program by default

    def __enter__(self) -> None:
        self.given = None
        if threading.current_thread() is not threading.main_thread():
            return
        Deeper.level += 1
        needed = 2 * _frames() + Deeper.margin // 2  # calls out of C count too, and have no frame
        self.before = sys.getrecursionlimit()
        if Deeper.level <= LEVELS and needed > self.before:
            self.given = needed + Deeper.margin // 2
            sys.setrecursionlimit(self.given)

    def __exit__(self, *exc: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        Deeper.level -= 1
        if self.given is not None and sys.getrecursionlimit() == self.given:
            sys.setrecursionlimit(self.before)
