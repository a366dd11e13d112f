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

from ...engine.places import CPU
from .acting import Acting
from .book import Book, Check
from .budget import SHARE, Budget
from .controls import Desk, Log, StopTraining
from .ear import Ear
from .failure import told
from .filters import Filters
from .freight import Freight, Ticket
from .layers import Sizes, number
from .predictions import arrived, classes_of, is_several, queue
from .reading import Sight
from .record import WatchRecord
from .showing import Showing
from .snapshots import BUDGET, Shelf

REFRESH = 0.1
POLL = 1 / 30
JOBS = (
    ("hear", 1.0, 1),
    ("refresh", 1.0, 1),
    ("mistakes", 0.15, 1),
    ("norms", 0.2, 1),
    ("ratios", 0.12, 5),
    ("units", 0.15, 10),
    ("filters", 0.05, 20),
    ("snapshots", 0.15, 100),
)
_open: weakref.WeakSet = weakref.WeakSet()


class Run(Acting, Showing):
    """A training that is watched; `watch` makes one."""

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
        self.book = Book([str(c) for c in classes] if classes is not None else None)
        self.total, self.epochs_total = steps, epochs
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
        self.freight, self.desk, self.log = Freight(), Desk(), Log()
        self.shelf = Shelf(snapshot_bytes)
        self.poll, self.tell = poll, tell
        self.at_backward: Callable | None = None
        self.opened = self.left_open = False
        self.version = 0
        self.changed: dict[str, int] = {}
        self.marks: deque[tuple[int, int]] = deque(maxlen=512)  # (version, step)
        self.pace: deque[tuple[float, int]] = deque(maxlen=32)
        self.pending_losses: list[tuple[int, list]] = []
        self.pending_rates: list[tuple[int, tuple]] = []
        self.pending_norms: list[tuple[int, list]] = []
        self.pending_ratios: list[list] = []
        self.queued: list[tuple] = []
        self.next_refresh = self.next_poll = 0.0
        self.parameter_ids: set[int] = set()
        self.layer_paths: dict[int, tuple[str, int]] = {}
        self.sizes: Sizes | None = None
        self.filters: Filters | None = None
        self.ear = Ear(self)
        if model is not None:
            self._meet(model)

    # ---- opening and closing -----------------------------------------------------------------------------------
    def __enter__(self) -> Run:
        """Start to watch."""
        if self.opened:
            raise RuntimeError("a run is opened once: make a new one with watch(...)")
        for other in list(_open):
            if other.left_open and self.model is not None and other.model is self.model:
                other._close("interrupted", "left open; closed by a new watch of the same model")
        self.opened = True
        self.budget.began = perf_counter()
        self.ear.__enter__()
        _open.add(self)
        return self

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
        """Stop watching; harmless where it has stopped."""
        self._close("finished" if self.step else "waiting", "")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """Stop watching; what a stop of this run raised ends here, all else goes on."""
        if error is None:
            self._close("finished", "")
        elif isinstance(error, StopTraining):
            self._close("stopped", f"Stopped after step {self.step}; the model is kept.")
            return error.run is self
        elif isinstance(error, KeyboardInterrupt):
            self._close("interrupted", f"Interrupted in step {self.step + 1}; shown: the last whole step, {self.step}.")
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
            self.ear.close()
            self.refresh()
            self.refresh(tell=False)  # what was asked of a device in the first
        except Exception as failure:
            self._trouble(failure)
        finally:
            self.freight.send()
            self.ear.sights.clear()
            self.sizes_before = None
        if self.book.epoch is not None and status == "finished":
            self.book.end_epoch(self.step)
        self.ended = self.budget.elapsed(), self.budget.overhead()
        self.status = "finished" if status == "waiting" else status
        self.say = say or f"Finished after step {self.step}."
        self._touch("head", "accuracy", "log")
        self.desk.paused = False
        self._call(self.tell)

    # ---- what the ear asks for ---------------------------------------------------------------------------------
    def _meet(self, model: Any) -> None:
        """Get to know the model."""
        self.model = model
        self.sizes, self.filters = Sizes(model), Filters(model)
        self.parameter_ids = {id(p) for p in model.parameters()}
        self.layer_paths = {}
        for path, m in model.named_modules():
            own = [p for p in m._parameters.values() if p is not None]
            if own:
                self.layer_paths[id(m)] = path, max(p.ndim for p in own)

    def _before_step(self, optimizer: Any) -> None:
        """Gradients are there, weights are not changed yet."""
        if optimizer is not self.ear.main or self.sizes is None:
            return
        step, budget = self.step + 1, self.budget
        if budget.may("norms", step):
            begun = budget.begin()
            self.pending_norms.append((step, self.sizes.norms(self.freight)))
            budget.end("norms", begun)
        if budget.may("ratios", step):
            begin = perf_counter()
            self.sizes.keep()
            self.keeping = perf_counter() - begin
        if self.filters is not None and self.filters.choices and budget.may("filters", step):
            begun = budget.begin()
            self.filters.look(step, self.freight)
            budget.end("filters", begun)

    def _after_step(self, optimizer: Any, losses: list) -> None:
        """A step is whole."""
        self.step += 1
        if self.status == "waiting":
            self.status = "running"
        if self.sizes is not None and self.sizes.before is not None:
            begin = perf_counter()
            self.pending_ratios.append(self.sizes.ratios(self.freight))
            self.budget.charge("ratios", self.keeping + perf_counter() - begin)
        if losses:
            if losses[0].__class__ is not float:
                losses = [self.freight.put(*x) if isinstance(x, tuple) else x for x in losses]
            self.pending_losses.append((self.step, losses))
        self.pending_rates.append((self.step, tuple(float(g["lr"]) for g in optimizer.param_groups if "lr" in g)))
        if self.snapshot_every != 0 and self.budget.may("snapshots", self.step):
            self._take_snapshot(asked=False)
        if len(self.pending_losses) > 4096:
            self.refresh()

    def _next_epoch(self, iteration: Any) -> None:
        self.epoch += 1
        self.epoch_steps = iteration.length
        if iteration.size:
            self.batch = iteration.size

    def _end_check(self, check: Check) -> None:
        """A validation is over: read what is left of it."""
        self._read_check(check)
        if self.book.end_check(check):
            self._touch("validation", "accuracy")

    def _tick(self) -> None:
        """Between two calls of a validation: refresh and look for clicks when it is time."""
        now = perf_counter()
        if now >= self.next_refresh or len(self.ear.check_sights) > 256:
            if self.ear.check is not None:
                self._read_check(self.ear.check)
            self.refresh()
        self._poll(now)

    def _trouble(self, error: Exception) -> None:
        """Watching failed: say so, and let the loop alone."""
        self.says.append(f"Watching stopped: {type(error).__name__}: {error}")
        self.failure = error
        if self.open:
            _open.discard(self)
            self.ear.close()
            self.status, self.say = "finished", self.says[-1]
            self._touch("head")

    # ---- reading -----------------------------------------------------------------------------------------------
    def _ready(self, sights: list[Sight]) -> list[Sight]:
        return [s for s in sights if self.book.meet(classes_of(s), is_several(s))]

    def _read_now(self, sight: Sight) -> None:
        """A batch too large to keep: its predictions are queued, its scores let go."""
        self.queued += queue(self._ready([sight]), self.freight)
        sight.scores, sight.inputs = sight.scores[:0], None

    def _read_waiting(self) -> None:
        """Queue the predictions of all that waits."""
        sights, self.ear.sights, self.ear.held = self.ear.sights, [], 0
        if sights:
            self.batch = self.batch or len(sights[-1].target)
        for s in sights:
            if not s.untouched():
                s.inputs = None
        self.queued += queue(self._ready(sights), self.freight)

    def _read_check(self, check: Check) -> None:
        sights, self.ear.check_sights = self.ear.check_sights, []
        sights = self._ready(sights)
        if not sights:
            return
        queued = queue(sights, self.freight, with_loss=True)
        self.freight.send()
        reads = arrived(queued, self.book.classes)
        check.add(reads, self.book.classes)
        self.book.mistakes.choose(reads, self.freight, "validation")
        self._touch("mistakes")

    def refresh(self, tell: bool = True) -> None:
        """Read what waits, with one transfer a device; tell whoever shows it. The loop does so 10 times a second.

        Args:
            tell: whether to call `tell`.
        """
        begun = self.budget.begin()
        self._read_waiting()
        self.freight.send()
        book, touched = self.book, ["head"]
        before = book.mistakes.number
        book.mistakes.arrive()
        if self.queued:
            reads = arrived(self.queued, book.classes)
            self.queued = []
            book.count(reads)
            if self.budget.may("mistakes", self.step):
                begun = self.budget.begin()
                book.mistakes.choose(reads, self.freight, "training")
                self.budget.end("mistakes", begun)
            touched.append("accuracy")
        if book.mistakes.number != before:
            touched.append("mistakes")
        if self.pending_losses:
            steps, found = zip(*self.pending_losses, strict=True)
            self.pending_losses = []
            book.add_losses(list(steps), [sum(map(number, each)) / len(each) for each in found])
            touched.append("loss")
        if self.pending_rates:
            steps, rates = zip(*self.pending_rates, strict=True)
            self.pending_rates = []
            if rates[0]:
                book.add_rates(list(steps), list(rates))
                touched.append("loss")
        touched += self._arrive()
        self._touch(*touched)
        self.marks.append((self.version, self.step))
        self.pace.append((perf_counter() - self.budget.held, self.step))
        if tell:
            self._call(self.tell)
        self.budget.end("refresh", begun)
        now = perf_counter()
        self.next_refresh = now + max(REFRESH, (now - begun[0]) * 2 / self.budget.share)

    def _arrive(self) -> list[str]:
        """What was measured of layers, units and filters and is here now."""
        book, touched = self.book, []
        if self.pending_norms:
            for step, found in self.pending_norms:
                book.add_norms(step, [number(x) for x in found])
            self.pending_norms = []
            touched += ["flow", "health"]
        if self.pending_ratios and self.sizes is not None:
            for found in self.pending_ratios:
                book.ratios.append(self.sizes.by_layer([(number(a), number(w)) for a, w in found]))
            self.pending_ratios = []
            touched.append("health")
        if book.units.coming and book.units.arrive():
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

    # ---- numbers -----------------------------------------------------------------------------------------------
    @property
    def speed(self) -> float | None:
        """Steps a second of late; None before there are any."""
        if len(self.pace) < 2:
            return None
        (start, first), (end, last) = self.pace[0], self.pace[-1]
        return (last - first) / (end - start) if end > start and last > first else None

    @property
    def steps(self) -> int | None:
        """How many steps there will be, where that is known."""
        if self.total is not None:
            return self.total
        if self.epochs_total is not None and self.epoch_steps:
            return self.epochs_total * self.epoch_steps
        return None

    @property
    def left(self) -> float | None:
        """Seconds that are left, where that is known."""
        if not self.open:
            return 0.0
        total, speed = self.steps, self.speed
        return None if total is None or not speed else max(0.0, (total - self.step) / speed)

    @property
    def overhead(self) -> float:
        """The share of the loop's time that went into watching, as measured."""
        return self.budget.overhead() if self.open or not hasattr(self, "ended") else self.ended[1]

    @property
    def loss(self) -> float | None:
        """The mean of the newest 20 losses; None before there are any."""
        fine = [x for x in self.book.recent if math.isfinite(x)]
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
        from ...engine.tensor import Tensor

        scores, place = (outputs._data, outputs._place) if isinstance(outputs, Tensor) else (np.asarray(outputs), CPU)
        if isinstance(labels, Tensor):
            target = labels._data
            if labels._place is not place:
                raise ValueError(f"outputs are on {place.name}, labels on {labels._place.name}")
        else:
            with place:
                target = place.xp.asarray(labels)
        if scores.ndim != 2 or target.shape != scores.shape[:1] or target.dtype.kind not in "iu":
            raise ValueError(
                "observe takes scores (N, classes) and N class numbers, got shapes "
                f"{tuple(scores.shape)} and {tuple(target.shape)} of {target.dtype}"
            )
        sight = Sight("classes", scores.copy(), target, place)
        if self.ear.check is not None and self.ear.apart:
            sight.step = self.step
            self.ear._dress(sight)
            self.ear.ops.current = sight
        else:
            self.ear._see(sight)

    def record(self) -> WatchRecord:
        """What is known now, as a record, with 32 of the misread samples: text, picture and page are made of it."""
        return WatchRecord(self.shown(), self.text())


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
    tell: Callable[[Run], Any] | None = None,
) -> Run:
    """Watch a training: `with watch(model, optimizer, classes=names) as run:` around the loop, which stays as it is.

    Loss, logits and labels, steps, epochs, inputs and validations are seen by themselves; see `Run.observe` for a loss
    of one's own.

    Args:
        model: what is trained; without it, the module that is called and holds what the first optimizer changes.
        optimizer: whose steps count; without it, the first one that steps and holds parameters of the model.
        classes: the names of the classes.
        steps: how many steps there will be, if known: for the time that is left.
        epochs: how many epochs there will be, if known.
        title: what the run is called.
        share: at most this share of the loop's time goes into watching.
        snapshot_every: steps between snapshots, 0 for none; by default about every 100, as they cost little enough.
        snapshot_bytes: what all snapshots may hold.
        poll: called at step boundaries, at most 30 times a second: looks for clicks.
        tell: called with the run when there is something new, at most 10 times a second: shows it.

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
        loss 0.243 (mean of 20), learning rate 0.1
        accuracy 100.0 % of the last 100
        <BLANKLINE>
        class  accuracy  right / seen
        cat     100.0 %       50 / 50
        dog     100.0 %       50 / 50
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
        tell=tell,
    )


__all__ = ["Run", "Ticket", "watch"]
