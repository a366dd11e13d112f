"""From a run to its record: its state, section by section, and what of it changed since a version.

Invariant: everything here only reads, and may be called from another thread than the loop's; a curve that is added to
meanwhile may lack its newest column, no more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ...engine.memory.placement import CPU
from .advice import HIGH, LOW, bounds_of
from .alarms import Alarms
from .budget import Budget
from .changes import Changes
from .commands import WORDS
from .confusion import MOST, WINDOW, ClassCounts
from .controls import Controls
from .findings import Findings
from .log import Log
from .metrics import Metrics
from .model_probe import ModelProbe
from .pace import Pace
from .progress import Progress
from .record import WatchRecord
from .snapshots import Snapshots
from .tasks import CLASSIFICATION, Tasks
from .units import FLAG
from .units import WINDOW as UNIT_WINDOW

STORED = 32  # pictures of samples in a record


class Source(Protocol):
    """What a record is made from: `Run` has it."""

    title: str
    progress: Progress
    pace: Pace
    budget: Budget
    probe: ModelProbe
    metrics: Metrics
    tasks: Tasks
    alarms: Alarms
    controls: Controls
    log: Log
    findings: Findings
    snapshots: Snapshots
    changes: Changes

    @property
    def loss(self) -> float | None:
        """The mean of the newest losses."""
        ...

    @property
    def overhead(self) -> float:
        """The share of the loop's time that went into watching."""
        ...

    def tally(self, of: str = "window") -> ClassCounts | None:
        """The counts by class."""
        ...

    def health(self) -> list[dict[str, Any]]:
        """Each layer."""
        ...

    def text(self) -> str:
        """Status, loss and the table of classes."""
        ...


def record_of(run: Source) -> WatchRecord:
    """What is known of a run now, with 32 of the misread samples.

    Args:
        run: the run.
    """
    state = state_of(run)
    state["mistakes"]["items"] = run.metrics.mistakes.few(STORED)
    return WatchRecord(state, run.text())


def state_of(run: Source) -> dict[str, Any]:
    """Everything, as record.py says.

    Args:
        run: the run.
    """
    return {
        "version": run.changes.version,
        "title": run.title,
        "head": _head(run),
        "classes": _class_names(run),
        "several": run.metrics.several,
        **{name: section(run, 0) for name, section in SECTIONS.items()},
    }


def delta_of(run: Source, since: int) -> dict[str, Any]:
    """What changed since a version; see record.py.

    Args:
        run: the run.
        since: the "version" of the state or delta that the page has; 0 for everything.
    """
    if since <= 0:
        return {"since": 0, **state_of(run)}
    changes, out = run.changes, {}
    version, whole = changes.version, changes.after("rewound", since)
    start = 0 if whole else changes.step_of(since)
    for name, section in SECTIONS.items():
        if changes.after(name, since):
            out[name] = section(run, (0 if whole else since) if name in BY_VERSION else start)
    out.update(version=version, since=since, head=_head(run))
    if changes.after("accuracy", since):
        out["classes"], out["several"] = _class_names(run), run.metrics.several
    return out


def _class_names(run: Source) -> list[str]:
    """Names of the classes that are shown: a vocabulary, or outputs, are none."""
    metrics, kind = run.metrics, run.tasks.kind
    names = list(metrics.class_names)
    counted = metrics.epoch is not None or kind == CLASSIFICATION
    return names if counted or (not kind and len(names) <= MOST) else []


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


def _named(place: Any) -> str:
    """A device, and how busy it is where its sensors are read."""
    if place is CPU or place.simulated or not place.kind:
        return place.name
    from ...cuda import sensors

    seen = sensors.glance(place.index)
    return place.name if seen is None else f"{place.name}, {seen[0]} % busy"


