"""Event listener of a run: turns events of the engine into steps, losses, batches and validations.

A training step is read from the pass that is about to run (loss_inputs.py), so it listens to no op; while the model is
called apart from training it does, because there is no graph. Now and then it follows one forward pass for its units.
Invariant: what an event brings is copied or queued at once, and read at a refresh; an error in here ends the watching,
never the loop.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any

from ...engine.base.events import Listener, listeners
from ...engine.base.modes import mode
from ...engine.core.graph import Leaf, version
from ...engine.core.tensor import Tensor
from ...engine.memory.placement import CPU
from .follower import LoopFollower
from .loss_inputs import VALUES, quick, sight_of
from .ops import LOSS, Ops
from .units import Looking


class LoopListener(LoopFollower, Listener):
    """Listens to the engine while a loop runs.

    Args:
        parts: what a `LoopFollower` takes.
    """

    first = True  # the graph is read before anybody runs the pass

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.paused = False
        self.ops = Ops(self)
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

    def root_found(self) -> None:
        """The modules whose calls count are known now."""
        if self.parts:
            self.acts.update(forward=self._part_forward, forward_end=self._part_forward_end)
        else:
            del self.acts["forward"], self.acts["forward_end"]

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

    def _forward_end(self, result: Any) -> None:
        if isinstance(result, (tuple, list)):
            result = next((t for t in result if isinstance(t, Tensor)), None)
        elif isinstance(result, dict):
            result = next((t for t in result.values() if isinstance(t, Tensor)), None)
        # the array: a tensor would keep its graph
        if isinstance(result, Tensor) and (result._data.ndim or self.last is None):
            self.last = result._data
            self.compared.made(result._node)

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
                self.events.loss_not_finite(self.fed, order, (out,))
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

    def close(self) -> None:
        """Stop all listening."""
        self.paused = False
        self.close_check()
        self.__exit__()
        self.let_go()
