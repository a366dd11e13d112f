"""`Run`: one training, watched from the first step to the last, with the controls that act on it.

Invariant: while it is open, the model is changed by the loop and by what was asked for, at step boundaries, in the
loop's thread; watching alone changes no number and draws from no generator.
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .acting import Acting
from .alarms import Alarm, Alarms
from .budget import JOBS, SHARE, Budget
from .controls import CommandQueue, Log, StopTraining
from .failure import told
from .filters import Filters
from .layers import Sizes
from .listener import LoopListener
from .loss_inputs import observed
from .metrics import Check, Metrics
from .mistakes import Batches
from .pace import Pace
from .record import WatchRecord
from .refreshing import Refreshing
from .showing import Showing
from .snapshots import BUDGET, Snapshots
from .tasks import Tasks
from .transfer import Transfer
from .units import has_channels

LOOK = 0.01  # seconds between two steps that are looked at more closely, at least
_open: weakref.WeakSet = weakref.WeakSet()


class Run(Acting, Refreshing, Showing):
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
        >>> 0 < run.overhead < 1, run.speed is None or run.speed > 0  # the share for watching, steps a second
        (True, True)
        >>> run.record().state["loss"]["curve"]["mean"].shape  # losses by step, and before the first
        (1, 4)
        >>> run.alarm, run.epochs_total  # what is not finite; epochs in all, where that is known
        (None, None)
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
        tell: Callable[[Run], Any] | None = None,
    ) -> None:
        if isinstance(classes, str):
            raise TypeError("classes must be a list of names, one for each class, not one string")
        self.model, self.optimizer, self.title = model, optimizer, title
        self.metrics = Metrics([str(c) for c in classes] if classes is not None else None)
        self.pace = Pace(self, steps, epochs)
        self.epoch, self.epoch_steps, self.batch = 0, None, None
        self.step = 0
        self.status, self.say = "waiting", ""
        self.error: dict[str, Any] | None = None
        self.says: list[str] = []
        self.budget = Budget(share)
        for name, part, every in JOBS:
            self.budget.job(name, part, every)
        self.snapshot_every = snapshot_every
        if snapshot_every is not None:
            self.budget.jobs["snapshots"].every = snapshot_every
            self.budget.jobs["snapshots"].share = math.inf  # as asked, whatever they cost
        self.transfer, self.commands, self.log = Transfer(), CommandQueue(), Log()
        self.snapshots = Snapshots(snapshot_bytes)
        self.poll, self.tell = poll, tell
        self.alarms, self.cuts = Alarms(self), None
        self.at_backward: Callable | None = None
        self.names: Callable[[], Any] | None = None  # gives names of tensors that are in no module
        self.opened, self.left_open, self.version = False, False, 0
        self.changed: dict[str, int] = {}
        self.marks: deque[tuple[int, int]] = deque(maxlen=512)  # (version, step)
        self.pending_losses: list[tuple[int, list]] = []
        self.pending_rates: list[tuple[int, list]] = []  # only where they change
        self.newest_rate: Any = None
        self.pending_norms: list[tuple[int, list]] = []
        self.pending_ratios: list[tuple[int, list]] = []
        self.queued, self.batches = [], Batches()
        self.next_refresh = self.next_glance = self.next_poll = self.next_look = 0.0
        self.look_every = LOOK
        self.looks = True  # whether the step at hand may be looked at more closely
        self.parameter_ids: set[int] = set()
        self.layer_paths: dict[int, tuple[str, bool]] = {}
        self.sizes: Sizes | None = None
        self.filters: Filters | None = None
        self.tasks = Tasks(self.metrics.names)
        self.listener = LoopListener(self)
        if model is not None:
            self._meet(model)

    # ---- opening and closing -----------------------------------------------------------------------------------
    def __enter__(self) -> Run:
        """Start to watch."""
        if self.opened:
            raise RuntimeError("a run is opened once: make a new one with watch(...)")
        self._close_others()
        self.opened = True
        self.budget.began = perf_counter()
        self.listener.__enter__()
        _open.add(self)
        return self

    def _close_others(self) -> None:
        """End the runs of the same model that nobody closed."""
        for other in list(_open):
            if other.left_open and other is not self and self.model is not None and other.model is self.model:
                other._close("interrupted", "left open; closed by a new watch of the same model")

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

    def close(self) -> None:
        """Stop watching; harmless where it has stopped.

        Example:
            >>> from vistorch.debug.watch import watch
            >>> run = watch().start()
            >>> run.close()
            >>> run.open
            False
        """
        self._close("finished" if self.step else "waiting", "")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """Stop watching; what a stop of this run raised ends here, all else goes on."""
        if error is None:
            self._close("finished", "")
        elif isinstance(error, StopTraining):
            self._close("stopped", f"Stopped after step {self.step}; the model is kept.")
            return error.run is self
        elif isinstance(error, KeyboardInterrupt):
            self._close(
                "interrupted",
                f"Interrupted in step {self.step + 1}; shown: the last whole step, {self.step}.",
            )
        else:
            self.error = told(error, self.model, self.step)
            self._close("error", self.error["say"])
        return False

    @property
    def open(self) -> bool:
        """Whether it watches now."""
        return self in _open

    def _close(self, status: str, say: str) -> None:
        if not self.open:
            return
        _open.discard(self)
        self.left_open = False
        try:
            self.listener.close()
            if self.cuts is not None:
                self.cuts.close()
            self.refresh(tell=False)
            self.refresh(tell=False)  # what was asked of a device in the first
            self.alarms.end()
            self._fill(self.batches, "training", 0.25)
            self.batches.clear()
        except Exception as failure:
            self._trouble(failure)
        finally:
            self.transfer.send()
            self.listener.sights.clear()
        if self.metrics.epoch is not None and status == "finished":
            self.metrics.end_epoch(self.step)
        if not self.step and (why := self.listener.why_none()):
            self.says.append(why)
        self.ended = self.budget.elapsed(), self.budget.overhead()
        self.status = "finished" if status == "waiting" else status
        self.say = say or f"Finished after step {self.step}."
        alarm = self.alarms.newest
        if alarm is not None and alarm.now and self.status == "finished":
            self.status, self.say = "ended", f"Ended after step {self.step}, {alarm.word}."
        self._touch("head", "accuracy", "log")
        self.commands.paused = False
        self._call(self.tell)

    # ---- what the listener asks for ---------------------------------------------------------------------------------
    def _meet(self, model: Any) -> None:
        """Get to know the model."""
        self.model = model
        if self.opened:  # found while it trains
            self._close_others()
        if self.sizes is not None:  # more tensors than were known
            self.pending_norms, self.pending_ratios = [], []
            self.metrics.forget_sizes()
        self.sizes, self.filters = Sizes(model), Filters(model)
        self.parameter_ids = {id(p) for p in model.parameters()}
        self.layer_paths = {}
        for path, m in model.named_modules():
            own = [p for p in m._parameters.values() if p is not None]
            if own:
                self.layer_paths[id(m)] = path, has_channels(m, max(p.ndim for p in own))

    def _before_step(self, optimizer: Any) -> None:
        """Gradients are there, weights are not changed yet."""
        if optimizer is not self.listener.main or self.sizes is None:
            return
        step, budget = self.step + 1, self.budget
        if budget.may("norms", step):
            begun = budget.begin()
            norms = self.sizes.norms(self.transfer)
            self.pending_norms.append((step, norms))
            if any(x.__class__ is float and x - x != 0.0 for x in norms):
                self.alarms.gradients(step, norms)
            budget.end("norms", begun)
        if budget.may("ratios", step):
            begun = budget.begin()
            self.sizes.keep()
            budget.end("ratios", begun)
        if self.filters is not None and self.filters.choices and budget.may("filters", step):
            begun = budget.begin()
            self.filters.look(step, self.transfer)
            budget.end("filters", begun)

    def _after_step(self, optimizer: Any, losses: list) -> int:
        """A step is whole; gives its number."""
        step = self.step = self.step + 1
        if self.looks and self.sizes is not None and self.sizes.before is not None:
            begun = self.budget.begin()
            self.pending_ratios.append((step, self.sizes.ratios(self.transfer)))
            self.budget.end("ratios", begun)
        if losses:
            if losses[0].__class__ is not float:
                losses = [self.transfer.put(*x) if isinstance(x, tuple) else x for x in losses]
            else:
                total = sum(losses)
                if total - total != 0.0 or self.alarms.newest is not None:
                    self.alarms.losses(step, losses)
            self.pending_losses.append((step, losses))
        groups = optimizer.param_groups
        lr = groups[0].get("lr")
        if lr is not self.newest_rate or len(groups) > 1 or lr.__class__ is not float:
            self.newest_rate = lr
            self.pending_rates.append((step, [_rate(g.get("lr")) for g in groups]))
        if self.status == "waiting":
            self.status = "running"
        if self.snapshot_every and self.budget.may("snapshots", step):
            self.refresh(tell=False)
            self._take_snapshot(asked=False)
        if len(self.pending_losses) > 4096:
            self.refresh()
        return step

    def _next_epoch(self, iteration: Any) -> None:
        self.epoch += 1
        self.pace.began(self.epoch, self.step)
        self.epoch_steps = iteration.length
        self.metrics.found = iteration.names or self.metrics.found
        if iteration.size:
            self.batch = iteration.size

    def _end_check(self, check: Check) -> None:
        """A validation is over: read what is left of it."""
        self._read_check(check, ends=True)
        if self.metrics.end_check(check):
            self._touch("validation", "accuracy", "task")
            self.tasks.checked = check
            loss = self.metrics.checks[-1]["loss"]
            if loss is not None:
                self.alarms.check(check, loss)

    def _tick(self) -> None:
        """Between two calls of a validation: refresh and look for clicks when it is time."""
        now = perf_counter()
        if now >= self.next_refresh or len(self.listener.check_sights) > 256:
            if self.listener.check is not None:
                self._read_check(self.listener.check)
            self.refresh()
        self._poll(now)

    def _trouble(self, error: Exception) -> None:
        """Watching failed: say so, and let the loop alone."""
        self.says.append(f"Watching stopped: {type(error).__name__}: {error}")
        self.failure = error
        if self.open:
            _open.discard(self)
            self.listener.close()
            self.status, self.say = "finished", self.says[-1]
            self._touch("head")
            self._call(self.tell)

    # ---- numbers -----------------------------------------------------------------------------------------------
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
        return self.budget.overhead() if self.open or not hasattr(self, "ended") else self.ended[1]

    @property
    def loss(self) -> float | None:
        """The mean of the newest 20 losses; the newest itself if it is not finite; None before there are any."""
        recent = self.metrics.recent
        if recent and not math.isfinite(recent[-1]):
            return recent[-1]
        fine = [x for x in recent if math.isfinite(x)]
        return float(np.mean(fine)) if fine else None

    def observe(self, outputs: Any, labels: Any) -> None:
        """Tell the run of a batch that it cannot see by itself: a loss of one's own, labels of another form.

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
        sight = observed(outputs, labels)
        if self.listener.check is not None and self.listener.apart:
            sight.step = self.step
            self.listener._dress(sight)
            self.listener.ops.current = sight
        else:
            self.listener._see(sight)

    def record(self) -> WatchRecord:
        """What is known now, as a record, with 32 of the misread samples: text, picture and page are made of it."""
        return WatchRecord(self.shown(), self.text())


def _rate(lr: Any) -> float | None:
    """A learning rate as it is now: a tensor may be written later."""
    return lr if lr.__class__ is float or lr is None else float(lr)
