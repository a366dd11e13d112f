"""The way back: snapshots that are taken at step boundaries, and the rewind to one of them.

Invariant: a rewind brings back weights, optimizers, generators, curves and counts of one step, or nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from .alarms import Alarms
from .budget import Budget
from .changes import Changes
from .loaders import Loaders
from .log import Log
from .metrics import Metrics
from .model_probe import ModelProbe
from .optimizers import Optimizers
from .pace import Pace
from .pending import Pending
from .progress import Progress
from .reader import Reader
from .snapshots import Snapshot, Snapshots
from .tasks import Tasks
from .words import rate_text


@dataclass(eq=False)
class History:
    """Takes snapshots of a run and puts them back."""

    progress: Progress  # where the loop is
    pace: Pace  # how fast it goes
    probe: ModelProbe  # the model
    optimizers: Optimizers  # what changes it
    loaders: Loaders  # their generators are put back too
    snapshots: Snapshots  # those that are kept
    metrics: Metrics  # what is known of the run
    tasks: Tasks  # values and tokens
    reader: Reader  # holds the newest batches
    pending: Pending  # what was not read yet
    alarms: Alarms  # what is not finite
    log: Log  # what was done
    budget: Budget  # says whether there is time for a snapshot
    changes: Changes  # learns what changed
    every: int | None = None  # steps between snapshots; 0 for none, None for as often as they cost little

    def take(self, asked: bool) -> bool:
        """Keep the state as it is now; everything pending has been read. False where it was not kept.

        Args:
            asked: whether it was asked for: then it is kept whatever the weights are.
        """
        begun = self.budget.begin()
        alarm = self.alarms.newest
        if not asked and (self.snapshots.refused or (alarm is not None and alarm.now)):
            return False
        taken = Snapshot(
            self.progress.step,
            self.probe.model,
            self.optimizers.of_model(),
            list(self.optimizers.schedulers),
            self.loaders.generators(),
            self.metrics.copy(),
            asked,
        )
        kept = self.snapshots.add(taken)
        self.changes.touch("snapshots")
        self.budget.end("snapshots", begun)
        return kept

    def rewind(self, step: int | None) -> int:
        """Go back to a snapshot; gives its step.

        Args:
            step: its step; None: the newest.
        """
        kept = self.snapshots.of(step)
        progress, before, rate = self.progress, self.progress.step, self.optimizers.rate
        kept.restore()
        self.reader.newest.forget_after(kept.step)
        self.metrics.rewind(kept.step, kept.metrics, progress.epoch)
        self.pace.rewound(before, kept.step)
        self.alarms.rewound(kept.step)
        self.tasks.forget_after(kept.step)
        self.snapshots.forget_after(kept.step)
        self.log.undo_after(kept.step)
        progress.step, self.pending.newest_rate = kept.step, None
        effect = "weights, optimizer and generators restored"
        if rate is not None and self.optimizers.rate != rate:
            effect += f"; learning rate back to {rate_text(self.optimizers.rate or 0)}"
        what = f"rewound from step {before:,} to snapshot {kept.step:,}"
        self.log.write(before, what, effect, before, kept.step)
        self.budget.rewound(kept.step)
        self.changes.touch(
            "loss", "validation", "accuracy", "flow", "mistakes", "log", "snapshots", "rewound", "task"
        )
        return kept.step
