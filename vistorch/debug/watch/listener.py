"""What a run hears of the loop, and what it makes of it: steps, losses, batches, validations.

A training step is read from the pass that is about to run (reading.py), so no op is heard; while the model is called
apart from training, ops are, because there is no graph. Now and then one forward pass is listened to for its units.
Invariant: what is heard is queued or copied at once, and read at a refresh; an error in here ends the watching, never
the loop.
"""

from __future__ import annotations

from threading import get_ident
from time import perf_counter
from typing import Any

from ...engine.events import Listener, hear
from ...engine.graph import Leaf, version
from ...engine.modes import mode
from ...engine.places import CPU
from ...engine.tensor import Tensor
from ..steps.words import count
from .compared import Compared
from .loaders import Loaders
from .loss_inputs import VALUES, LossInputs, quick, sight_of
from .metrics import Check
from .ops import Ops
from .plain import Plain
from .regression import trim
from .units import Looking

LARGE = 4 << 20  # bytes of scores that are read at once instead of kept for the refresh
HELD = 32 << 20  # bytes of batches that wait for it
TIMED = 16  # of so many steps, or batches, the hooks of one are timed: looking at the clock costs as much as they do


class LoopListener(Listener):
    """Listens for a run."""

    first = True  # the graph is read before anybody runs the pass

    def __init__(self, run: Any) -> None:
        self.run, self.budget = run, run.budget
        self.timed, self.lap = True, 0.0  # whether the time of this step's hooks is taken, and how much it is
        self.root: Any = run.model
        self.depth = 0
        self.candidates: dict[int, Any] = {}
        self.loaders = Loaders()
        self.iteration: Any = None
        self.thread = 0
        self.inputs: Any = None
        self.fed: Any = None  # the array that the model was given last
        self.last: Any = None
        self.compared = Compared()
        self.apart = False  # the newest forward was no training
        self.trains_in_eval = self.deaf = False
        self.wants_last = True  # until a loss shows that it keeps its scores itself
        self.ops = Ops(self)
        self.looking: Looking | None = None
        self.losses: list = []
        self.sights: list[LossInputs] = []
        self.held = 0
        self.check: Check | None = None
        self.batches = 0  # of it
        self.check_sights: list[LossInputs] = []
        self.at = 0  # where in the newest pass a leaf of the model stood
        self.main: Any = None
        self.ours: dict[int, tuple[Any, bool]] = {}
        self.others = 0  # steps of optimizers that are not the one that counts
        self.acts: dict[str, Any] = {
            "step": self._step,
            "step_end": self._step_end,
            "loader": self._loader,
            "loader_end": self.loaders.end,
            "scheduler": self._scheduler,
            "loss": self._told_loss,
        }
        if self.root is None:
            self.acts.update(forward=self._any_forward, forward_end=self._any_forward_end)
        self.schedulers: list = []

    # ---- events ------------------------------------------------------------------------------------------------
    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow the loop; most events are of inner modules and end here at once."""
        if subject is self.root:
            if name == "forward":
                self._guarded(self._forward, *details)
            elif name == "forward_end":
                if self.deaf:
                    self._hear_again()
                self.ops.inside = False
                if self.looking is not None:
                    self._guarded(self._looked)
                if self.wants_last:
                    self._guarded(self._forward_end, *details)
        elif (act := self.acts.get(name)) is not None:
            act(subject, *details)

    def _hear_again(self) -> None:
        self.deaf = False
        if hear.phase is None:
            hear.phase = self.phase
        if self.check is not None:
            self.ops.again()

    def _step(self, optimizer: Any) -> None:
        if self.run.looks and (optimizer is self.main or self._is_ours(optimizer)):
            self._guarded(self.run._before_step, optimizer)

    def _step_end(self, optimizer: Any) -> None:
        if optimizer is not self.main and not (self._is_ours(optimizer) and optimizer is self.main):
            self.others += 1
            return
        if self._guarded(self._stepped, optimizer):
            self.run._boundary()

    def _loader(self, loader: Any, iterator: Any = None) -> None:
        self.loaders.begin(loader, iterator)
        if self.check is not None:
            self.ops.afresh()

    def _scheduler(self, scheduler: Any) -> None:
        if all(s is not scheduler for s in self.schedulers):
            self.schedulers = [*self.schedulers[-7:], scheduler]

    def _any_forward(self, module: Any, args: tuple, kwargs: dict) -> None:
        """Before the root is known: the outermost module that has parameters may be it."""
        if not self.depth and next(iter(module.parameters()), None) is not None:
            self.candidates[id(module)] = module
            self._guarded(self._forward, args, kwargs)
        self.depth += 1

    def _any_forward_end(self, module: Any, result: Any) -> None:
        self.depth = max(0, self.depth - 1)
        if not self.depth and id(module) in self.candidates:
            self._guarded(self._forward_end, result)

    def backward(self, run: Any, outputs: tuple) -> None:
        """A pass is about to start: its root is the loss, its newest nodes know logits and labels."""
        if run.accumulate:
            self._guarded(self._loss, run.order, outputs[0])
            if self.run.at_backward is not None:
                hook, self.run.at_backward = self.run.at_backward, None
                hook(self.run, run, outputs)

    def _guarded(self, act: Any, *given: Any) -> bool:
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
            self.run._trouble(error)
            return False

    # ---- forward -----------------------------------------------------------------------------------------------
    def _forward(self, args: tuple, kwargs: dict) -> None:
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
            if self.ops.inside and self.ops.idle() and hear.phase == self.phase:
                # who has labels outside the root has them there for the next batch too: inside, ops run as fast as
                # they do when nobody listens
                hear.op, hear.phase, self.deaf = None, None, True
            elif self.ops.muted:
                self.ops.again()
            return
        self.apart = False
        if self.check is not None:
            self.end_check()
        if self.root is None:
            return
        if self.run.looks and self.looking is None and self.budget.may("units", self.run.step):
            self.looking = Looking(self.run.layer_paths, self.run.transfer)
            self.looking.__enter__()
        elif hear.phase == self.phase:
            # Nobody else listens, and inside the root nothing is of interest: its modules need not tell. That it has
            # ended is told all the same, because a call asks once, at its beginning, whom to tell.
            hear.phase, self.deaf = None, True

    def _forward_apart(self) -> None:
        if self.check is None:
            self.check = Check(self.run.step, self.run.epoch)
            self.ops.__enter__()
            self.batches = 0
        else:
            self._take_check()
            self.budget.heard += self.budget.apart
            if self.timed:
                self.budget.checked(self.lap)
        self.batches += 1
        self._next_lap(self.batches)
        self.run._tick()

    def _training(self) -> bool:
        root = self.root
        return root.training if root is not None else all(m.training for m in self.candidates.values())

    def _forward_end(self, result: Any) -> None:
        if isinstance(result, (tuple, list)):
            result = next((t for t in result if isinstance(t, Tensor)), None)
        elif isinstance(result, dict):
            result = next((t for t in result.values() if isinstance(t, Tensor)), None)
        # the array: a tensor would keep its graph
        if isinstance(result, Tensor):
            self.last = result._data
            self.compared.made(result._node)

    def _looked(self) -> None:
        """The forward pass that was listened to is over."""
        looking, self.looking = self.looking, None
        assert looking is not None
        looking.__exit__()
        if looking.found:
            self.run.metrics.units.expect(looking.found)
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
        if n.__class__ is not Leaf or id(n.variable) not in self.run.parameter_ids:
            if not self._reaches(order):
                return
        if self.apart and self.check is not None:  # who calls backward trains, whatever the mode
            self.trains_in_eval, self.apart = True, False
            self.ops.current = None
            self.check_sights.clear()
            self.check = None
            self.ops.__exit__()
        place = out._place
        if place is CPU:
            loss = float(data)
            self.losses.append(loss)
            if loss - loss != 0.0:
                self.run.alarms.in_pass(self.fed)
        else:
            self.losses.append((data.copy(), place))
        self.fed = None
        sight = quick(order[0]) or sight_of(order, self.last) or self.compared.of(order, self.last)
        if sight is not None:
            if sight.kind == VALUES:
                self.wants_last, self.compared.swapped = bool(self.compared.hand), sight.swapped
            else:
                self.wants_last = not sight.logs
            self._see(sight)
        else:
            self.run.tasks.blind += 1
        self.inputs = self.compared.given = self.compared.newest = None

    def _told_loss(self, name: str, prediction: Any, target: Any, form: str, loss: Any) -> None:
        """A loss function compared values with ops that keep neither side."""
        if prediction.__class__ is Tensor and target.__class__ is Tensor and loss.__class__ is Tensor:
            self._guarded(self.compared.told, self, name, prediction, target, form, loss)

    def _reaches(self, order: list) -> bool:
        """Whether a pass comes to the model."""
        if self.root is None:
            return True
        own = self.run.parameter_ids
        for i, n in enumerate(order):
            if n.__class__ is Leaf and id(n.variable) in own:
                self.at = i
                return True
        return False

    def _see(self, sight: LossInputs) -> None:
        """Keep a batch for the next refresh."""
        run = self.run
        if self.loaders.going:
            self._epoch()
        sight.step, sight.epoch = run.step + 1, run.epoch
        self._dress(sight)
        size = sight.scores.nbytes
        if size > LARGE:
            run._read_now(sight)
            return
        self.sights.append(sight)
        held = self.held = self.held + (size if sight.inputs is None else size + sight.inputs.nbytes)
        if held > HELD:
            for old in self.sights[:-1]:
                old.inputs = None
            self.held = sum(s.nbytes for s in self.sights)
            if self.held > HELD:
                run._read_waiting()

    def _dress(self, sight: LossInputs) -> None:
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
            self.run._next_epoch(now)

    def _is_ours(self, optimizer: Any) -> bool:
        """Whether an optimizer changes the model; the first that steps says where a step ends."""
        known = self.ours.get(id(optimizer))
        if known is None or known[0] is not optimizer:
            held = {id(p) for g in optimizer.param_groups for p in g["params"]}
            if self.root is None and self.run.optimizer in (None, optimizer):
                self._find_root(held, [p for g in optimizer.param_groups for p in g["params"]])
            given = self.run.optimizer
            ours = optimizer is given or (given is None and bool(held & self.run.parameter_ids))
            known = self.ours[id(optimizer)] = (optimizer, ours)
            if ours and self.main is None:
                self.main = optimizer
        return known[1]

    def _find_root(self, held: set, tensors: list) -> None:
        """The module that was called and holds most of what is optimized; without one, the tensors themselves."""
        found, most = None, 0
        for m in self.candidates.values():
            own = sum(id(p) in held for p in m.parameters())
            if own > most:
                found, most = m, own
        if found is not None:
            self.root = found
            self.candidates.clear()
            del self.acts["forward"], self.acts["forward_end"]
            self.run._meet(found)
        elif self.run.model is None or isinstance(self.run.model, Plain):
            before = [] if self.run.model is None else list(self.run.model.parameters())
            names = self.run.names() if self.run.names is not None else None
            self.run._meet(Plain([*before, *tensors], names))

    def _stepped(self, optimizer: Any) -> None:
        if self.loaders.going:
            self._epoch()
        losses, self.losses = self.losses, []
        step = self.run._after_step(optimizer, losses)
        self.budget.heard += self.budget.each
        if self.timed:
            self.budget.stepped(self.lap)
        self._next_lap(step)

    def _next_lap(self, number: int) -> None:
        """Another step, or batch of a validation, begins: whether its hooks are timed."""
        self.timed, self.lap = number < 4 or not number % TIMED, 0.0

    # ---- apart from training -----------------------------------------------------------------------------------
    def _take_check(self) -> None:
        """What was read of the last batch counts now that the next one comes."""
        sight = self.ops.next()
        if sight is not None:
            self.check_sights.append(sight)

    def end_check(self) -> None:
        """Training goes on: a validation is over."""
        if self.check is None:
            return
        self._take_check()
        self.ops.__exit__()
        check, self.check = self.check, None
        self.timed, self.lap = False, 0.0
        self.run._end_check(check)

    def why_none(self) -> str:
        """Why no step was counted, where something was seen of a training; "" else."""
        if self.others:
            what = "the model" if self.run.optimizer is None else "the optimizer that was given"
            return f"{count(self.others, 'step')} of another optimizer: it holds nothing of {what}."
        if self.losses:
            return "No optimizer made a step: steps are counted where optimizer.step() is called."
        return ""

    def close(self) -> None:
        """Stop all listening."""
        self.deaf = False
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
        self.candidates.clear()
