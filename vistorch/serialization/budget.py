"""How much memory a file may take while it is read: a multiple of its own length, and a constant.

Invariant: what a file makes grow is counted before it is made: unpacked records, copies, and every object of a pickle
or a JSON. So reading takes at most the file's length once for its stored bytes, `TIMES` its length and `FREE` more.
"""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TIMES = 32
FREE = 64 << 20
PICKLE_TIMES, PICKLE_FREE = 16, 4 << 20  # a compressed pickle: its instructions take time too


class _Budget(threading.local):
    """What a thread's `load` may still take.

    `late` is None, or what waits until the storages hold their elements.
    """

    left: float = math.inf
    late: list[Callable] | None = None

    def spend(self, count: int) -> None:
        """Count bytes before they are taken."""
        self.left -= count
        if self.left < 0:
            raise refuse("the file asks for memory that its length does not justify")


budget = _Budget()


def allowed(length: int) -> int:
    """How many bytes a file of this length may take beyond its own."""
    return TIMES * length + FREE


@contextmanager
def limited(length: int) -> Iterator[None]:
    """Bound what is taken while a file of this length is loaded."""
    before, budget.left = (budget.left, budget.late), allowed(length)
    budget.late = None
    try:
        yield
    finally:
        budget.left, budget.late = before


def refuse(what: str) -> pickle.UnpicklingError:
    """The error for a part of a file that makes no sense."""
    return pickle.UnpicklingError(what)
