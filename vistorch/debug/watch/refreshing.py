"""The refresh: what waits is read, with one transfer a device, and whoever shows the run is told.

Invariant: between two refreshes nothing of a batch is computed by the run, and nothing is waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import isfinite
from time import perf_counter
from typing import Any

from .budget import Budget
from .controls import StopTraining
from .cuts import Cuts
from .layers import number
from .loss_inputs import LossInputs
from .metrics import Check, Metrics
from .mistakes import Batches
from .predictions import arrived, classes_of, is_several, queue
from .transfer import Transfer

REFRESH = 0.1
GLANCE = 0.2  # seconds between two looks at the head and the curve, however dear all else is
SELDOM = 2.0  # seconds between refreshes, at most
POLL = 1 / 30
LEAST = 0.001  # seconds for pictures of a validation
FILL = 0.02  # of the time a validation took, for pictures of what it misread


def _mean(losses: list) -> float:
    """The loss of a step: of its passes, numbers or tickets."""
    return (
        losses[0]
        if losses[0].__class__ is float and len(losses) == 1
        else sum(map(number, losses)) / len(losses)
    )


class Refreshing:
    """The part of a run that reads what was heard."""

    metrics: Metrics
    budget: Budget
    transfer: Transfer
    batch: int | None
    batches: Batches
    changed: dict[str, int]
    cuts: Any
    listener: Any
    filters: Any
    marks: deque
    model: Any
    next_glance: float
    next_poll: float
    next_refresh: float
    alarms: Any
    open: Any
    pace: Any
    pending_losses: list[tuple[int, list]]
    pending_norms: list[tuple[int, list]]
    pending_rates: list[tuple[int, list]]
    pending_ratios: list[tuple[int, list]]
    poll: Any
    queued: list[tuple]
    says: list[str]
    sizes: Any
    step: int
    tasks: Any
    tell: Any
    version: int

    # ---- reading -----------------------------------------------------------------------------------------------
    def _ready(self, sights: list[LossInputs]) -> list[LossInputs]:
        """Those that have as many classes as the others."""
        out, before = [], None
        for s in sights:
            # most have the form of the one before
            if before is None or s.scores.shape != before.scores.shape or s.kind != before.kind:
                if not self.metrics.meet(classes_of(s), is_several(s)):
                    continue
                before = s
            out.append(s)
        return out

    def _read_now(self, sight: LossInputs) -> None:
        """A batch too large to keep: its predictions are queued, its scores let go."""
        self.queued += queue(self._ready(self.tasks.sort([sight], self.model)), self.transfer)
        self._queue_tasks()
        self.tasks.drop_tokens()
        sight.scores, sight.inputs = sight.scores[:0], None

    def _read_waiting(self) -> None:
        """Queue the predictions of all that waits."""
        sights, self.listener.sights, self.listener.held = self.listener.sights, [], 0
        if not sights and not any(self.tasks.kept):
            return
        if sights:
            self.batch = self.batch or len(sights[-1].target)
        self.queued += queue(self._ready(self.tasks.sort(sights, self.model)), self.transfer)
        self._queue_tasks()

    def _queue_tasks(self) -> None:
        """Queue what is no classification, where there is time to look at it."""
        if any(self.tasks.batches):
            self.tasks.keep()
        if any(self.tasks.kept) and (not self.open or self.budget.may("tasks", self.step)):
            begun = self.budget.begin()
            self.tasks.queue(self.transfer)
            self.budget.end("tasks", begun)

    def _read_check(self, check: Check, ends: bool = False) -> None:
        """Read the batches of a validation; misread samples are looked for where there is time, and at its end."""
        sights, self.listener.check_sights = self.listener.check_sights, []
        begun = self.budget.begin()
        sights = self._ready(self.tasks.sort(sights, self.model, training=False))
        self.tasks.check(check, self.transfer, self.listener.compared.mean)
        if sights:
            queued = queue(sights, self.transfer, with_loss=True)
            self.transfer.send()
            reads = arrived(queued, self.metrics.classes)
            check.add(reads, self.metrics.classes)
            check.batches.add(reads)
            if ends:
                self._fill(check.batches, "validation", max(LEAST, FILL * (perf_counter() - check.began)))
            elif self.budget.may("mistakes", self.step):
                within = self.budget.begin()
                self.metrics.mistakes.choose(reads, self.transfer, "validation")
                self.budget.end("mistakes", within)
                self._touch("mistakes")
        self.budget.end("refresh", begun)

    def _fill(self, batches: Batches, where: str, seconds: float) -> None:
        """Fill the cells of misread samples, where that delays nobody."""
        begun = self.budget.begin()
        self.metrics.mistakes.fill(batches, self.transfer, where, perf_counter() + seconds)
        self.transfer.send()
        self.metrics.mistakes.arrive()
        self.budget.end("mistakes", begun)
        self._touch("mistakes")

    def refresh(self, tell: bool = True) -> None:
        """Read what waits, with one transfer a device; tell whoever shows it. The loop does so 10 times a second.

        Args:
            tell: whether to call `tell`.
        """
        begun = self.budget.begin()
        self._read_waiting()
        self.transfer.send()
        metrics, touched = self.metrics, ["head"]
        before = metrics.mistakes.number
        metrics.mistakes.arrive()
        if self.queued:
            reads = arrived(self.queued, metrics.classes)
            self.queued = []
            metrics.count(reads)
            self.batches.add(reads)
            if self.budget.may("mistakes", self.step):
                within = self.budget.begin()
                metrics.mistakes.choose(reads, self.transfer, "training")
                self.budget.end("mistakes", within)
            touched.append("accuracy")
        if metrics.mistakes.number != before:
            touched.append("mistakes")
        touched += self._losses()
        if self.tasks.arrive() or self.tasks.news:
            self.tasks.decide()
            touched.append("task")
        touched += self._arrive()
        self._touch(*touched)
        self.marks.append((self.version, self.step))
        self.pace.mark()
        if tell:
            self._call(self.tell)
        self.budget.end("refresh", begun)
        if tell:
            now = perf_counter()
            each = min(now - begun[0], 2 * self.budget.jobs["refresh"].cost)  # the first take long
            self.next_glance = now + GLANCE
            self.next_refresh = now + min(max(REFRESH, each * 4 / self.budget.share), SELDOM)

    def glance(self) -> None:
        """Tell where the run is and what the loss was, between two refreshes: neither waits for what is dear."""
        begun = self.budget.begin()
        there = (
            all(x.__class__ is float for x in self.pending_losses[-1][1]) if self.pending_losses else False
        )
        # what is on a device comes with the next refresh; so does the mark from which a page is sent what is new
        self._touch("head", *(self._losses() if there else ()))
        self.pace.mark()
        self._call(self.tell)
        self.budget.end("glance", begun)
        self.next_glance = perf_counter() + GLANCE

    def _losses(self) -> list[str]:
        """Take in losses and rates; gives the sections that changed."""
        metrics, touched = self.metrics, []
        if self.pending_losses:
            pending, self.pending_losses = self.pending_losses, []
            means = [_mean(each) for _, each in pending]
            metrics.add_losses([step for step, _ in pending], means)
            if self.alarms.newest is not None or not isfinite(sum(means)):  # those of a device come only now
                for (step, _), mean in zip(pending, means, strict=True):
                    self.alarms.losses(step, [mean])
            touched.append("loss")
        changes, self.pending_rates = self.pending_rates, []
        if metrics.add_rates(changes, self.step):
            touched.append("loss")
        return touched

    def _arrive(self) -> list[str]:
        """What was measured of layers, units and filters and is here now."""
        metrics, touched = self.metrics, []
        if self.pending_norms:
            pending, self.pending_norms = self.pending_norms, []
            known = [[None if x is None else number(x) for x in found] for _, found in pending]
            metrics.add_norms([step for step, _ in pending], known)
            for (step, _), found in zip(pending, known, strict=True):
                if not isfinite(sum(x for x in found if x is not None)):
                    self.alarms.gradients(step, found)
            touched += ["flow", "health"]
            if (
                self.cuts is None
                and metrics.looks > 1
                and metrics.reached is not None
                and not metrics.reached.all()
            ):
                self.cuts = Cuts(self)
        if self.pending_ratios and self.sizes is not None:
            for step, found in self.pending_ratios:
                self.sizes.weights = [number(w) for _, w in found]
                metrics.ratios.append((step, self.sizes.by_layer([(number(a), number(w)) for a, w in found])))
            self.pending_ratios = []
            touched.append("health")
        if metrics.units.coming and metrics.units.arrive():
            touched.append("health")
        if self.filters is not None and self.filters.arrive():
            touched.append("filters")
        return touched

    def _touch(self, *sections: str) -> None:
        self.version += 1
        for name in sections:
            self.changed[name] = self.version

    def _call(self, what: Callable | None) -> None:
        """Call what was injected; its errors are noted, never raised into the loop."""
        if what is None:
            return
        try:
            what(self)
        except StopTraining:
            raise
        except Exception as error:
            sentence = f"Showing failed: {type(error).__name__}: {error}"
            if sentence not in self.says:
                self.says.append(sentence)

    def _poll(self, now: float) -> None:
        if self.poll is not None and now >= self.next_poll:
            try:
                self.poll()
            except Exception as error:
                self.says.append(f"Clicks are not read any more: {type(error).__name__}: {error}")
                self.poll = None
            self.next_poll = perf_counter() + POLL
