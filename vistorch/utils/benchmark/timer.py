"""How long a piece of code takes.

Invariant: the loop around the code is `timeit`'s own, so nothing is measured but the code.
"""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from ...torch_api.settings import get_num_threads, set_num_threads

__all__ = ["Measurement", "Timer", "select_unit"]

_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


def select_unit(t: float) -> tuple[str, float]:
    """The unit to print a time in: its name and length in seconds.

    Example:
        >>> from vistorch.utils.benchmark import select_unit
        >>> select_unit(0.002)
        ('ms', 0.001)
    """
    for length, name in reversed(_UNITS):
        if t >= length:
            return name, length
    return "ns", 1e-9


class Measurement:
    """What a Timer found.

    Args:
        number_per_run: how often the code ran in each run.
        raw_times: the seconds of each run.
        title: what it is called.
        setup: the code before it.
        num_threads: the threads it had.

    Example:
        >>> from vistorch.utils.benchmark import Measurement
        >>> found = Measurement(number_per_run=2, raw_times=[2.0, 4.0, 12.0], title="x + x")
        >>> found.times
        [1.0, 2.0, 6.0]
        >>> found.mean, found.median, found.iqr
        (3.0, 2.0, 2.5)
    """

    def __init__(
        self, number_per_run: int, raw_times: list[float], title: str, setup: str = "", num_threads: int = 1
    ) -> None:
        self.number_per_run, self.raw_times = number_per_run, raw_times
        self.title, self.setup, self.num_threads = title, setup, num_threads

    @property
    def times(self) -> list[float]:
        """The seconds of one execution, for each run."""
        return [seconds / self.number_per_run for seconds in self.raw_times]

    @property
    def mean(self) -> float:
        """Their mean."""
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        """Their median."""
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """From the first to the third quartile."""
        low, high = np.percentile(self.times, (25, 75))
        return float(high - low)

    def __repr__(self) -> str:
        many = len(self.raw_times) > 1
        name, length = select_unit(self.median)
        lines = [object.__repr__(self), self.title]
        if self.setup not in ("", "pass"):
            lines.append(f"setup: {self.setup}" if "\n" not in self.setup else f"setup:\n{self.setup}")
        if many:
            low, high = np.percentile(self.times, (25, 75))
            lines.append(f"  Median: {self.median / length:.2f} {name}")
            lines.append(
                f"  IQR:    {self.iqr / length:.2f} {name} ({low / length:.2f} to {high / length:.2f})"
            )
        else:
            lines.append(f"  {self.median / length:.2f} {name}")
        runs = f"{self.number_per_run} runs {'per measurement' if many else ''}"
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        lines.append(f"  {len(self.raw_times)} measurement{'s' if many else ''}, {runs}, {threads}")
        return "\n".join(lines)


class Timer:
    """Times a statement, as `timeit.Timer` does, with the threads it asks for.

    Args:
        stmt: the code.
        setup: code run once before it.
        global_setup: not used; it is for C++.
        timer: the clock.
        globals: the names the code sees.
        label: what it is called.
        sub_label: added to the name.
        description: added to the name.
        env: not used.
        num_threads: how many threads BLAS may use meanwhile.
        language: Python only.

    Example:
        >>> from vistorch.utils.benchmark import Timer
        >>> Timer("x + x", "x = 1").timeit(10).number_per_run
        10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if str(language).lower() in ("c++", "cpp", "cxx"):
            raise ValueError("vistorch times Python only.")
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        title = f"{label}: {sub_label}" if label and sub_label else label or sub_label or stmt
        self._title = f"{title}\n{description}" if description else title
        self._setup, self._threads = setup, num_threads

    def _time(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._threads)
        try:
            return self._timer.timeit(number)
        finally:
            set_num_threads(before)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._title, self._setup, self._threads)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Run the code `number` times, in one run."""
        self._time(max(number // 100, 2))
        return self._measured(number, [self._time(number)])

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Run blocks of executions until `min_run_time` seconds are over.

        Example:
            >>> from vistorch.utils.benchmark import Timer
            >>> found = Timer("x + x", "x = 1").blocked_autorange(min_run_time=0.01)
            >>> sum(found.raw_times) >= 0.01
            True
        """
        number = 1
        while (seconds := self._time(number)) < min_run_time / 1000:
            number *= 10
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(seconds := self._time(number))
            if callback is not None:
                callback(number, seconds)
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Any = None,
    ) -> Measurement:
        """Run until the quartiles are close to the median, or `max_run_time` seconds are over.

        Example:
            >>> from vistorch.utils.benchmark import Timer
            >>> found = Timer("x + x", "x = 1").adaptive_autorange(threshold=0.5, max_run_time=0.1)
            >>> found.iqr <= 0.5 * found.median or sum(found.raw_times) >= 0.1
            True
        """
        found = self.blocked_autorange(callback, min_run_time)
        times = found.raw_times
        while found.iqr > threshold * found.median and sum(times) < max_run_time:
            times.append(self._time(found.number_per_run))
        return found
