"""In the notebook: what ranks send while a cell runs on them, put together by step.

Invariant: what is kept is bounded, however long the run is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from .record import RanksRecord
from .timeline import Step, step_of

WINDOW = 50  # steps that times are taken from
POINTS = 2000  # losses by rank
SILENT = 3.0  # seconds without a sign of progress, after which a rank that others wait for is named


class RanksRun:
    """A run on ranks.

    Args:
        count: how many ranks.
        title: what it is called.

    Example:
        >>> from vistorch.debug.ranks import RanksRun
        >>> run = RanksRun(2)
        >>> run.record().state
        'Waiting'
    """

    def __init__(self, count: int, title: str = "") -> None:
        self.count, self.title = count, title
        self.pending: dict[int, dict[int, Any]] = {}
        self.steps: deque[Step] = deque(maxlen=WINDOW)
        self.done = 0  # steps that all ranks have made
        self.stride = 1
        self.losses: dict[int, list[float | None]] = {}  # step -> by rank
        self.beats: dict[int, dict[str, Any]] = {}
        self.seen: dict[int, float] = {}
        self.own: dict[int, deque[float]] = {rank: deque(maxlen=WINDOW) for rank in range(count)}
        self.outcomes: Mapping[int, Any] | None = None
        self.error = ""
        self.ended: set[int] = set()
        self.controls: Any = None  # what can be asked of the ranks, while they run
        self.parting: Any = None  # what `judge` found, if the run was compared

    def take(self, rank: int, said: Mapping[str, Any]) -> None:
        """Take what a rank's collector sent.

        Args:
            rank: whose.
            said: steps, or a sign of life.
        """
        self.seen[rank] = time.monotonic()
        if "control" in said and self.controls is not None:
            self.controls.answered(rank, said["control"])
        if "beat" in said:
            self.beats[rank] = said["beat"]
        for step in said.get("steps", ()):
            number = int(step["number"])
            self.own[rank].append(step["end"] - step["begin"])
            if number % self.stride == 0:
                self.losses.setdefault(number, [None] * self.count)[rank] = step["loss"]
            found = self.pending.setdefault(number, {})
            found[rank] = step
            if len(found) == self.count:
                self.steps.append(step_of(number, found))
                self.done = max(self.done, number + 1)
                for old in [one for one in self.pending if one <= number]:
                    del self.pending[old]
        while len(self.pending) > WINDOW:
            del self.pending[min(self.pending)]
        if len(self.losses) > POINTS:
            self.stride *= 2
            self.losses = {n: values for n, values in self.losses.items() if n % self.stride == 0}

    def end(self, outcomes: Mapping[int, Any] | None, error: str = "") -> None:
        """The cell has ended.

        Args:
            outcomes: how, by rank; None if that is not known.
            error: the sentence of its failure.
        """
        self.outcomes, self.error = outcomes or {}, error

    def silent(self, now: float | None = None) -> list[int]:
        """The ranks that have shown no progress for a while, and that others wait for.

        Args:
            now: the time.
        """
        now = time.monotonic() if now is None else now
        if (
            self.outcomes is not None
            or len(self.beats) < self.count
            or (self.controls and self.controls.paused)
        ):
            return []
        usual = sorted(t for own in self.own.values() for t in own)
        patience = max(SILENT, 10 * usual[len(usual) // 2] if usual else 0.0)
        if any(now - beat["since"] < patience for rank, beat in self.beats.items() if rank not in self.ended):
            return []
        most = max(beat["operation"] for beat in self.beats.values())
        return [
            rank
            for rank, beat in sorted(self.beats.items())
            if beat["operation"] < most and rank not in self.ended
        ]

    def record(self) -> RanksRecord:
        """What is known now."""
        return RanksRecord.of(self)
