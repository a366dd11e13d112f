"""What a run does at each event of the training loop: measure, keep for the next refresh, act at the step boundary.

Invariant: everything here runs in the loop's thread; what is not cheap waits for the refresh.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .alarms import Alarms
from .budget import Budget
from .controls import Controls
from .findings import Findings
from .history import History
from .loss_inputs import LossInputs
from .metrics import Check, Metrics
from .model_probe import ModelProbe
from .pace import Pace
from .pending import Pending
from .progress import Progress
from .reader import Reader
from .refresher import Refresher
from .tasks import Tasks

LARGE = 4 << 20  # bytes of scores that are read at once instead of kept for the refresh
WAITING = 4096  # steps whose losses may wait
CHECKED = 256  # batches of a validation that may wait


@dataclass(eq=False)
class Loop:
    """The events of a loop, acted on; a `listener.LoopEvents`."""

    progress: Progress  # where the loop is
    pace: Pace  # how fast it goes
    probe: ModelProbe  # the model
    pending: Pending  # what is measured goes there
    metrics: Metrics  # what is known of the run
    tasks: Tasks  # what the loop is about
    alarms: Alarms  # learns of what is not finite
    reader: Reader  # reads validations, and batches too large to wait
    refresher: Refresher  # reads the rest when it is time
    history: History  # takes snapshots
    findings: Findings  # looks on now and then
    controls: Controls  # acts on commands at the step boundary
    budget: Budget  # says what there is time for
    claim: Callable[[Any], None]  # called with the model when it is found while the loop runs
    fail: Callable[[Exception], None]  # called with an error of the watching itself

    # ---- the model and its data --------------------------------------------------------------------------------
    def model_found(self, model: Any) -> None:
        """The model is known now, or holds more tensors than were known."""
        if self.progress.open:
            self.claim(model)
        if self.probe.sizes is not None:
            self.pending.forget_sizes()
            self.metrics.forget_sizes()
        self.probe.meet(model)

    def epoch_began(self, iteration: Any) -> None:
        """A loader has begun to yield batches that are trained on."""
        progress = self.progress
        progress.epoch += 1
        self.pace.began(progress.epoch, progress.step)
        progress.epoch_steps = iteration.length
        self.metrics.found = iteration.names or self.metrics.found
        if iteration.size:
            progress.batch = iteration.size

    def failed(self, error: Exception) -> None:
        """Watching failed: it ends, the loop does not."""
        self.fail(error)

    # ---- a step ------------------------------------------------------------------------------------------------
    def batch_seen(self, batch: LossInputs) -> None:
        """The loss of a batch is known, and what it was computed from."""
        if batch.scores.nbytes > LARGE:
            self.reader.read_now(batch)
        elif self.pending.add_batch(batch):
            self.reader.read_batches()

    def batch_unknown(self) -> None:
        """A loss was trained on that does not tell what it compares."""
        self.tasks.blind += 1

    def loss_not_finite(self, fed: Any, order: list | None = None, outputs: tuple = ()) -> None:
        """A backward pass begins from a loss that is not finite; `fed` is what the model was given."""
        self.alarms.in_pass(fed, order, outputs)

    def units_measured(self, found: dict[str, tuple]) -> None:
        """A forward pass was followed for what its units do."""
        self.metrics.units.expect(found)

    def backward_begins(self, run: Any, outputs: tuple) -> bool:
        """A backward pass that accumulates gradients is about to start; whether it has been run instead."""
        if self.controls.at_backward is not None:
            hook, self.controls.at_backward = self.controls.at_backward, None
            return bool(hook(run, outputs))
        return False

    def before_step(self) -> None:
        """Gradients are there, weights are not changed yet."""
        sizes, filters, budget = self.probe.sizes, self.probe.filters, self.budget
        if sizes is None:
            return
        step = self.progress.step + 1
        if budget.may("norms", step):
            begun = budget.begin()
            norms = sizes.norms(self.pending.transfer)
            self.pending.norms.append((step, norms))
            if any(x.__class__ is float and x - x != 0.0 for x in norms):
                self.alarms.gradients(step, norms)
            budget.end("norms", begun)
        if budget.may("ratios", step):
            begun = budget.begin()
            sizes.keep()
            budget.end("ratios", begun)
        if filters is not None and filters.choices and budget.may("filters", step):
            begun = budget.begin()
            filters.look(step, self.pending.transfer)
            budget.end("filters", begun)

    def after_step(self, optimizer: Any) -> int:
        """A step is whole; gives its number."""
        progress, pending, sizes, budget = self.progress, self.pending, self.probe.sizes, self.budget
        losses = pending.take_passes()
        step = progress.step = progress.step + 1
        if budget.looks and sizes is not None and sizes.before is not None:
            begun = budget.begin()
            pending.ratios.append((step, sizes.ratios(self.pending.transfer)))
            budget.end("ratios", begun)
        if losses:
            if losses[0].__class__ is not float:
                losses = [self.pending.transfer.put(*x) if isinstance(x, tuple) else x for x in losses]
            else:
                total = sum(losses)
                if total - total != 0.0 or self.alarms.newest is not None:
                    self.alarms.losses(step, losses)
            pending.losses.append((step, losses))
        pending.add_rates(step, optimizer.param_groups)
        if progress.status == "waiting":
            progress.status = "running"
        if self.history.every and budget.may("snapshots", step):
            self.refresher.refresh(show=False)
            self.history.take(asked=False)
        if len(pending.losses) > WAITING:
            self.refresher.refresh()
        return step

    def at_boundary(self) -> None:
        """The end of a step: refresh, look for clicks, do what was asked for, and hold the loop while it is paused."""
        now = perf_counter()
        refresher, cuts = self.refresher, self.probe.cuts
        if cuts is not None and cuts.left >= 0:
            cuts.stepped()
        if now >= refresher.next_refresh:
            refresher.refresh()
            if self.history.every is None and self.budget.may("snapshots", self.progress.step):
                self.history.take(asked=False)
        elif now >= refresher.next_glance and refresher.show is not None:
            refresher.glance()
        self.budget.look(now)
        self.findings.stepped(self.progress.step)
        if refresher.poll is not None:
            refresher.look_for_clicks(now)
        self.controls.at_boundary()

    # ---- a validation ------------------------------------------------------------------------------------------
    def check_goes_on(self, check: Check | None) -> None:
        """Another batch of a validation begins: refresh and look for clicks when it is time."""
        self.findings.interrupt()
        now = perf_counter()
        if now >= self.refresher.next_refresh or (check is not None and len(check.batches) > CHECKED):
            if check is not None:
                self.reader.read_check(check)
            self.refresher.refresh()
        self.refresher.look_for_clicks(now)

    def check_ended(self, check: Check) -> None:
        """A validation is over: read what is left of it."""
        self.reader.read_check(check, ends=True)
        if self.metrics.end_check(check):
            self.reader.changes.touch("validation", "accuracy", "task")
            self.tasks.checked = check
            loss = self.metrics.checks[-1]["loss"]
            if loss is not None:
                self.alarms.check(check, loss)
