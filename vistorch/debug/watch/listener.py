"""Event listener of a run: turns events of the engine into steps, losses, batches and validations.

A training step is read from the pass that is about to run (loss_inputs.py), so it listens to no op; while the model is
called apart from training it does, because there is no graph. Now and then it follows one forward pass for its units.
Invariant: what an event brings is copied or queued at once, and read at a refresh; an error in here ends the watching,
never the loop.
"""

from __future__ import annotations

from threading import get_ident
from time import perf_counter
from typing import Any, Protocol

from ...engine.base.events import Listener, listeners
from ...engine.base.modes import mode
from ...engine.core.graph import Leaf, version
from ...engine.core.tensor import Tensor
from ...engine.memory.placement import CPU
from ..steps.words import count
from .budget import Budget
from .compared import Compared
from .loaders import Loaders
from .loss_inputs import VALUES, LossInputs, quick, sight_of
from .metrics import Check
from .model_probe import ModelProbe
from .ops import LOSS, Ops
from .optimizers import Optimizers, parameters_of
from .pending import Pending
from .progress import Progress
from .regression import trim
from .units import Looking

TIMED = 16  # of so many steps, or batches, the hooks of one are timed: looking at the clock costs as much as they do


class LoopEvents(Protocol):
    """What a listener makes of a loop, in the order of a step; `loop.Loop` acts on it."""

    def model_found(self, model: Any) -> None:
        """The model is known now, or holds more tensors than were known."""

    def epoch_began(self, iteration: Any) -> None:
        """A loader has begun to yield batches that are trained on."""

    def loss_not_finite(self, fed: Any) -> None:
        """A backward pass begins from a loss that is not finite; `fed` is what the model was given."""

    def batch_seen(self, batch: LossInputs) -> None:
        """The loss of a batch is known, and what it was computed from."""

    def batch_unknown(self) -> None:
        """A loss was trained on that does not tell what it compares."""

    def units_measured(self, found: dict[str, tuple]) -> None:
        """A forward pass was followed for what its units do."""

    def backward_begins(self, run: Any, outputs: tuple) -> None:
        """A backward pass that accumulates gradients is about to start."""

    def before_step(self) -> None:
        """The main optimizer begins its step."""

    def after_step(self, optimizer: Any) -> int:
        """A step is whole; gives its number."""
        ...

    def at_boundary(self) -> None:
        """The loop is between two steps: it may be held, or ended."""

    def check_goes_on(self, check: Check | None) -> None:
        """Another batch of a validation begins."""

    def check_ended(self, check: Check) -> None:
        """Training goes on after a validation."""

    def failed(self, error: Exception) -> None:
        """Watching failed: it ends, the loop does not."""


