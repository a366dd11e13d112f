"""A loop that trains on torch, followed: `TorchLoopListener`.

A step of training is read from the pass that is about to run, from hooks before and after the step of an optimizer, and
from hooks at the root module alone: the modules inside run as without. While the model is called apart from training, a
function mode sees the loss, or what compares an argmax with labels, between the calls of the root.
Invariant: nothing of the program changes but hooks that are taken off again, and what is copied or pickled of a model
has none of them.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any
from weakref import ref

from ..debug.watch.follower import LoopFollower
from ..debug.watch.loss_inputs import CLASSES, VALUES, LossInputs
from ..debug.watch.units import Looking
from ..engine.memory.placement import CPU
from . import passes, private
from .losses import FUNCTIONS, array_of, divisor_of, newest, reaches, sight_of, sight_of_call, sight_of_labels
from .nodes import order_of
from .real import ready, torch

_CHOOSES = frozenset(("argmax", "max"))
_COMPARES = frozenset(("eq", "__eq__"))


class TorchLoopListener(LoopFollower):
    """Listens to torch while a loop runs.

    Args:
        parts: what a `LoopFollower` takes.
    """

    def __init__(self, *parts: Any) -> None:
        ready()
        super().__init__(*parts)
        self.ops = TorchOps(self)
        self.made: int | None = None  # the number of the node that made the root's output
        self.closing: Any = (
            None  # a step that runs its pass itself, by a closure: gradients are there after it
        )
        self.scaled: Any = None  # what a GradScaler has scaled last, weakly, and the loss it was
        self.labels: Any = None  # that the root was given by name, apart from training
        self._handles: list[Any] = []
        self._ends: list[Any] = []
        self._at_root: list[Any] = []

    def __enter__(self) -> TorchLoopListener:
        """Start to listen."""
        self._ends = [
            passes.listen(self._backward),
            private.on_loaders(self._loader, self.loaders.end),
            private.on_schedulers(self.optimizers.add_scheduler),
            private.on_scaling(self._scaled),
        ]
        self._handles = private.on_optimizer_step(self._before_step, self._after_step)
        if self.root is None:
            self._at_root = private.on_module_call(self._any_forward, self._any_forward_end)
        else:
            self.root_found()
        return self

    def root_found(self) -> None:
        """The modules whose calls count are known: hooks stand at them, and at no other."""
        if self._at_root and private.is_compiled_module(self.root):
            return  # other hooks would have torch.compile compile it anew
        for handle in self._at_root:
            handle.remove()
        begin, end = _RootHook(self._root_forward), _RootHook(self._root_forward_end)
        self._at_root = [
            self.root.register_forward_pre_hook(begin, with_kwargs=True),
            self.root.register_forward_hook(end, always_call=True),
            *[m.register_forward_hook(end, always_call=True) for m in self.parts.values()],
        ]

    def close(self) -> None:
        """Stop all listening."""
        self.close_check()
        self.ops.stop()
        for handle in (*self._handles, *self._at_root):
            handle.remove()
        for end in self._ends:
            end()
        self._handles, self._at_root, self._ends = [], [], []
        self.let_go()

    # ---- steps -------------------------------------------------------------------------------------------------
    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if (args and callable(args[0])) or kwargs.get("closure") is not None:
            self.closing = optimizer
        else:
            self._step(optimizer)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self.closing is optimizer:
            self.closing = None
            self._step(optimizer)
        self._step_end(optimizer)

    def _loader(self, loader: Any, iterator: Any) -> None:
        self.loaders.begin(loader, iterator)
        if self.check is not None:
            self.ops.afresh()

    # ---- forward -----------------------------------------------------------------------------------------------
    def _any_forward(self, module: Any, args: tuple) -> None:
        """Before the root is known: the outermost module that has parameters may be it."""
        if private.compiling():
            return
        if self.depth or self.root is not None:
            if module is self.root:
                self.guarded(self._forward, args, {})
        elif next(iter(module.parameters()), None) is not None:
            self.probe.candidates[id(module)] = module
            self.guarded(self._forward, args, {})
        self.depth += 1

    def _any_forward_end(self, module: Any, args: tuple, result: Any) -> None:
        if private.compiling():
            return
        self.depth = max(0, self.depth - 1)
        if module is self.root or (
            not self.depth and self.root is None and id(module) in self.probe.candidates
        ):
            self.guarded(self._forward_end, result)
            self.ops.outside()

    def _root_forward(self, module: Any, args: tuple, kwargs: dict) -> None:
        self.guarded(self._forward, args, kwargs)

    def _root_forward_end(self, module: Any, args: tuple, result: Any) -> None:
        if self.looking is not None:
            self.guarded(self._looked)
        if self.wants_last or self.apart:
            self.guarded(self._forward_end, result)
        if self.labels is not None:
            self.guarded(self._labelled, result)
        self.ops.outside()

    def _forward(self, args: tuple, kwargs: dict) -> None:
        self.ops.inside()
        t = _first((*args, *kwargs.values()), 0)
        d = None if t is None else array_of(t)
        self.fed = d
        self.inputs = None
        if d is not None and d.ndim > 2:
            self.inputs = d, CPU, private.Written(t), private.version_of(t)
        self.compared.begin(d)
        self.last = self.made = None
        if not torch.is_grad_enabled() or not (self._training() or self.trains_in_eval):
            self.apart, self.thread = True, get_ident()
            self._forward_apart()
            self.labels = kwargs.get("labels")
            return
        self.apart = False
        if self.check is not None:
            self.end_check()
        if (
            self.root is None
            or not self.budget.looks
            or self.looking is not None
            or self.compiled is not False
        ):
            return
        if self.budget.may("units", self.progress.step):
            self.looking = TorchLooking(self.probe.layer_paths, self.pending.transfer, self.probe.source)
            self.looking.__enter__()

    def _forward_end(self, result: Any) -> None:
        t = _first((result,), 1)
        if t is not None:
            self.last = array_of(t)
            self.made = None if t.grad_fn is None else private.sequence(t.grad_fn)

    def _labelled(self, result: Any) -> None:
        """The root was given its labels, and computed the loss itself."""
        labels, self.labels = self.labels, None
        if self.apart and self.check is not None and (sight := sight_of_labels(result, labels)) is not None:
            self.ops.take(sight)

    # ---- training ----------------------------------------------------------------------------------------------
    def _scaled(self, loss: Any, out: Any) -> None:
        self.scaled = ref(out), loss.detach()

    def _backward(self, tensors: Any, gradient: Any, options: dict) -> bool:
        out = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors), None)
        if out is not None:
            self.guarded(self._loss, out)
            if options.get("inputs") is None:
                return self.events.backward_begins(passes.Going(tensors, gradient, options), (out,))
        return False

    def _loss(self, out: Any) -> None:
        if out.numel() != 1 or out.grad_fn is None:
            return
        if self.root is not None and not reaches(out.grad_fn, self.probe.parameter_ids):
            return
        if self.apart and self.check is not None:  # who calls backward trains, whatever the mode
            self.trains_in_eval, self.apart = True, False
            self.ops.current = None
            self.check = None
            self.ops.stop()
        if self.compiled is None:
            modules = () if self.root is None else self.root.modules()
            self.compiled = any(map(private.is_compiled_module, modules)) or any(
                map(private.is_compiled, newest(out.grad_fn))
            )
        value, root = out.detach(), out.grad_fn
        scaled, self.scaled = self.scaled, None
        if scaled is not None and scaled[0]() is out:
            value, root = scaled[1], root.next_functions[0][0]
        loss = float(value)
        self.pending.divided.append(divisor_of(root))
        self.pending.passes.append(loss)
        if loss - loss != 0.0:
            self.events.loss_not_finite(self.fed, order_of([out.grad_fn]), (out,))
        self.fed = None
        sight = sight_of(root, self.last, self.made)
        if sight is None:
            self.events.batch_unknown()
        else:
            if sight.kind == VALUES:
                by_hand = sight.name.endswith("difference")
                self.wants_last, self.compared.swapped = by_hand, sight.swapped
                if by_hand:
                    self.compared.hand, self.compared.mean = sight.name, root.name() == "MeanBackward0"
            else:
                self.wants_last = not sight.logs
            self._see(sight)
        self.inputs = self.compared.given = None


def _first(given: Any, least: int) -> Any:
    """The first tensor of so many dimensions at least, in what a module was given or has returned."""
    for one in given:
        if isinstance(one, torch.Tensor):
            if one.dim() >= least:
                return one
        elif isinstance(one, dict):
            if (found := _first(one.values(), least)) is not None:
                return found
        elif isinstance(one, (list, tuple)) and (found := _first(one[:8], least)) is not None:
            return found
    return None


class _RootHook:
    """A hook of the root that a copy of the module and its pickle do not have.

    Args:
        act: what it calls.
    """

    def __init__(self, act: Any) -> None:
        self.act = act

    @private.uncompiled
    def __call__(self, *given: Any) -> None:
        if not private.compiling():
            self.act(*given)

    def __reduce__(self) -> tuple:
        return _Nothing, ()


class _Nothing:
    """What stands in a copy in place of a hook."""

    def __call__(self, *given: Any) -> None:
        return None


class TorchOps:
    """Listens, apart from training, between the calls of the root: to a loss, or an argmax compared with labels.

    Args:
        listener: the listener of the loop.
    """

    def __init__(self, listener: TorchLoopListener) -> None:
        self.listener = listener
        self.current: LossInputs | None = None
        self.chosen: Any = None  # (scores, indices) of the newest argmax
        self.mode: Any = None
        self.on = self.active = False

    def __enter__(self) -> TorchOps:
        """A validation begins."""
        self.current, self.chosen, self.on = None, None, True
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """A validation is over."""
        self.on = False
        self.inside()
        self.chosen = None

    def next(self) -> LossInputs | None:
        """Another batch begins: give what is known of the last."""
        sight, self.current, self.chosen = self.current, None, None
        return sight

    def afresh(self) -> None:
        """Other data comes."""

    def inside(self) -> None:
        """The root is called: what is inside of it is not looked at."""
        if self.active:
            private.take_out(self.mode)
            self.active = False

    def outside(self) -> None:
        """The root has returned."""
        if self.on and not self.active:
            if self.mode is None:
                self.mode = _Calls(self.call)
            private.put_below(self.mode)
            self.active = True

    def call(self, name: str, args: tuple, kwargs: dict, out: Any) -> None:
        """A function was called that may show labels."""
        if get_ident() != self.listener.thread:
            return
        if name in FUNCTIONS:
            self.listener.guarded(self._loss, name, args, kwargs, out)
        elif name in _CHOOSES:
            self.listener.guarded(self._argmax, args, out)
        else:
            self.listener.guarded(self._compared, args)

    def _loss(self, name: str, args: tuple, kwargs: dict, out: Any) -> None:
        sight = sight_of_call(name, args, kwargs, self.listener.compared.swapped)
        if sight is not None:
            if isinstance(out, torch.Tensor) and out.numel() == 1:
                sight.value = array_of(out).copy()
            self.take(sight)

    def _argmax(self, args: tuple, out: Any) -> None:
        scores = args[0] if args else None
        index = out if isinstance(out, torch.Tensor) else out[-1]
        if scores is None or not isinstance(scores, torch.Tensor) or scores.dim() != 2:
            return
        if scores.shape[0] == index.numel():
            self.chosen = scores, index

    def _compared(self, args: tuple) -> None:
        if self.current is not None or self.chosen is None or len(args) < 2:
            return
        scores, index = self.chosen
        for one, other in (args[:2], args[1::-1]):
            if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
                continue
            if private.memory_of(one) == private.memory_of(index) and other.numel() == index.numel():
                target = array_of(other.reshape(-1))
                if target is not None and target.dtype.kind in "iu":
                    self.take(LossInputs(CLASSES, array_of(scores), target, CPU))
                return

    def take(self, sight: LossInputs) -> None:
        """What a batch of a validation compared is known.

        Args:
            sight: it.
        """
        progress = self.listener.progress
        sight.step, sight.epoch = progress.step, progress.epoch
        if sight.logs:  # what the loop computed for itself, it may overwrite
            sight.scores = sight.scores.copy()
        self.listener.dress(sight)
        self.current = sight


_WANTED = frozenset((*FUNCTIONS, *_CHOOSES, *_COMPARES))


class _Calls(torch.overrides.TorchFunctionMode):
    """Sees each call of a function of torch.

    Args:
        seen: called with the name, the arguments and the result of those that are wanted.
    """

    def __init__(self, seen: Any, wanted: Any = _WANTED) -> None:
        super().__init__()
        self.seen, self.wanted = seen, wanted

    @private.uncompiled
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if private.compiling():
            return out
        name = getattr(func, "__name__", "")
        if self.wanted is None or name in self.wanted:
            self.seen(name, args, kwargs, out)
        return out


class _Named:
    """The name of an op, as a rule has it."""

    def __init__(self, name: str) -> None:
        self.name = name


class TorchLooking(Looking):
    """Follows one forward pass for what its units do."""

    def __enter__(self) -> TorchLooking:
        """Start to follow."""
        self.mode = _Calls(self._called, None)
        private.put_below(self.mode)
        self.handles = private.on_module_call(lambda module, args: None, self._returned)
        return self

    def __exit__(self, *exc: object) -> None:
        private.take_out(self.mode)
        for handle in self.handles:
            handle.remove()
        self.origin.clear()

    def _returned(self, module: Any, args: Any, out: Any) -> None:
        if private.compiling():
            return
        self.phase("forward_end", module, out)

    def _called(self, name: str, args: tuple, kwargs: dict, out: Any) -> None:
        ins = tuple(t for t in args if isinstance(t, torch.Tensor))
        outs = tuple(
            t for t in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(t, torch.Tensor)
        )
        if ins and outs:
            self.op(_Named(name), ins, (), outs)
