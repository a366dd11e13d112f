"""`Run`: one training, watched from the first step to the last; `watch` makes one.

A run puts its parts together, opens and closes them, and answers questions; what happens in between is theirs.
Invariant: while it is open, the model is changed by the loop and by what was asked for, at step boundaries, in the
loop's thread; watching alone changes no number and draws from no generator. No part knows the run.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NoReturn

import numpy as np

from .alarms import Alarm, Alarms
from .budget import JOBS, SHARE, Budget
from .build import delta_of, record_of, state_of
from .changes import Changes
from .commands import CommandQueue, StopTraining
from .confusion import ClassCounts
from .controls import Controls
from .failure import describe
from .findings import Findings
from .health import layers_of
from .history import History
from .listeners import Listeners
from .loaders import Loaders
from .log import Log
from .loop import Loop
from .loss_inputs import observed
from .metrics import Metrics
from .model_probe import ModelProbe
from .optimizers import Optimizers
from .pace import Pace
from .pending import Pending
from .progress import Progress, Status
from .reader import Reader
from .record import WatchRecord
from .refresher import Refresher
from .snapshots import BUDGET, Snapshots
from .tasks import Tasks
from .transfer import Transfer
from .words import table_text

_open: weakref.WeakSet = weakref.WeakSet()


class Run:
    """A training that is watched; `watch` makes one.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch import watch
        >>> net = vistorch.nn.Linear(2, 2)
        >>> optimizer = vistorch.optim.SGD(net.parameters(), lr=0.1)
        >>> with watch(net, optimizer, steps=3) as run:
        ...     for _ in range(run.steps):
        ...         optimizer.zero_grad()
        ...         loss = vistorch.nn.functional.cross_entropy(net(vistorch.eye(2)), vistorch.tensor([0, 1]))
        ...         loss.backward()
        ...         optimizer.step()
        >>> run.step, run.accuracy()["seen"].tolist()
        (3, [3, 3])
        >>> run.open, run.left, run.loss > loss.item()  # seconds that are left; the loss as a mean of the newest
        (False, 0.0, True)
        >>> run.overhead > 0, run.speed is None or run.speed > 0  # the share for watching, steps a second
        (True, True)
        >>> run.record().state["loss"]["curve"]["mean"].shape  # losses by step, and before the first
        (1, 4)
        >>> run.alarm, run.epochs_total  # what is not finite; epochs in all, where that is known
        (None, None)
        >>> run.status, run.say, run.says, run.error, run.epoch, run.model is net
        ('finished', 'Finished after step 3.', [], None, 0, True)
        >>> run.listener.root is net  # what follows the loop
        True
        >>> run.tally().samples, run.confusion().sum().item(), [layer["name"] for layer in run.health()]
        (6, 6, ['(root)'])
        >>> run.text().splitlines()[0], sorted(run.delta(run.version)), run.state()["head"]["step"]
        ('Finished after step 3 of 3', ['head', 'since', 'version'], 3)
        >>> run.why_not("pause"), run.snapshot_every  # snapshots: as often as they cost little
        ('The run is over.', None)

        Act on the loop from a callback (as a page does), or from the loop itself:

        >>> def click():
        ...     if run.status == "paused":
        ...         run.step_once() if run.step < 3 else run.resume()
        >>> run = watch(net, optimizer, snapshot_every=2)
        >>> run.poll, run.stepper, run.names = click, None, lambda: {}
        >>> run.notify = lambda run: None
        >>> with run:
        ...     for i in range(10):
        ...         net(vistorch.eye(2)).sum().backward()
        ...         if i == 1:
        ...             run.pause()
        ...         if i == 5:
        ...             _ = run.set_lr(0.01), run.snapshot(), run.rewind(3)
        ...             _ = run.refresh(), run.glance()  # show it now
        ...         if i == 8:
        ...             run.stop()
        ...         optimizer.step()
        >>> run.step, [entry.what for entry in run.log.entries if entry.what != "paused"][:3]
        (6, ['one step', 'resumed', 'learning rate 0.1 → 0.01'])

        Keep what is known of it: in a file, a table, a figure, an event file.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.save(f"{folder}/run.vtw")
        ...     path = run.to_tensorboard(folder)
        >>> run.figure() is not None, callable(run.to_dataframe)  # which takes matplotlib, and pandas
        (True, True)
    """

    def __init__(
        self,
        model: Any = None,
        optimizer: Any = None,
        classes: Sequence[str] | None = None,
        *,
        steps: int | None = None,
        epochs: int | None = None,
        title: str = "",
        share: float = SHARE,
        snapshot_every: int | None = None,
        snapshot_bytes: int = BUDGET,
        poll: Callable[[], Any] | None = None,
        notify: Callable[[Run], Any] | None = None,
        findings: bool = True,
    ) -> None:
        if isinstance(classes, str):
            raise TypeError("classes must be a list of names, one for each class, not one string")
        names = [str(c) for c in classes] if classes is not None else None
        self.optimizer, self.title = optimizer, title
        self.opened = self.left_open = False
        # where it is, what that costs, what changed
        self.progress, self.changes, self.log = Progress(), Changes(), Log()
        self.budget = _budget(share, snapshot_every)
        self.pace = Pace(self.progress, self.budget, steps, epochs)
        # what is trained
        self.probe, self.optimizers, self.loaders = ModelProbe(), Optimizers(optimizer), Loaders()
        # what is known
        self.metrics, self.tasks = Metrics(names), Tasks(names)
        self.transfer = Transfer()
        self.pending = Pending(self.transfer)
        self.snapshots = Snapshots(snapshot_bytes)
        self.alarms = Alarms(self.progress, self.probe, self.pending, self.snapshots, self.log, self.changes)
        # what reads, shows and acts
        self.reader = Reader(
            self.progress,
            self.pending,
            self.metrics,
            self.tasks,
            self.probe,
            self.budget,
            self.changes,
            self.alarms,
        )
        self.refresher = Refresher(
            self.reader, self.pending, self.progress, self.pace, self.budget, self.changes, poll
        )
        self.history = History(
            self.progress,
            self.pace,
            self.probe,
            self.optimizers,
            self.loaders,
            self.snapshots,
            self.metrics,
            self.tasks,
            self.reader,
            self.pending,
            self.alarms,
            self.log,
            self.budget,
            self.changes,
            snapshot_every,
        )
        self.commands = CommandQueue()
        self.findings = Findings(self.progress, self.budget, self.alarms, self.log, self.changes)
        self.findings.on = findings
        self.alarms.find = self.findings.origin
        self.findings.compiled = lambda: next(
            (one.compiled for one in self.listeners.each if one.compiled is not None), None
        )
        self.controls = Controls(
            self.progress,
            self.commands,
            self.log,
            self.history,
            self.probe,
            self.optimizers,
            self.alarms,
            self.reader,
            self.refresher,
            self.budget,
            self.changes,
            self.findings,
            self._stop,
        )
        self.loop = Loop(
            self.progress,
            self.pace,
            self.probe,
            self.pending,
            self.metrics,
            self.tasks,
            self.alarms,
            self.reader,
            self.refresher,
            self.history,
            self.findings,
            self.controls,
            self.budget,
            self._claim,
            self._fail,
        )
        if model is not None:
            self.loop.model_found(model)
        parts = self.loop, self.progress, self.probe, self.optimizers, self.loaders, self.pending, self.budget
        self.listeners = Listeners((model, optimizer), lambda source: source.loop_listener(*parts))
        self._notify: Callable[[Run], Any] | None = None
        self.notify = notify

    # ---- opening and closing -----------------------------------------------------------------------------------
    def __enter__(self) -> Run:
        """Start to watch."""
        if self.opened:
            raise RuntimeError("a run is opened once: make a new one with watch(...)")
        self._claim(self.probe.model)
        self.opened = True
        self.budget.began = perf_counter()
        self.listeners.start()
        self.progress.open = True
        _open.add(self)
        self.findings.open()
        return self

    def _claim(self, model: Any) -> None:
        """End the runs of the same model that were left open."""
        for other in list(_open):
            if other.left_open and other is not self and model is not None and other.model is model:
                other.close("interrupted", "left open; closed by a new watch of the same model")

    def start(self) -> Run:
        """Start without a `with` block; `close()` ends it, or a new watch of the same model does.

        Example:
            >>> import vistorch
            >>> from vistorch.debug.watch import watch
            >>> run = watch(vistorch.nn.Linear(1, 1)).start()
            >>> run.close()
            >>> run.status
            'finished'
        """
        self.__enter__()
        self.left_open = True
        return self

    def close(self, status: Status | None = None, say: str = "") -> None:
        """Stop watching; harmless where it has stopped.

        Args:
            status: how the run ended; by default it is finished, or never began.
            say: the sentence that says so.

        Example:
            >>> from vistorch.debug.watch import watch
            >>> run = watch().start()
            >>> run.close()
            >>> run.open
            False
        """
        self._close(status or ("finished" if self.step else "waiting"), say)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """Stop watching; what a stop of this run raised ends here, all else goes on."""
        if error is None:
            self._close("finished", "")
        elif isinstance(error, StopTraining):
            self._close("stopped", f"Stopped after step {self.step:,}; the model is kept.")
            return error.run is self
        elif isinstance(error, KeyboardInterrupt):
            self._close(
                "interrupted",
                f"Interrupted in step {self.step + 1:,}; shown: the last whole step, {self.step:,}.",
            )
        else:
            self.progress.error = describe(error, self.model, self.step)
            self._close("error", self.progress.error["say"])
        return False

    def _close(self, status: Status, say: str) -> None:
        progress = self.progress
        if not progress.open:
            return
        self._shut()
        try:
            self.controls.close()
            self.findings.close(last=True)
            self.listeners.close()
            self.probe.release()
            self.refresher.refresh(show=False)
            self.refresher.refresh(show=False)  # what was asked of a device in the first
            self.alarms.end()
            self.reader.fill_from_training()
            self.reader.newest.clear()
        except Exception as failure:
            self._fail(failure)
        finally:
            self.transfer.send()
            self.pending.batches.clear()
        if self.metrics.epoch is not None and status == "finished":
            self.metrics.end_epoch(self.step)
        if not self.step and (why := self.listeners.why_none()):
            progress.says.append(why)
        self.budget.close()
        progress.set(
            "finished" if status == "waiting" else status, say or f"Finished after step {self.step:,}."
        )
        alarm = self.alarm
        if alarm is not None and alarm.now and progress.status == "finished":
            progress.set("ended", f"Ended after step {self.step:,}, {alarm.word}.")
        self.changes.touch("head", "accuracy", "log", "findings")
        self.commands.paused = False
        self.refresher.show_now()

    def _shut(self) -> None:
        _open.discard(self)
        self.left_open = self.progress.open = False

    def _fail(self, error: Exception) -> None:
        """Watching failed: say so, and let the loop alone."""
        say = f"Watching stopped: {type(error).__name__}: {error}"
        self.progress.says.append(say)
        if self.open:
            self._shut()
            self.controls.close()
            self.findings.drop()
            self.listeners.close()
            self.progress.set("finished", say)
            self.changes.touch("head")
            self.refresher.show_now()

    def _stop(self) -> NoReturn:
        raise StopTraining(self)

    @property
    def listener(self) -> Any:
        """The one that follows the loop, as far as that is known."""
        return self.listeners.main

    # ---- where it is -------------------------------------------------------------------------------------------
    @property
    def open(self) -> bool:
        """Whether it watches now."""
        return self.progress.open

    @property
    def model(self) -> Any:
        """The module that is trained; None until it is known."""
        return self.probe.model

    @property
    def step(self) -> int:
        """Whole steps; after a rewind, the step it went back to."""
        return self.progress.step

    @property
    def epoch(self) -> int:
        """The epoch of the loader, from 1 on; 0 without one."""
        return self.progress.epoch

    @property
    def snapshot_every(self) -> int | None:
        """Steps between snapshots, 0 for none; None: as often as they cost little."""
        return self.history.every

    @property
    def status(self) -> Status:
        """What the loop does: "waiting", "running", "paused", or how it ended."""
        return self.progress.status

    @property
    def say(self) -> str:
        """A sentence that explains the status."""
        return self.progress.say

    @property
    def says(self) -> list[str]:
        """Remarks that stay: what could not be watched, and why."""
        return self.progress.says

    @property
    def error(self) -> dict[str, Any] | None:
        """The exception that ended the loop, in words; None without one."""
        return self.progress.error

    @property
    def version(self) -> int:
        """The version of the state: it rises whenever something of it changes."""
        return self.changes.version

    @property
    def speed(self) -> float | None:
        """Steps a second of late; None before there are any."""
        return self.pace.speed

    @property
    def steps(self) -> int | None:
        """The step at which the loop will end, where that is known."""
        return self.pace.steps

    @property
    def left(self) -> float | None:
        """Seconds that are left, where that is known."""
        return self.pace.left

    @property
    def epochs_total(self) -> int | None:
        """How many epochs there will be, where that is known."""
        return self.pace.epochs_known

    @property
    def alarm(self) -> Alarm | None:
        """What of the loss, a gradient or a weight is not finite; None where nothing is."""
        return self.alarms.newest

    @property
    def overhead(self) -> float:
        """The share of the loop's time that went into watching, as measured."""
        final = self.budget.final
        return self.budget.overhead() if self.open or final is None else final[1]

    @property
    def loss(self) -> float | None:
        """The mean of the newest 20 losses; the newest itself if it is not finite; None before there are any."""
        recent = self.metrics.recent
        if recent and not math.isfinite(recent[-1]):
            return recent[-1]
        fine = [x for x in recent if math.isfinite(x)]
        return float(np.mean(fine)) if fine else None

    # ---- what shows it and answers -----------------------------------------------------------------------------
    @property
    def notify(self) -> Callable[[Run], Any] | None:
        """Called with the run when there is something new, at most 10 times a second."""
        return self._notify

    @notify.setter
    def notify(self, notify: Callable[[Run], Any] | None) -> None:
        self._notify = notify
        self.refresher.show = None if notify is None else partial(notify, self)

    @property
    def poll(self) -> Callable[[], Any] | None:
        """Called at step boundaries, at most 30 times a second: looks for clicks."""
        return self.refresher.poll

    @poll.setter
    def poll(self, poll: Callable[[], Any] | None) -> None:
        self.refresher.poll = poll

    @property
    def stepper(self) -> Callable[[Any, tuple], Any] | None:
        """Opens a stepper on a backward pass; set it to a function of (run, pass, outputs)."""
        return self.controls.stepper

    @stepper.setter
    def stepper(self, stepper: Callable[[Run, Any, tuple], Any] | None) -> None:
        self.controls.stepper = None if stepper is None else partial(stepper, self)

    @property
    def names(self) -> Callable[[], Any] | None:
        """Gives names of tensors that are in no module: a dict by tensor."""
        return self.probe.names

    @names.setter
    def names(self, names: Callable[[], Any] | None) -> None:
        self.probe.names = names

    def refresh(self, notify: bool = True) -> None:
        """Read what waits, with one transfer a device; call `notify`. The loop does so 10 times a second.

        Args:
            notify: whether to call `notify`.
        """
        self.refresher.refresh(show=notify)

    def glance(self) -> None:
        """Call `notify` with where the run is and what the loss was; neither waits for what is dear."""
        self.refresher.glance()

    # ---- asking ------------------------------------------------------------------------------------------------
    def pause(self) -> None:
        """Hold the loop after the step it is in."""
        self.command({"do": "pause"})

    def resume(self) -> None:
        """Let a held loop go on."""
        self.command({"do": "resume"})

    def step_once(self) -> None:
        """Let a held loop make one step, and hold it again."""
        self.command({"do": "step"})

    def stop(self) -> None:
        """End the loop after the step it is in; the model is kept."""
        self.command({"do": "stop"})

    def set_lr(self, value: float, group: int | None = None) -> None:
        """Set the learning rate from the next step on.

        Args:
            value: a positive number.
            group: of this parameter group only.
        """
        self.command({"do": "lr", "value": value, "group": group})

    def snapshot(self) -> None:
        """Keep the state after the step the loop is in."""
        self.command({"do": "snapshot"})

    def rewind(self, step: int | None = None) -> None:
        """Go back to a snapshot.

        Args:
            step: its step; by default the newest.
        """
        self.command({"do": "rewind", "step": step})

    def why_not(self, word: str) -> str:
        """Why a command cannot act now; "" where it can.

        Args:
            word: one of `commands.WORDS`.
        """
        return self.controls.why_not(word)

    def command(self, message: Any) -> dict[str, Any]:
        """Ask for what a page or a program wants; the loop does it at its next step boundary.

        From any thread. A run that is over acts at once, where it still can (rewind, filters).

        Args:
            message: {"do": word, ...}.

        Returns:
            The command as it was understood.

        Example:
            >>> import vistorch
            >>> from vistorch.debug.watch import watch
            >>> watch(vistorch.nn.Linear(1, 1)).command({"do": "pause"})
            Traceback (most recent call last):
            ValueError: pause: The run has not begun.
        """
        return self.controls.command(message)

    def observe(self, outputs: Any, labels: Any) -> None:
        """Give the run a batch that it cannot see by itself: a loss of one's own, labels of another form.

        Args:
            outputs: scores, (N, classes), as a tensor or an array.
            labels: class numbers, (N,).

        Example:
            >>> import vistorch
            >>> from vistorch.debug.watch import watch
            >>> net = vistorch.nn.Linear(2, 3)
            >>> with watch(net) as run:
            ...     run.observe(vistorch.eye(3), [0, 1, 1])
            >>> run.accuracy()["seen"].tolist(), run.accuracy()["right"].tolist()
            ([1, 2, 0], [1, 1, 0])
        """
        self.listeners.observe(observed(outputs, labels))

    # ---- numbers -----------------------------------------------------------------------------------------------
    def tally(self, of: str = "window") -> ClassCounts | None:
        """The counts by class: of the "window", the "epoch" or the "validation"; None where there are none.

        Args:
            of: which.
        """
        return self.metrics.tally(of)

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
        return layers_of(self.metrics, self.probe, self.optimizers, self.step)

    # ---- records and words -------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """Everything, as record.py says."""
        return state_of(self)

    def delta(self, since: int) -> dict[str, Any]:
        """What changed since a version; see record.py.

        Args:
            since: the "version" of the state or delta that the page has; 0 for everything.
        """
        return delta_of(self, since)

    def record(self) -> WatchRecord:
        """What is known now, as a record, with 32 of the misread samples: text, picture and page are made of it."""
        return record_of(self)

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


