"""Metric storage of a run: curves, counts and lists, all of bounded size.

Invariant: numbers and small arrays only; no tensor, and nothing that grows with the number of steps beyond its bound.
"""

from __future__ import annotations

from collections import deque
from math import nan
from time import perf_counter
from typing import Any

import numpy as np

from .advice import WARM
from .confusion import MOST, ClassCounts, Window
from .course import Course
from .curves import Curve
from .loss_inputs import LossInputs
from .mistakes import Batches, Mistakes
from .predictions import Read
from .units import Units

EPOCHS = 200
CHECKS = 2000  # validations
UNDONE = 8
NEWEST = 100  # looks at the update / weight ratio


class Check:
    """One validation: the passes apart from training between two steps."""

    def __init__(self, step: int, epoch: int, hand_mean: bool = False) -> None:
        self.step, self.epoch = step, epoch
        self.hand_mean = hand_mean  # whether a difference by hand is a loss by its mean
        self.batches: list[LossInputs] = []  # those that were not read yet
        self.tally: ClassCounts | None = None
        self.values: Any = None  # what was predicted beside what should have been; tokens
        self.tokens: Any = None
        self.loss_sum, self.loss_count = 0.0, 0
        self.newest, self.began = (
            Batches(),
            perf_counter(),
        )  # `newest`: cells of misread samples are filled from it
        self.without = 0  # labels whose scores are not finite

    def add(self, reads: list[Read], classes: int) -> None:
        """Count what was read."""
        if self.tally is None:
            self.tally = ClassCounts(classes)
        for r in reads:
            self.tally.add(r.labels, r.read)
            self.without += sum(n for _, n in r.unread())
            if r.loss is not None:
                self.loss_sum += float(r.loss.sum())
                self.loss_count += int(np.size(r.loss))

    def wire(self) -> dict[str, Any]:
        """One point of the curve."""
        if self.tally is None and (self.values is not None or self.tokens is not None):
            other = self.values if self.values is not None else self.tokens
            return {"step": self.step, "epoch": self.epoch, **other.point()}
        return {
            "step": self.step,
            "epoch": self.epoch,
            "loss": self.loss_sum / self.loss_count if self.loss_count else None,
            "accuracy": None if self.tally is None else self.tally.accuracy,
            "samples": 0 if self.tally is None else self.tally.samples,
            "without": self.without,
        }