def _head(run: Source) -> dict[str, Any]:
    progress, pace, model, alarms = run.progress, run.pace, run.probe.model, run.alarms
    parameters = [] if model is None else list(model.parameters())
    place = run.probe.source.placed(parameters[0])[1] if parameters else CPU
    tally, lr, final = run.tally(), run.metrics.lr, run.budget.final
    rates = None if lr is None else lr.mean()
    return {
        "status": progress.status,
        "say": progress.say,
        "alarm": None if alarms.newest is None else alarms.newest.wire(),
        "autopause": alarms.pauses if alarms.ask is not None else None,
        "tries": pace.tries,
        "begins": [list(one) for one in list(pace.begins)],
        "library": run.probe.source.chip,
        "error": progress.error,
        "step": progress.step,
        "steps": pace.steps,
        "epoch": progress.epoch,
        "epochs": pace.epochs_known,
        "epoch_steps": progress.epoch_steps,
        "batch": progress.batch,
        "speed": pace.speed,
        "left": pace.left,
        "seconds": run.budget.elapsed() if progress.open else final[0] if final else 0.0,
        "overhead": run.overhead,
        "cost": run.budget.wire(),
        "device": _named(place),
        "memory": memory_of(place),
        "parameters": sum(p.numel() for p in parameters),
        "loss": run.loss,
        "accuracy": None if tally is None else tally.accuracy,
        "lr": None if rates is None or not len(rates) else [float(x) for x in rates[-1]],
        "why": {word: run.controls.why_not(word) for word in WORDS},
        "says": list(progress.says),
    }


def _loss(run: Source, since: int) -> dict[str, Any]:
    metrics = run.metrics
    return {
        "curve": metrics.loss.wire(since),
        "lr": None if metrics.lr is None else metrics.lr.wire(since),
        "undone": metrics.undone,
    }


def _validation(run: Source, since: int) -> list[dict[str, Any]]:
    return list(run.metrics.checks)


def _accuracy(run: Source, since: int) -> dict[str, Any]:
    metrics, window = run.metrics, None
    if _class_names(run):
        rows = metrics.window.rows
        first, last = (int(rows[0, 0]), int(rows[-1, 0])) if len(rows) else (0, 0)
        counts = metrics.window.tally(metrics.classes).wire()
        window = {**counts, "size": WINDOW, "first": first, "last": last}  # the steps of the window's samples
    return {
        "window": window,
        "without": sum(n for _, n in metrics.without),
        "without_from": metrics.without_from,
        "epoch": _counts(metrics.epoch),
        "validation": _counts(metrics.checked),
        "before": _counts(metrics.checked_before),
        "epochs": list(metrics.epochs),
    }


def _counts(tally: ClassCounts | None) -> dict[str, Any] | None:
    return None if tally is None else tally.wire()


def _mistakes(run: Source, since: int) -> dict[str, Any]:
    mistakes = run.metrics.mistakes
    after = next((n for v, n in reversed(mistakes.marks) if v <= since), 0) if since else 0
    mistakes.marks.append((run.changes.version, mistakes.number))
    return {"whole": not since, "after": mistakes.number, "items": mistakes.wire(after)}


def _flow(run: Source, since: int) -> dict[str, Any]:
    sizes, metrics = run.probe.sizes, run.metrics
    norms, there = metrics.norms, metrics.has_norm
    return {
        "names": [] if sizes is None else list(sizes.names),
        "shapes": [] if sizes is None else [list(p.shape) for _, p in sizes.parameters],
        "columns": None if metrics.flow is None else metrics.flow.wire(since),
        "now": np.zeros(0) if norms is None else norms,
        "bounds": list(bounds_of([] if norms is None else norms.tolist())),
        "there": np.zeros(0, np.uint8) if norms is None or there is None else there.astype(np.uint8),
    }


def _health(run: Source, since: int) -> dict[str, Any]:
    return {"band": [LOW, HIGH], "window": UNIT_WINDOW, "flag": FLAG, "layers": run.health()}


def _filters(run: Source, since: int) -> dict[str, Any] | None:
    return None if run.probe.filters is None else run.probe.filters.wire()


def _task(run: Source, since: int) -> dict[str, Any]:
    return run.tasks.wire()


def _findings(run: Source, since: int) -> dict[str, Any]:
    return run.findings.wire()


def _log(run: Source, since: int) -> dict[str, Any]:
    # a rewind changes older lines, so the log is short enough to be sent whole
    return {"whole": True, "items": [entry.wire() for entry in run.log.entries]}


def _snapshots(run: Source, since: int) -> dict[str, Any]:
    return {"steps": run.snapshots.steps, "bytes": run.snapshots.nbytes, "budget": run.snapshots.budget}


# each a function of a run and of the step (of a version, for those in BY_VERSION) from which it is to be sent
SECTIONS: dict[str, Callable[[Source, int], Any]] = {
    "loss": _loss,
    "validation": _validation,
    "accuracy": _accuracy,
    "mistakes": _mistakes,
    "flow": _flow,
    "health": _health,
    "filters": _filters,
    "log": _log,
    "snapshots": _snapshots,
    "task": _task,
    "findings": _findings,
}
BY_VERSION = "mistakes", "log"
