"""Curves that thin themselves: at most so many columns, however many steps, and no peak is averaged away.

A column covers `width` steps, a power of two: step s stands in column s // width. When steps run out of columns, each
two neighbours become one. A column knows the least, the largest, the sum, the number of what was finite, and how much
was not.
Invariant: the largest of all columns is the largest value that was ever added, and so for the least.
"""

from __future__ import annotations

from typing import Any

import numpy as np

COLUMNS = 2048
PARTS = ("low", "high", "total", "count", "bad")


class Curve:
    """Values by step, one row or several.

    Args:
        rows: how many values a step has.
        columns: the most columns, an even number.

    Example:
        >>> from vistorch.debug.watch.curves import Curve
        >>> curve = Curve(columns=4)
        >>> curve.add([0, 1, 2, 3, 4], [5.0, 1.0, 9.0, 2.0, 3.0])
        >>> curve.width, curve.high[: curve.used, 0].tolist(), curve.low[: curve.used, 0].tolist()
        (2, [5.0, 9.0, 3.0], [1.0, 2.0, 3.0])
    """

    def __init__(self, rows: int = 1, columns: int = COLUMNS) -> None:
        self.rows, self.columns, self.width, self.used = rows, columns, 1, 0
        self.widened = 0  # the step at which columns were merged last
        self.low = np.full((columns, rows), np.inf)
        self.high = np.full((columns, rows), -np.inf)
        self.total = np.zeros((columns, rows))
        self.count = np.zeros((columns, rows), np.int64)
        self.bad = np.zeros((columns, rows), np.int64)

    def add(self, steps: Any, values: Any, there: Any = None) -> None:
        """Add the values of some steps, in rising order.

        Args:
            steps: whole numbers from 0 on.
            values: as many values, or rows of values; NaN and infinity count as bad.
            there: which of them there are; those that are not count as nothing. All, if not given.
        """
        steps = np.asarray(steps, np.int64)
        if not steps.size:
            return
        values = np.asarray(values, np.float64).reshape(len(steps), self.rows)
        while steps[-1] >= self.columns * self.width:
            self._halve()
            self.widened = int(steps[-1])
        at = steps // self.width
        starts = np.concatenate(([0], np.flatnonzero(at[1:] != at[:-1]) + 1))
        at = at[starts]
        fine = np.isfinite(values)
        bad = ~fine if there is None else ~fine & np.asarray(there, bool).reshape(values.shape)
        least, most = np.where(fine, values, np.inf), np.where(fine, values, -np.inf)
        self.low[at] = np.minimum(self.low[at], np.minimum.reduceat(least, starts))
        self.high[at] = np.maximum(self.high[at], np.maximum.reduceat(most, starts))
        self.total[at] += np.add.reduceat(np.where(fine, values, 0.0), starts)
        self.count[at] += np.add.reduceat(fine.astype(np.int64), starts)
        self.bad[at] += np.add.reduceat(bad.astype(np.int64), starts)
        self.used = max(self.used, int(at[-1]) + 1)

    def _halve(self) -> None:
        half = self.columns // 2
        for name, fold, empty in (
            ("low", np.minimum, np.inf),
            ("high", np.maximum, -np.inf),
            ("total", np.add, 0),
            ("count", np.add, 0),
            ("bad", np.add, 0),
        ):
            a = getattr(self, name)
            a[:half] = fold(a[0::2], a[1::2])
            a[half:] = empty
        self.width *= 2
        self.used = (self.used + 1) // 2

    def mean(self) -> np.ndarray:
        """The mean of what was finite, by column; NaN where nothing was."""
        n = self.count[: self.used]
        return np.where(n > 0, self.total[: self.used] / np.maximum(n, 1), np.nan)

    def copy(self) -> Curve:
        """The same curve, holding the columns in use only as long as nothing is added."""
        other = Curve.__new__(Curve)
        other.rows, other.columns, other.width, other.used = self.rows, self.columns, self.width, self.used
        other.widened = self.widened
        for name in PARTS:
            setattr(other, name, getattr(self, name)[: self.used].copy())
        return other

    def restored(self) -> Curve:
        """A curve to add to, made of a copy."""
        other = Curve(self.rows, self.columns)
        other.width, other.used = self.width, self.used
        for name in PARTS:
            getattr(other, name)[: self.used] = getattr(self, name)[: self.used]
        return other

    def after(self, step: int) -> Curve:
        """A copy of the columns that hold steps after this one; the others are empty."""
        other = self.copy()
        until = min((step + 1) // self.width, other.used)
        for name, empty in (("low", np.inf), ("high", -np.inf), ("total", 0), ("count", 0), ("bad", 0)):
            getattr(other, name)[:until] = empty
        return other

    @property
    def nbytes(self) -> int:
        """What the columns occupy."""
        return sum(getattr(self, name).nbytes for name in PARTS)

    def wire(self, since: int = 0) -> dict[str, Any]:
        """The columns from the one of step `since` on, as they travel: rows by columns, float32, NaN where empty.

        All of them where columns were merged since: what a page has is of another width.

        Args:
            since: the first step that may have changed.
        """
        start = 0 if since < self.widened else min(since // self.width, self.used)
        part = slice(start, self.used)
        empty = self.count[part] == 0

        def shown(a: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(np.where(empty, np.nan, a).T, np.float32)

        return {
            "width": self.width,
            "from": start,
            "low": shown(self.low[part]),
            "high": shown(self.high[part]),
            "mean": shown(self.mean()[part]),
            "bad": np.ascontiguousarray(np.minimum(self.bad[part], 255).T, np.uint8),
        }
