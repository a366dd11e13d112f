"""What a run shows: its state, what changed since, and its words.

Invariant: everything here only reads, and may be called from another thread than the loop's; a curve that is added to
meanwhile may lack its newest column, no more.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...engine.places import CPU
from .advice import HIGH, LOW, bounds_of
from .confusion import MOST, WINDOW, ClassCounts
from .controls import WORDS
from .health import layers_of
from .tasks import CLASSIFICATION
from .units import FLAG
from .units import WINDOW as UNIT_WINDOW
from .words import table_text

STORED = 32  # pictures of samples in a record
SECTIONS = (
    "loss",
    "validation",
    "accuracy",
    "mistakes",
    "flow",
    "health",
    "filters",
    "log",
    "snapshots",
    "task",
)


def memory_of(place: Any) -> list[int] | None:
    """Bytes in use and in all, of a device; of the host, those of this process."""
    if place is CPU or place.simulated:
        try:
            with open("/proc/self/statm") as file:
                used = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            return [used, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
        except (OSError, ValueError, AttributeError):
            return None
    from ... import cuda

    free, total = cuda.mem_get_info(place.index)
    return [int(total - free), int(total)]


class Showing:
    """The part of a run that tells."""

    alarms: Any
    metrics: Any
    budget: Any
    changed: dict
    cuts: Any
    listener: Any
    epoch: int
    epoch_steps: Any
    epochs_total: Any
    error: Any
    filters: Any
    left: Any
    log: Any
    loss: Any
    marks: Any
    model: Any
    open: Any
    overhead: Any
    batch: Any
    pace: Any
    parameter_ids: set
    record: Any
    say: str
    says: list
    snapshots: Any
    sizes: Any
    speed: Any
    status: str
    step: int
    steps: Any
    tasks: Any
    title: str
    version: int
    why_not: Any

    # ---- state -------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """Everything, as record.py says."""
        return {
            "version": self.version,
            "title": self.title,
            "head": self._head(),
            "classes": self._class_names(),
            "several": self.metrics.several,
            **{name: getattr(self, f"_{name}_state")(0) for name in SECTIONS},
        }

    def _class_names(self) -> list[str]:
        """Names of the classes that are shown: a vocabulary, or outputs, are none."""
        names = list(self.metrics.class_names)
        counted = self.metrics.epoch is not None or self.tasks.kind == CLASSIFICATION
        return names if counted or (not self.tasks.kind and len(names) <= MOST) else []

    def delta(self, since: int) -> dict[str, Any]:
        """What changed since a version; see record.py.

        Args:
            since: the "version" of the state or delta that the page has; 0 for everything.
        """
        if since <= 0:
            return {"since": 0, **self.state()}
        whole = since < self.changed.get("rewound", 0)
        version, out = self.version, {}
        start = 0 if whole else self._step_of(since)
        for name in SECTIONS:
            if self.changed.get(name, 0) > since:
                given = (0 if whole else since) if name in ("mistakes", "log") else start
                out[name] = getattr(self, f"_{name}_state")(given)
        out.update(version=version, since=since, head=self._head())
        if self.changed.get("accuracy", 0) > since:
            out["classes"], out["several"] = self._class_names(), self.metrics.several
        return out

    def _step_of(self, version: int) -> int:
        """The step a version was at; 0 where that is forgotten."""
        for v, step in reversed(self.marks):
            if v <= version:
                return step
        return 0

    def _head(self) -> dict[str, Any]:
        place = next((p._place for p in self.model.parameters()), CPU) if self.model is not None else CPU
        tally = self.tally()
        metrics = self.metrics
        rates = None if metrics.lr is None else metrics.lr.mean()
        return {
            "status": self.status,
            "say": self.say,
            "alarm": None if self.alarms.newest is None else self.alarms.newest.wire(),
            "autopause": self.alarms.pauses if self.alarms.ask is not None else None,
            "tries": self.pace.tries,
            "begins": [list(one) for one in list(self.pace.begins)],
            "error": self.error,
            "step": self.step,
            "steps": self.steps,
            "epoch": self.epoch,
            "epochs": self.epochs_total,
            "epoch_steps": self.epoch_steps,
            "batch": self.batch,
            "speed": self.speed,
            "left": self.left,
            "seconds": self.budget.elapsed() if self.open else getattr(self, "ended", (0.0,))[0],
            "overhead": self.overhead,
            "cost": self.budget.wire(),
            "device": place.name,
            "memory": memory_of(place),
            "parameters": sum(p.numel() for p in self.model.parameters()) if self.model is not None else 0,
            "loss": self.loss,
            "accuracy": None if tally is None else tally.accuracy,
            "lr": None if rates is None or not len(rates) else [float(x) for x in rates[-1]],
            "why": {word: self.why_not(word) for word in WORDS},
            "says": list(self.says),
        }

    def _loss_state(self, since: int) -> dict[str, Any]:
        lr = self.metrics.lr
        return {
            "curve": self.metrics.loss.wire(since),
            "lr": None if lr is None else lr.wire(since),
            "undone": self.metrics.undone,
        }

    def _validation_state(self, since: int) -> list[dict[str, Any]]:
        return list(self.metrics.checks)

    def _accuracy_state(self, since: int) -> dict[str, Any]:
        metrics = self.metrics

        def counts(tally: ClassCounts | None) -> dict[str, Any] | None:
            return None if tally is None else tally.wire()

        window = metrics.window.tally(metrics.classes).wire() if self._class_names() else None
        return {
            "window": None if window is None else {**window, "size": WINDOW, **self._newest_samples()},
            "without": sum(n for _, n in metrics.without),
            "without_from": metrics.without_from,
            "epoch": counts(metrics.epoch),
            "validation": counts(metrics.checked),
            "before": counts(metrics.checked_before),
            "epochs": list(metrics.epochs),
        }

    def _newest_samples(self) -> dict[str, int]:
        """The steps that the window's samples are of."""
        rows = self.metrics.window.rows
        return {"first": int(rows[0, 0]), "last": int(rows[-1, 0])} if len(rows) else {"first": 0, "last": 0}

    def _mistakes_state(self, since: int) -> dict[str, Any]:
        mistakes = self.metrics.mistakes
        after = next((n for v, n in reversed(mistakes.marks) if v <= since), 0) if since else 0
        mistakes.marks.append((self.version, mistakes.number))
        return {"whole": not since, "after": mistakes.number, "items": mistakes.wire(after)}

    def shown(self) -> dict[str, Any]:
        """The state with as many pictures of samples as a notebook should keep."""
        state = self.state()
        state["mistakes"]["items"] = self.metrics.mistakes.few(STORED)
        return state

    def _flow_state(self, since: int) -> dict[str, Any]:
        sizes, flow = self.sizes, self.metrics.flow
        return {
            "names": [] if sizes is None else list(sizes.names),
            "shapes": [] if sizes is None else [list(p.shape) for _, p in sizes.parameters],
            "columns": None if flow is None else flow.wire(since),
            "now": np.zeros(0) if self.metrics.norms is None else self.metrics.norms,
            "bounds": list(bounds_of([] if self.metrics.norms is None else self.metrics.norms.tolist())),
            "there": np.zeros(0, np.uint8)
            if self.metrics.norms is None
            else self.metrics.has_norm.astype(np.uint8),
        }

    def _health_state(self, since: int) -> dict[str, Any]:
        return {"band": [LOW, HIGH], "window": UNIT_WINDOW, "flag": FLAG, "layers": self.health()}

    def _filters_state(self, since: int) -> dict[str, Any] | None:
        return None if self.filters is None else self.filters.wire()

    def _task_state(self, since: int) -> dict[str, Any]:
        return self.tasks.wire()

    def _log_state(self, since: int) -> dict[str, Any]:
        # a rewind changes older lines, so the log is short enough to be sent whole
        return {"whole": True, "items": [entry.wire() for entry in self.log.entries]}

    def _snapshots_state(self, since: int) -> dict[str, Any]:
        return {
            "steps": self.snapshots.steps,
            "bytes": self.snapshots.nbytes,
            "budget": self.snapshots.budget,
        }

    # ---- numbers -----------------------------------------------------------------------------------------------
    def tally(self, of: str = "window") -> ClassCounts | None:
        """The counts by class: of the "window", the "epoch" or the "validation"; None where there are none.

        Args:
            of: which.
        """
        if of not in ("window", "epoch", "validation"):
            raise ValueError(f'of must be "window", "epoch" or "validation", not {of!r}')
        metrics = self.metrics
        if of == "window":
            return (
                metrics.window.tally(metrics.classes)
                if metrics.classes and len(metrics.window.rows)
                else None
            )
        return metrics.epoch if of == "epoch" else metrics.checked

    def accuracy(self, of: str = "window") -> dict[str, Any]:
        """Accuracy by class.

        Args:
            of: "window" (the newest 1,024 samples of training), "epoch" or "validation".

        Returns:
            "classes", "right" and "seen" by class, and "accuracy", of all, or None.
        """
        tally = self.tally(of)
        empty = np.zeros(self.metrics.classes, np.int64)
        return {
            "classes": list(self.metrics.class_names),
            "right": empty if tally is None else tally.right.copy(),
            "seen": empty if tally is None else tally.seen.copy(),
            "accuracy": None if tally is None else tally.accuracy,
        }

    def confusion(self, of: str = "window") -> np.ndarray | None:
        """The confusion matrix, rows the labels; None where there is none.

        Args:
            of: "window", "epoch" or "validation".
        """
        tally = self.tally(of)
        return None if tally is None or tally.confusion is None else tally.confusion.copy()

    def health(self) -> list[dict[str, Any]]:
        """Each layer: the size of its steps, its units, what that means and what usually helps."""
        if self.sizes is None:
            return []
        return layers_of(self)

    # ---- words -------------------------------------------------------------------------------------------------
    def text(self) -> str:
        """Status, loss, accuracy and the table of classes, the worst first; no times."""
        return table_text(self)

    def __repr__(self) -> str:
        return f"<Run: {self.status}, step {self.step}>"

    def save(self, path: Any) -> None:
        """Write what is known to a file: a zip of JSON and arrays, which `load` reads.

        Args:
            path: the file.
        """
        self.record().save(path)

    def to_dataframe(self) -> Any:
        """Steps, losses and learning rates as a pandas DataFrame; steps that were merged are one row."""
        return self.record().to_dataframe()

    def figure(self) -> Any:
        """Loss and accuracy by class as a matplotlib Figure."""
        return self.record().figure()

    def to_tensorboard(self, folder: Any) -> str:
        """Write losses, rates, accuracies and gradient norms to an event file for TensorBoard; gives its path.

        Args:
            folder: where; TensorBoard shows each folder as one run.
        """
        return self.record().to_tensorboard(folder)