def _budget(share: float, snapshot_every: int | None) -> Budget:
    """The budget of a run: each kind of looking with its part of the share."""
    budget = Budget(share)
    for name, part, every in JOBS:
        budget.job(name, part, every)
    if snapshot_every is not None:
        budget.jobs["snapshots"].every = snapshot_every
        budget.jobs["snapshots"].share = math.inf  # as asked, whatever they cost
    return budget


def watch(
    model: Any = None,
    optimizer: Any = None,
    classes: Sequence[str] | None = None,
    *,
    steps: int | None = None,
    epochs: int | None = None,
    title: str = "",
    share: float = SHARE,
    snapshot_every: int | None = None,
    snapshot_bytes: int = BUDGET,
    poll: Callable[[], Any] | None = None,
    notify: Callable[[Run], Any] | None = None,
    findings: bool = True,
) -> Run:
    """Watch the training in a `with` block: the loop inside stays as it is.

    Loss, logits and labels, predictions and targets, tokens, steps, epochs, inputs and validations are seen by
    themselves; see `Run.observe` for a loss of one's own.

    Args:
        model: what is trained; without it, the module that is called and holds what the first optimizer changes.
        optimizer: whose steps count; without it, the first one that steps and holds parameters of the model.
        classes: the names of the classes; of a regression those of its outputs, of a language model its tokens.
        steps: how many steps there will be, if known: for the time that is left.
        epochs: how many epochs there will be, if known.
        title: what the run is called.
        share: of the loop's time, for what is read and looked at now and then; to listen to each step costs more.
        snapshot_every: steps between snapshots, 0 for none; by default about every 100, as they cost little enough.
        snapshot_bytes: what all snapshots may hold.
        poll: called at step boundaries, at most 30 times a second: looks for clicks.
        notify: called with the run when there is something new, at most 10 times a second: shows it.
        findings: whether rules that cost little look on now and then.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch import watch
        >>> _ = vistorch.manual_seed(0)
        >>> net = vistorch.nn.Linear(2, 2)
        >>> opt = vistorch.optim.SGD(net.parameters(), lr=0.1)
        >>> x, y = vistorch.eye(2), vistorch.tensor([0, 1])
        >>> with watch(net, opt, classes=["cat", "dog"]) as run:
        ...     for _ in range(50):
        ...         opt.zero_grad()
        ...         vistorch.nn.functional.cross_entropy(net(x), y).backward()
        ...         opt.step()
        >>> print(run.text())
        Finished after step 50
        loss 0.258 (mean of 20), learning rate 0.1
        accuracy 93.0 % of the last 100
        <BLANKLINE>
        class  accuracy  right / seen  most often read as
        dog      86.0 %       43 / 50  cat (7)
        cat     100.0 %       50 / 50
    """
    return Run(
        model,
        optimizer,
        classes,
        steps=steps,
        epochs=epochs,
        title=title,
        share=share,
        snapshot_every=snapshot_every,
        snapshot_bytes=snapshot_bytes,
        poll=poll,
        notify=notify,
        findings=findings,
    )