class Metrics:
    """The metrics of a run.

    Args:
        names: the names of the classes, if they were given.
    """

    def __init__(self, names: list[str] | None = None) -> None:
        self.names = names
        self.found: list[str] | None = None  # the names that the data has
        self.classes = len(names) if names else 0
        self.several = False  # each sample has several yes-or-no decisions
        self.loss, self.recent = Curve(), deque(maxlen=20)
        self.lr: Curve | None = None
        self.rated, self.rates = 0, []  # the newest step whose learning rates are in the curve, and they
        self.flow: Curve | None = None
        self.norms: np.ndarray | None = None  # the newest, by parameter
        self.has_norm: np.ndarray | None = None  # whether there was a gradient then
        self.ratios: deque[tuple[int, np.ndarray]] = deque(maxlen=NEWEST)  # (step, by layer)
        self.reached: np.ndarray | None = None  # whether a parameter ever had a gradient
        self.peak: np.ndarray | None = None  # the largest norm of the first looks
        self.looks = 0  # at gradients
        self.course = Course()
        self.window = Window()
        self.without: deque[tuple[int, int]] = deque(maxlen=4096)  # (step, labels without a prediction)
        self.without_from = 0  # the first such step
        self.epoch: ClassCounts | None = None
        self.epoch_number, self.cut = 0, 0  # the newest epoch of which a rewind took a part back
        self.epochs: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.checked: ClassCounts | None = None  # the newest validation
        self.checked_before: ClassCounts | None = None
        self.undone: list[dict[str, Any]] = []
        self.mistakes, self.units = Mistakes(), Units()

    def set_classes(self, classes: int, several: bool) -> bool:
        """Set how many classes there are, if that is not known; False for a batch of another number."""
        if not self.classes:
            self.classes, self.several = classes, several
        if self.epoch is None and classes <= self.classes:
            self.epoch, self.several = ClassCounts(self.classes), several
        return classes <= self.classes

    @property
    def class_names(self) -> list[str]:
        """A name for each class."""
        if self.names:
            return self.names
        if self.found and len(self.found) == self.classes:
            return self.found
        return [str(i) for i in range(self.classes)]

    def count(self, reads: list[Read]) -> None:
        """Count what was read of training."""
        for r in reads:
            assert self.epoch is not None
            for step, n in r.unread():
                self.without.append((step, n))
                self.without_from = self.without_from or step
            own = r.owners()
            steps = np.array([s.step for s in r.sights])[own]
            epochs = np.array([s.epoch for s in r.sights])[own]
            for epoch in dict.fromkeys(s.epoch for s in r.sights):
                part = slice(None) if r.sights[0].epoch == r.sights[-1].epoch else epochs == epoch
                if epoch != self.epoch_number and len(steps[part]):
                    self.end_epoch(int(steps[part][0]) - 1)
                    self.epoch_number = epoch
                self.epoch.add(r.labels[part], r.read[part])
            self.window.add(steps, r.labels, r.read)

    def tally(self, of: str = "window") -> ClassCounts | None:
        """The counts by class; None where there are none.

        Args:
            of: the "window" of the newest samples, the "epoch" or the "validation".
        """
        if of == "window":
            return self.window.tally(self.classes) if self.classes and len(self.window.rows) else None
        if of not in ("epoch", "validation"):
            raise ValueError(f'of must be "window", "epoch" or "validation", not {of!r}')
        return self.epoch if of == "epoch" else self.checked

    def end_epoch(self, step: int) -> None:
        """Write down what an epoch came to, and begin the next."""
        if self.epoch is not None and self.epoch.samples:
            self.epoch, ended = ClassCounts(self.classes), self.epoch
            if self.epoch_number <= self.cut:  # it is no whole epoch that others could be measured against
                return
            self.epochs.append(
                {
                    "epoch": self.epoch_number,
                    "step": step,
                    "right": ended.right.astype(np.uint32),
                    "seen": ended.seen.astype(np.uint32),
                }
            )
            self.epochs = self.epochs[-EPOCHS:]

    def end_check(self, check: Check) -> bool:
        """Write down a validation; False for one that saw nothing."""
        compared = any(one is not None and one.seen for one in (check.values, check.tokens))
        if not compared and (check.tally is None or not (check.tally.samples or check.without)):
            return False
        self.checks.append(check.wire())
        if len(self.checks) > CHECKS:
            del self.checks[1::2]
        if check.tally is not None:
            self.checked, self.checked_before = check.tally, self.checked
        return True

    def add_losses(self, steps: list[int], values: list[float]) -> None:
        """Add to the curve."""
        self.loss.add(steps, values)
        self.recent.extend(values)
        self.course.add(values)

    def add_rates(self, changes: list[tuple[int, list]], step: int) -> bool:
        """Add the learning rates up to a step; False where there is nothing to add.

        Args:
            changes: (step, the rate of each group), in rising order, wherever they changed.
            step: the newest step.
        """
        if changes and self.lr is None:
            self.lr, self.rated = Curve(len(changes[0][1]), 512), changes[0][0] - 1
        if self.lr is None or step <= self.rated:
            return False
        rows, first = self.lr.rows, self.rated + 1
        given = changes if changes and changes[0][0] == first else [(first, self.rates), *changes]
        values = [
            [nan if r is None else float(r) for r in (*each, *[nan] * rows)[:rows]] for _, each in given
        ]
        counts = np.diff([at for at, _ in given] + [step + 1])
        self.lr.add(np.arange(first, step + 1), np.repeat(values, counts, 0))
        self.rated, self.rates = step, given[-1][1]
        return True

    def add_norms(self, steps: list[int], values: list[list[float | None]]) -> None:
        """Add the gradient norms of some steps; None is no gradient, which is not one that is not finite."""
        if self.flow is None:
            self.flow = Curve(len(values[0]), 256)
        there = np.array([[x is not None for x in row] for row in values])
        norms = np.array([[nan if x is None else x for x in row] for row in values], np.float64)
        self.norms, self.has_norm = norms[-1], there[-1]
        some = np.asarray(there.any(0))
        self.reached = some if self.reached is None else np.logical_or(self.reached, some)
        if self.looks < WARM:
            most = np.fmax.reduce(np.where(np.isfinite(norms), norms, nan), 0)
            self.peak = most if self.peak is None else np.fmax(self.peak, most)
        self.looks += len(norms)
        self.flow.add(steps, norms, there)

    def known_norms(self) -> np.ndarray | None:
        """The newest norms, NaN where there was no gradient; None before the first look."""
        if self.norms is None or self.has_norm is None:
            return None
        return np.where(self.has_norm, self.norms, np.nan)

    def forget_sizes(self) -> None:
        """Forget what was measured by parameter: there are others now."""
        self.flow = self.norms = self.has_norm = self.reached = self.peak = None
        self.ratios.clear()
        self.looks = 0

    # ---- back and forth ----------------------------------------------------------------------------------------
    def copy(self) -> Metrics:
        """What a snapshot keeps of it: the curves and the counts."""
        other = Metrics.__new__(Metrics)
        other.loss, other.recent = self.loss.copy(), deque(self.recent, 20)
        other.lr = None if self.lr is None else self.lr.copy()
        other.rated, other.rates = self.rated, self.rates
        other.epoch_number, other.epochs = self.epoch_number, list(self.epochs)
        small = self.epoch is not None and self.classes <= MOST // 4
        other.epoch = self.epoch.copy() if small and self.epoch is not None else None
        other.checks = list(self.checks)
        other.course = self.course.copy()
        return other

    @property
    def nbytes(self) -> int:
        """What a copy holds."""
        held = self.loss.nbytes + (0 if self.lr is None else self.lr.nbytes)
        return held + (0 if self.epoch is None else self.epoch.nbytes)

    def rewind(self, step: int, kept: Metrics, epoch: int = 0) -> None:
        """Go back to what was known at a step; the curve that is undone stays, thinned, to be shown as such.

        Args:
            step: the step.
            kept: what was known.
            epoch: the one that the loop is in, which goes on.
        """
        lost = self.loss.after(step)
        while lost.used - step // lost.width > 128:
            lost = lost.restored()
            lost._halve()
        self.undone = [*self.undone, lost.wire(step + 1)][-UNDONE:]
        self.loss, self.recent = kept.loss.restored(), deque(kept.recent, 20)
        self.lr = None if kept.lr is None else kept.lr.restored()
        self.rated, self.rates = kept.rated, kept.rates
        if kept.epoch is not None:
            self.epoch, self.epoch_number = kept.epoch.copy(), kept.epoch_number
        self.cut = epoch
        self.epochs = list(kept.epochs)
        self.checks, self.course = list(kept.checks), kept.course.copy()
        if self.flow is not None:
            self.flow = _until(self.flow, step)
        self.window.forget_after(step)
        while self.without and self.without[-1][0] > step:
            self.without.pop()
        if self.without_from > step:
            self.without_from = 0
        self.mistakes.forget_after(step)


def _until(curve: Curve, step: int) -> Curve:
    """A curve without the columns that begin after a step."""
    other = curve.copy()
    used = min(other.used, step // other.width + 1)
    for name in ("low", "high", "total", "count", "bad"):
        setattr(other, name, getattr(other, name)[:used])
    other.used = used
    return other.restored()
