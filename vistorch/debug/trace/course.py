"""The course of the losses before the first bad value: a run that diverges overflows somewhere, and where is no cause.

Invariant: a course holds numbers, at most the newest losses of each line that starts a pass.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

from ..numbers import host, plain
from ..steps.words import count, number

KEPT = 200  # losses of one line
GROWN = 10.0  # so many times what is usual is a divergence


@dataclass(frozen=True)
class Growth:
    """How a loss grew: from its least value to its last, over so many steps."""

    least: float
    last: float
    steps: int

    @property
    def fold(self) -> float:
        """How many times larger it became; infinite from 0."""
        return self.last / self.least if self.least else math.inf

    def text(self) -> str:
        """As a sentence says it.

        Example:
            >>> Growth(0.5, 2e6, 4).text()
            'the loss grew 4e+06-fold over the 4 steps before, from 0.5 to 2e+06'
        """
        fold = f" {number(self.fold)}-fold" if math.isfinite(self.fold) else ""
        over = "step before" if self.steps == 1 else f"{count(self.steps, 'step')} before"
        return f"the loss grew{fold} over the {over}, from {number(self.least)} to {number(self.last)}"


class Course:
    """The sizes of the losses that backward passes began with, by the line that began them.

    Example:
        >>> import vistorch
        >>> course = Course()
        >>> for value in (2.0, 1.0, 30.0, 5e3):
        ...     course.note("line 7", vistorch.tensor(value))
        >>> course.growth()
        Growth(least=1.0, last=5000.0, steps=2)
    """

    def __init__(self) -> None:
        self.losses: dict[Any, deque[float]] = {}

    def note(self, place: Any, loss: Any) -> None:
        """A pass begins with this tensor; only one number is a loss."""
        d = loss._data
        if d.size == 1 and d.dtype.kind == "f":
            self.add(place, float(plain(host(d)).reshape(())))

    def add(self, place: Any, loss: float) -> None:
        """A pass begins with this loss.

        Args:
            place: the line that began it.
            loss: what it was.
        """
        self.losses.setdefault(place, deque(maxlen=KEPT)).append(abs(loss))

    def growth(self) -> Growth | None:
        """The largest growth of the loss of a line; None where no loss is far beyond what was usual for it."""
        found = []
        for losses in self.losses.values():
            finite = [value for value in losses if math.isfinite(value)]
            if len(finite) < 2 or not finite[-1] >= GROWN * sorted(finite)[(len(finite) - 1) // 2]:
                continue
            least = min(finite)
            at = len(finite) - 1 - finite[::-1].index(least)
            found.append(Growth(least, finite[-1], len(finite) - 1 - at))
        found = [growth for growth in found if growth.steps and growth.last > 0]
        return max(found, key=lambda growth: growth.fold, default=None)
