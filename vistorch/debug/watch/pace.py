"""How fast a run goes, how many steps there will be, and which try this is.

A rewind takes steps back: the model stands at the step it went back to, the loop is where it was. Speed and what is
left are the loop's, so they count every step that was made, those that were undone too.
Invariant: what was guessed from a cell is said no more once the run has gone beyond it.
"""

from __future__ import annotations

from collections import deque
from time import perf_counter

from .budget import Budget
from .progress import Progress

SPAN = 5.0  # seconds that the speed is taken from
EPOCHS = 256  # beginnings of epochs that are kept


class Pace:
    """The course of a run.

    Args:
        progress: where the loop is.
        budget: knows how long it was held.
        steps: how many there will be, if that was given.
        epochs: how many, if that was given.
    """

    def __init__(self, progress: Progress, budget: Budget, steps: int | None, epochs: int | None) -> None:
        self.progress, self.budget = progress, budget
        self.total, self.epochs = steps, epochs
        self.guessed = False
        self.points: deque[tuple[float, int]] = deque(
            maxlen=64
        )  # (seconds of the loop, steps that were made)
        self.undone = 0  # steps that were made and taken back
        self.tries = 1
        self.begins: deque[list[int]] = deque(
            maxlen=EPOCHS
        )  # [epoch, the step after which it began, whether whole]

    def guess(self, steps: int | None, epochs: int | None) -> None:
        """Take what the text of a cell says, where nothing was given.

        Args:
            steps: how many there will be; None if it does not say.
            epochs: how many there will be; None if it does not say.
        """
        if self.total is None and self.epochs is None:
            self.total, self.epochs, self.guessed = steps, epochs, True

    def mark(self) -> None:
        """Note where the loop is."""
        now = perf_counter() - self.budget.held
        if len(self.points) > 1 and self.points[-1][1] == self.made:
            self.points.pop()  # marks while no step is made leave the steps before in sight
        self.points.append((now, self.made))
        while len(self.points) > 2 and self.points[1][0] < now - SPAN:
            self.points.popleft()

    def began(self, epoch: int, step: int) -> None:
        """An epoch of the loader begins.

        Args:
            epoch: its number.
            step: the newest step before it.
        """
        self.begins.append([epoch, step, 1])

    def rewound(self, before: int, step: int) -> None:
        """The run goes back.

        Args:
            before: the step it was at.
            step: the step it goes back to.
        """
        going = self.progress.open  # whether the loop goes on from there
        if going:
            self.undone += before - step
            self.tries += 1
        while self.begins and self.begins[-1][1] > step:
            self.begins.pop()
        if self.begins and self.begins[-1][0] != self.progress.epoch and going:
            self.begins.append([self.progress.epoch, step, 0])  # the loader is not wound back

    @property
    def made(self) -> int:
        """Steps that the loop made, with those that were undone."""
        return self.progress.step + self.undone

    @property
    def speed(self) -> float | None:
        """Steps a second in the last seconds; None before there are any."""
        if len(self.points) < 2:
            return None
        (start, first), (end, last) = self.points[0], self.points[-1]
        return (last - first) / (end - start) if end > start and last > first else None

    @property
    def epochs_known(self) -> int | None:
        """How many epochs there will be, where that is known."""
        return (
            None
            if self.guessed and self.epochs is not None and self.progress.epoch > self.epochs
            else self.epochs
        )

    @property
    def steps(self) -> int | None:
        """The step the model will stand at when the loop ends, where that is known."""
        total, epochs = self.total, self.epochs_known
        if total is None and epochs is not None and self.progress.epoch_steps:
            total = epochs * self.progress.epoch_steps
        if total is not None and self.guessed and self.made > total:
            return None
        return None if total is None else max(total - self.undone, 0) or None

    @property
    def left(self) -> float | None:
        """Seconds that are left, where that is known."""
        if not self.progress.open:
            return 0.0
        total, speed = self.steps, self.speed
        return None if total is None or not speed else max(0.0, (total - self.progress.step) / speed)
