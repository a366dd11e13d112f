"""What a loop does, followed: steps, losses, batches and validations, whatever library it runs on.

A follower of a source listens to that library and calls what stands here. What a batch was is read from the pass that
is about to run (`loss_inputs.LossInputs`); while the model is called apart from training, from its ops.
Invariant: what an event brings is copied or queued at once, and read at a refresh; an error in here ends the watching,
never the loop.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Protocol

from ...engine.memory.placement import CPU
from ..steps.words import count
from .budget import Budget
from .compared import Compared
from .loaders import Loaders
from .loss_inputs import VALUES, LossInputs
from .metrics import Check
from .model_probe import ModelProbe
from .optimizers import Optimizers, parameters_of
from .pending import Pending
from .progress import Progress
from .regression import trim

TIMED = 16  # of so many steps, or batches, the hooks of one are timed: looking at the clock costs as much as they do


class LoopEvents(Protocol):
    """What a listener makes of a loop, in the order of a step; `loop.Loop` acts on it."""

    def model_found(self, model: Any) -> None:
        """The model is known now, or holds more tensors than were known."""

    def epoch_began(self, iteration: Any) -> None:
        """A loader has begun to yield batches that are trained on."""

    def loss_not_finite(self, fed: Any, order: list | None = None, outputs: tuple = ()) -> None:
        """A backward pass begins from a loss that is not finite; `fed` is what the model was given.

        Args:
            fed: an array; None where it is not known.
            order: the nodes of the pass, where they can be read.
            outputs: what it starts from.
        """

    def batch_seen(self, batch: LossInputs) -> None:
        """The loss of a batch is known, and what it was computed from."""

    def batch_unknown(self) -> None:
        """A loss was trained on that does not tell what it compares."""

    def units_measured(self, found: dict[str, tuple]) -> None:
        """A forward pass was followed for what its units do."""

    def backward_begins(self, run: Any, outputs: tuple) -> bool:
        """A backward pass that accumulates gradients is about to start; whether it has been run instead."""
        return False

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


class LoopFollower:
    """Turns what a library reports into the events of a loop.

    Args:
        events: acts on what was found.
        progress: where the loop is.
        probe: the model.
        optimizers: what changes it.
        loaders: the iterations that are going on.
        pending: takes the losses of passes.
        budget: says what there is time for.
    """

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
        self.parts: dict[
            int, Any
        ] = {}  # modules, by id, that are called after it, where it is one of several
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
        self.trains_in_eval = False
        # whether the model, or what a pass went through, was compiled; None before the first pass
        self.compiled: bool | None = None
        self.wants_last = True  # until a loss shows that it keeps its scores itself
        self.ops: Any = None  # listens to ops apart from training; a follower of a source makes it
        self.looking: Any = None  # follows one forward pass for its units
        self.check: Check | None = None
        self.check_calls = 0  # of the model, in this validation

    def root_found(self) -> None:
        """The modules whose calls count are known now."""

    def _step(self, optimizer: Any) -> None:
        if self.budget.looks and self._is_main(optimizer):
            self.guarded(self.events.before_step)

    def _step_end(self, optimizer: Any) -> None:
        if not self._is_main(optimizer):
            self.optimizers.others += 1
        elif self.guarded(self._stepped, optimizer):
            self.events.at_boundary()

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

    # ---- training ----------------------------------------------------------------------------------------------
    def _training(self) -> bool:
        if self.root is None:
            return all(m.training for m in self.probe.candidates.values())
        return self.probe.model.training

    def _looked(self) -> None:
        """The forward pass that was listened to is over."""
        looking, self.looking = self.looking, None
        assert looking is not None
        looking.__exit__()
        if looking.found:
            self.events.units_measured(looking.found)
        self.budget.charge("units", looking.seconds)
        self.lap += looking.seconds  # which was charged in here, but spent before

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
        if called:
            self.root, self.called = called[0], True
            self.parts = {id(m): m for m in called[1:]}
            self.root_found()
        if found is not None:
            self.events.model_found(found)

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

    def close_check(self) -> None:
        """End what goes on apart from training."""
        if self.looking is not None:
            self.looking.__exit__()
            self.looking = None
        if self.check is not None:
            try:
                self.end_check()
            finally:
                self.check = None

    def let_go(self) -> None:
        """Keep nothing of the newest pass."""
        self.inputs = self.fed = self.last = None
        self.compared.begin(None)
