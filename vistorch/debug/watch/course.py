"""Where the loss is going: what it was at first, what it was at best, and what it is now.

Invariant: nothing is said before two windows of losses are there.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

WINDOW = 20  # losses that a mean is taken of
STILL = 0.02  # of what it was at first: less is no progress


class Course:
    """The course of a loss, from means of so many.

    Example:
        >>> from vistorch.debug.watch.course import Course
        >>> course = Course()
        >>> course.add([2.0] * 20 + [1.0] * 20)
        >>> course.word()
        'falls'
    """

    def __init__(self) -> None:
        self.first: float | None = None
        self.best = math.inf
        self.seen = 0
        self.recent: deque[float] = deque(maxlen=WINDOW)

    def add(self, values: list[float]) -> None:
        """Take in losses; those that are not finite are for the alarm."""
        for value in values:
            if not math.isfinite(value):
                continue
            self.recent.append(value)
            self.seen += 1
            if self.seen % WINDOW == 0:
                mean = sum(self.recent) / WINDOW
                self.first = mean if self.first is None else self.first
                self.best = min(self.best, mean)

    def word(self) -> str:
        """Where it goes: "falls", "stays", "rises", or "" where it is too early to say."""
        if self.first is None or self.seen < 2 * WINDOW:
            return ""
        now, least = float(np.mean(self.recent)), float(np.quantile(self.recent, 0.1))
        gone, size = self.first - self.best, 0.1 * abs(self.first)
        # nine of ten are above what it was at first, or have given back half of what was gained: no noise does that
        if least > self.first + size or least > self.best + max(0.5 * gone, size):
            return "rises"
        return "falls" if self.first - now > STILL * abs(self.first) else "stays"

    def copy(self) -> Course:
        """The same course."""
        other = Course()
        other.first, other.best, other.seen = self.first, self.best, self.seen
        other.recent = deque(self.recent, WINDOW)
        return other