class LoopListener(Listener):
    """Listens to the engine while a loop runs.

    Args:
        events: acts on what was found.
        progress: where the loop is.
        probe: the model.
        optimizers: what changes it.
        loaders: the iterations that are going on.
        pending: takes the losses of passes.
        budget: says what there is time for.
    """

    first = True  # the graph is read before anybody runs the pass

    def __init__(
        self,
        events: LoopEvents,
        progress: Progress,
        probe: ModelProbe,
        optimizers: Optimizers,
        loaders: Loaders,
        pending: Pending,
        budget: Budget,
    ) -> None:
        self.events, self.progress, self.probe, self.optimizers = events, progress, probe, optimizers
        self.loaders, self.pending, self.budget = loaders, pending, budget
        self.timed, self.lap = True, 0.0  # whether the time of this step's hooks is taken, and how much it is
        self.root: Any = probe.model  # the module whose calls count; None until it is known
        self.parts: set[int] = set()  # ids of modules that are called after it, where it is one of several
        self.called = False  # whether the root was ever called: a model may be used by its parts alone
        self.depth = 0
        self.iteration: Any = None
        self.thread = 0
        self.inputs: Any = None
        self.fed: Any = None  # the array that the model was given last
        self.last: Any = None
        self.compared = Compared()
        self.begun = False  # whether the first of several modules was called, and none of the others since
        self.apart = False  # the newest forward was no training
        self.trains_in_eval = self.paused = False
        self.wants_last = True  # until a loss shows that it keeps its scores itself
        self.ops = Ops(self)
        self.looking: Looking | None = None
        self.check: Check | None = None
        self.check_calls = 0  # of the model, in this validation
        self.at = 0  # where in the newest pass a leaf of the model stood
        self.acts: dict[str, Any] = {
            "step": self._step,
            "step_end": self._step_end,
            "loader": self._loader,
            "loader_end": self.loaders.end,
            "scheduler": self.optimizers.add_scheduler,
            "loss": self._loss_computed,
        }
        self.acts.update(forward=self._any_forward, forward_end=self._any_forward_end)

    # ---- events ------------------------------------------------------------------------------------------------
    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow the loop; most events are of inner modules and end here at once."""
        if subject is self.root:
            if name == "forward":
                if not self.called:
                    self._root_called()
                self.guarded(self._forward, *details)
            elif name == "forward_end":
                if self.paused:
                    self._resume()
                self.ops.inside = False
                if self.looking is not None and not self.parts:
                    self.guarded(self._looked)
                if self.wants_last:
                    self.guarded(self._forward_end, *details)
        elif (act := self.acts.get(name)) is not None:
            act(subject, *details)

    def _resume(self) -> None:
        self.paused = False
        if listeners.phase is None:
            listeners.phase = self.phase
        if self.check is not None:
            self.ops.again()

    def _step(self, optimizer: Any) -> None:
        if self.budget.looks and self._is_main(optimizer):
            self.guarded(self.events.before_step)

    def _step_end(self, optimizer: Any) -> None:
        if not self._is_main(optimizer):
            self.optimizers.others += 1
        elif self.guarded(self._stepped, optimizer):
            self.events.at_boundary()

    def _loader(self, loader: Any, iterator: Any = None) -> None:
        self.loaders.begin(loader, iterator)
        if self.check is not None:
            self.ops.afresh()

    def _root_called(self) -> None:
        """The root is called itself: from now on no other module is of interest."""
        self.called, self.depth = True, 0
        self.probe.candidates.clear()
        del self.acts["forward"], self.acts["forward_end"]

    def _any_forward(self, module: Any, args: tuple, kwargs: dict) -> None:
        """Before the root is known: the outermost modules that have parameters may be it, or its parts."""
        if not self.depth and self._may_be_part(module):
            self.probe.candidates[id(module)] = module
            if self.fed is None or self.apart:  # what the first of them is given is what the model is given
                self.guarded(self._forward, args, kwargs)
        self.depth += 1

    def _may_be_part(self, module: Any) -> bool:
        if self.root is None:
            return next(iter(module.parameters()), None) is not None
        own = self.probe.parameter_ids
        return any(id(p) in own for p in module.parameters())

    def _any_forward_end(self, module: Any, result: Any) -> None:
        self.depth = max(0, self.depth - 1)
        if not self.depth and id(module) in self.probe.candidates:
            self.guarded(self._forward_end, result)

    def _part_forward(self, module: Any, args: tuple, kwargs: dict) -> None:
        if id(module) in self.parts:
            self.ops.inside, self.begun = self.apart, False

    def _part_forward_end(self, module: Any, result: Any) -> None:
        if id(module) in self.parts:
            self.ops.inside = False
            if self.wants_last:
                self.guarded(self._forward_end, result)

    def backward(self, run: Any, outputs: tuple) -> None:
        """A pass is about to start: its root is the loss, its newest nodes know logits and labels."""
        if run.accumulate:
            self.guarded(self._loss, run.order, outputs[0])
            self.events.backward_begins(run, outputs)

    def guarded(self, act: Any, *given: Any) -> bool:
        """Do it; an error ends the watching. Of one step in `TIMED` the time is taken, which stands for the others."""
        try:
            if self.timed:
                budget = self.budget
                start, charged = perf_counter(), budget.charged
                act(*given)
                self.lap += perf_counter() - start - (budget.charged - charged)
            else:
                act(*given)
            return True
        except Exception as error:
            self.events.failed(error)
            return False

    # ---- forward -----------------------------------------------------------------------------------------------
    def _forward(self, args: tuple, kwargs: dict) -> None:
        if self.begun and self.apart and self.ops.current is None:
            return  # the first of several modules is called again before the others: it is the same batch
        self.begun = bool(self.parts)
        t = args[0] if args else next(iter(kwargs.values()), None)
        self.fed = t._data if isinstance(t, Tensor) else None
        if isinstance(t, Tensor) and t._data.ndim > 2:
            v = t._ver
            if v is None:
                v = version(t)
            self.inputs = t._data, t._place, v, v.n
        else:
            self.inputs = None
        self.compared.begin(t._data if isinstance(t, Tensor) else None)
        self.last = None
        if not mode.on or not (self._training() or self.trains_in_eval):
            self.apart, self.thread = True, get_ident()
            self._forward_apart()
            self.ops.inside = self.root is not None
            if self.ops.inside and self.ops.idle() and listeners.phase == self.phase:
                # where labels were compared outside the root they will be for the next batch too: inside, ops run
                # as fast as they do without a listener
                listeners.op, listeners.phase, self.paused = None, None, True
            elif self.ops.muted:
                self.ops.again()
            return
        self.apart = False
        if self.check is not None:
            self.end_check()
        if self.root is None:
            return
        if self.budget.looks and self.looking is None and self.budget.may("units", self.progress.step):
            self.looking = Looking(self.probe.layer_paths, self.pending.transfer)
            self.looking.__enter__()
        elif listeners.phase == self.phase:
            # There is no other listener, and inside the root nothing is of interest: its modules need emit nothing.
            # The end of its call is emitted all the same, because a call reads the listeners once, at its beginning.
            listeners.phase, self.paused = None, True

    def _forward_apart(self) -> None:
        if self.check is None:
            self.check = Check(self.progress.step, self.progress.epoch, self.compared.mean)
            self.ops.__enter__()
            self.check_calls = 0
        else:
            self._take_batch(self.check)
            self.budget.hook_seconds += self.budget.apart
            if self.timed:
                self.budget.checked(self.lap)
        self.check_calls += 1
        self._next_lap(self.check_calls)
        self.events.check_goes_on(self.check)

    def _training(self) -> bool:
        if self.root is None:
            return all(m.training for m in self.probe.candidates.values())
        return self.probe.model.training

    def _forward_end(self, result: Any) -> None:
        if isinstance(result, (tuple, list)):
            result = next((t for t in result if isinstance(t, Tensor)), None)
        elif isinstance(result, dict):
            result = next((t for t in result.values() if isinstance(t, Tensor)), None)
        # the array: a tensor would keep its graph
        if isinstance(result, Tensor) and (result._data.ndim or self.last is None):
            self.last = result._data
            self.compared.made(result._node)

    def _looked(self) -> None:
        """The forward pass that was listened to is over."""
        looking, self.looking = self.looking, None
        assert looking is not None
        looking.__exit__()
        if looking.found:
            self.events.units_measured(looking.found)
        self.budget.charge("units", looking.seconds)
        self.lap += looking.seconds  # which was charged in here, but spent before

    # ---- training ----------------------------------------------------------------------------------------------
    def _loss(self, order: list, out: Any) -> None:
        data = getattr(out, "_data", None)
        if data is None or data.size != 1:
            return
        at = self.at
        n: Any = order[at] if at < len(order) else None
        # where a leaf of the model stood in the newest pass, one stands in most of the next
        if n.__class__ is not Leaf or id(n.variable) not in self.probe.parameter_ids:
            if not self._reaches(order):
                return
        if self.apart and self.check is not None:  # who calls backward trains, whatever the mode
            self.trains_in_eval, self.apart = True, False
            self.ops.current = None
            self.check = None
            self.ops.__exit__()
        place = out._place
        if place is CPU:
            loss = float(data)
            self.pending.passes.append(loss)
            if loss - loss != 0.0:
                self.events.loss_not_finite(self.fed)
        else:
            self.pending.passes.append((data.copy(), place))
        self.fed = None
        self.begun = False
        if self.parts and self.looking is not None:
            self._looked()
        sight = quick(order[0]) or sight_of(order, self.last) or self.compared.of(order, self.last)
        if sight is not None:
            if sight.kind == VALUES:
                self.wants_last, self.compared.swapped = bool(self.compared.hand), sight.swapped
            else:
                self.wants_last = not sight.logs
            self._see(sight)
        else:
            self.events.batch_unknown()
        self.inputs = self.compared.given = self.compared.newest = None

    def _loss_computed(self, name: str, prediction: Any, target: Any, form: str, loss: Any) -> None:
        """A loss function compared values with ops that keep neither side."""
        if prediction.__class__ is Tensor and target.__class__ is Tensor and loss.__class__ is Tensor:
            self.guarded(self._compared_by_loss, name, prediction, target, form, loss)

    def _compared_by_loss(
        self, name: str, prediction: Tensor, target: Tensor, form: str, loss: Tensor
    ) -> None:
        sight = self.compared.by_loss(name, prediction, target, form)
        if sight is None:
            return
        if self.check is not None and self.apart:
            if self.ops.current is None:
                sight.value = loss._data
                self.ops.take(sight, LOSS)
        elif loss._node is not None:
            self.compared.await_pass(sight, loss._node)

    def _reaches(self, order: list) -> bool:
        """Whether a pass comes to the model."""
        if self.root is None:
            return True
        own = self.probe.parameter_ids
        for i, n in enumerate(order):
            if n.__class__ is Leaf and id(n.variable) in own:
                self.at = i
                return True
        return False

    def _see(self, sight: LossInputs) -> None:
        """Hand on a batch that is trained on."""
        if self.loaders.going:
            self._epoch()
        sight.step, sight.epoch = self.progress.step + 1, self.progress.epoch
        self.dress(sight)
        self.events.batch_seen(sight)

    def observe(self, sight: LossInputs) -> None:
        """Take in a batch that was given by hand: of the validation if one goes on, else of training."""
        if self.check is not None and self.apart:
            sight.step = self.progress.step
            self.dress(sight)
            self.ops.current = sight
        else:
            self._see(sight)

    def dress(self, sight: LossInputs) -> None:
        """Give a batch its inputs and indices, and copy what the loop may overwrite."""
        place = sight.place
        self.compared.dress(sight)
        if sight.kind == VALUES:
            pass  # copied below, when it was cut to what is kept
        elif place is CPU:
            sight.target = sight.target.copy()
            if not sight.logs:
                sight.scores = sight.scores.copy()
        else:
            with place:
                sight.target = sight.target.copy()
                if not sight.logs:
                    sight.scores = sight.scores.copy()
        rows = len(sight.target)
        if self.loaders.going:
            now = self.loaders.now
            sight.indices = None if now is None else now.batch(rows)
        if sight.kind == VALUES:
            trim(sight)
            return
        inputs = self.inputs
        if inputs is not None and inputs[1] is place and len(inputs[0]) == rows:
            sight.inputs, _, sight.version, sight.was = inputs

    def _epoch(self) -> None:
        now = self.loaders.now
        if now is not self.iteration and now is not None:
            self.iteration = now
            self.events.epoch_began(now)

    def _is_main(self, optimizer: Any) -> bool:
        """Whether this optimizer's steps count; the first that steps and changes the model is the one."""
        optimizers = self.optimizers
        if optimizer is optimizers.main:
            return True
        if optimizers.is_known(optimizer):
            return False
        if not self.called and optimizers.given in (None, optimizer):
            self._find_model(optimizer)
        optimizers.add(optimizer, self.probe.parameter_ids)
        return optimizer is optimizers.main

    def _find_model(self, optimizer: Any) -> None:
        found, called = self.probe.find(parameters_of(optimizer))
        if found is not None:
            self.events.model_found(found)
        if called:
            self.root, self.called = called[0], True
            self.parts = {id(m) for m in called[1:]}
            if self.parts:
                self.acts.update(forward=self._part_forward, forward_end=self._part_forward_end)
            else:
                del self.acts["forward"], self.acts["forward_end"]

    def _stepped(self, optimizer: Any) -> None:
        if self.loaders.going:
            self._epoch()
        step = self.events.after_step(optimizer)
        self.budget.hook_seconds += self.budget.each
        if self.timed:
            self.budget.stepped(self.lap)
        self._next_lap(step)

    def _next_lap(self, number: int) -> None:
        """Another step, or batch of a validation, begins: whether its hooks are timed."""
        self.timed, self.lap = number < 4 or not number % TIMED, 0.0

    # ---- apart from training -----------------------------------------------------------------------------------
    def _take_batch(self, check: Check) -> None:
        """What was read of the last batch counts now that the next one comes."""
        sight = self.ops.next()
        if sight is not None:
            check.batches.append(sight)

    def end_check(self) -> None:
        """Training goes on: a validation is over."""
        check = self.check
        if check is None:
            return
        self._take_batch(check)
        self.ops.__exit__()
        self.check = None
        self.timed, self.lap = False, 0.0
        self.events.check_ended(check)

    def why_none(self) -> str:
        """Why no step was counted, where something was seen of a training; "" else."""
        if self.optimizers.others:
            what = "the model" if self.optimizers.given is None else "the optimizer that was given"
            return (
                f"{count(self.optimizers.others, 'step')} of another optimizer: it holds nothing of {what}."
            )
        if self.pending.passes:
            return "No optimizer made a step: steps are counted where optimizer.step() is called."
        return ""

    def close(self) -> None:
        """Stop all listening."""
        self.paused = False
        if self.looking is not None:
            self.looking.__exit__()
            self.looking = None
        if self.check is not None:
            try:
                self.end_check()
            finally:
                self.check = None
        self.__exit__()
        self.inputs = self.fed = self.last = None
        self.compared.begin(None)
