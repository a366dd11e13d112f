"""Reads what is pending into the metrics: predictions, losses, norms, validations, misread samples.

Invariant: between two reads nothing of a batch is computed, and a device is waited for once a read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter

from .alarms import Alarms
from .budget import Budget
from .changes import Changes
from .loss_inputs import LossInputs
from .metrics import Check, Metrics
from .mistakes import Batches
from .model_probe import ModelProbe
from .pending import Pending
from .predictions import arrived, classes_of, is_several, queue
from .progress import Progress
from .tasks import Tasks

LEAST = 0.001  # seconds for pictures of a validation
FILL = 0.02  # of the time a validation took, for pictures of what it misread


@dataclass(eq=False)
class Reader:
    """Brings pending measurements into the metrics of a run."""

    progress: Progress  # where the loop is
    pending: Pending  # what is to be read
    metrics: Metrics  # where it goes
    tasks: Tasks  # sorts batches by what the loop is about, and keeps values and tokens
    probe: ModelProbe  # the model
    budget: Budget  # says what there is time for
    changes: Changes  # learns which sections changed
    alarms: Alarms  # learns of losses and norms that are not finite
    newest: Batches = field(
        default_factory=Batches
    )  # of training: cells of misread samples are filled from them

    # ---- training ----------------------------------------------------------------------------------------------
    def read_now(self, batch: LossInputs) -> None:
        """A batch too large to wait: its predictions are queued, its scores let go."""
        self._queue([batch])
        self.tasks.drop_tokens()
        batch.scores, batch.inputs = batch.scores[:0], None

    def read_batches(self) -> None:
        """Queue the predictions of all batches that wait."""
        batches = self.pending.take_batches()
        if not batches and not any(self.tasks.kept):
            return
        if batches:
            self.progress.batch = self.progress.batch or len(batches[-1].target)
        self._queue(batches)

    def _queue(self, batches: list[LossInputs]) -> None:
        """Queue predictions, and of what is no classification what there is time for."""
        tasks = self.tasks
        classes = self._of_known_classes(tasks.sort(batches, self.probe.model))
        self.pending.predictions += queue(classes, self.pending.transfer)
        if any(tasks.batches):
            tasks.keep()
        if any(tasks.kept) and (not self.progress.open or self.budget.may("tasks", self.progress.step)):
            begun = self.budget.begin()
            tasks.queue(self.pending.transfer)
            self.budget.end("tasks", begun)

    def _of_known_classes(self, batches: list[LossInputs]) -> list[LossInputs]:
        """Those that have as many classes as the others."""
        out, before = [], None
        for b in batches:
            # most have the form of the one before
            if before is None or b.scores.shape != before.scores.shape or b.kind != before.kind:
                if not self.metrics.set_classes(classes_of(b), is_several(b)):
                    continue
                before = b
            out.append(b)
        return out

    def read(self) -> None:
        """Read all that waits, with one transfer a device."""
        metrics, changed = self.metrics, ["head"]
        self.read_batches()
        self.pending.transfer.send()
        before = metrics.mistakes.number
        metrics.mistakes.arrive()
        if self.pending.predictions:
            reads = arrived(self.pending.predictions, metrics.classes)
            self.pending.predictions = []
            metrics.count(reads)
            self.newest.add(reads)
            if self.budget.may("mistakes", self.progress.step):
                begun = self.budget.begin()
                metrics.mistakes.choose(reads, self.pending.transfer, "training")
                self.budget.end("mistakes", begun)
            changed.append("accuracy")
        if metrics.mistakes.number != before:
            changed.append("mistakes")
        changed += self.read_losses()
        if self.tasks.arrive() or self.tasks.news:
            self.tasks.decide()
            changed.append("task")
        changed += self._read_model()
        self.changes.touch(*changed)
        self.changes.mark(self.progress.step)

    def read_losses(self) -> list[str]:
        """Read losses and rates; gives the sections that changed."""
        changed = []
        if losses := self.pending.read_losses(self.metrics):
            changed.append("loss")
            self.alarms.follow(losses)
            # losses of a device are known only now; those of the host were looked at in their step
            if self.alarms.newest is not None or not isfinite(sum(mean for _, mean in losses)):
                for step, mean in losses:
                    self.alarms.losses(step, [mean])
        if self.pending.read_rates(self.metrics, self.progress.step):
            changed.append("loss")
        return changed

    def _read_model(self) -> list[str]:
        """Read what was measured of parameters, units and filters; gives the sections that changed."""
        pending, metrics, sizes, filters = self.pending, self.metrics, self.probe.sizes, self.probe.filters
        changed = []
        if pending.norms:
            for step, norms in pending.read_norms(metrics):
                self.alarms.gradients(step, norms)
            changed += ["flow", "health"]
            self.probe.look_for_cuts(metrics)
        if pending.ratios and sizes is not None:
            pending.read_ratios(metrics, sizes)
            changed.append("health")
        if metrics.units.coming and metrics.units.arrive():
            changed.append("health")
        if filters is not None and filters.arrive():
            changed.append("filters")
        return changed

    # ---- validation --------------------------------------------------------------------------------------------
    def read_check(self, check: Check, ends: bool = False) -> None:
        """Read the batches of a validation; misread samples are looked for where there is time, and at its end."""
        batches, check.batches = check.batches, []
        begun = self.budget.begin()
        classes = self._of_known_classes(self.tasks.sort(batches, self.probe.model, training=False))
        self.tasks.check(check, self.pending.transfer, check.hand_mean)
        if classes:
            queued = queue(classes, self.pending.transfer, with_loss=True)
            self.pending.transfer.send()
            reads = arrived(queued, self.metrics.classes)
            check.add(reads, self.metrics.classes)
            check.newest.add(reads)
            if ends:
                seconds = max(LEAST, FILL * (perf_counter() - check.began))
                self.fill(check.newest, "validation", seconds)
            elif self.budget.may("mistakes", self.progress.step):
                within = self.budget.begin()
                self.metrics.mistakes.choose(reads, self.pending.transfer, "validation")
                self.budget.end("mistakes", within)
                self.changes.touch("mistakes")
        self.budget.end("refresh", begun)

    # ---- misread samples ---------------------------------------------------------------------------------------
    def fill(self, batches: Batches, where: str, seconds: float) -> None:
        """Fill the cells of misread samples, where that delays nobody."""
        begun = self.budget.begin()
        self.metrics.mistakes.fill(batches, self.pending.transfer, where, perf_counter() + seconds)
        self.pending.transfer.send()
        self.metrics.mistakes.arrive()
        self.budget.end("mistakes", begun)
        self.changes.touch("mistakes")

    def fill_from_training(self) -> None:
        """Fill the cells from the newest batches of training, while the loop waits or is over."""
        self.fill(self.newest, "training", 0.25)
