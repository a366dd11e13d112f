"""What a person can ask of the graph: its nodes and edges, hooks on several tensors, and hooks on what is saved."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, ref

from ..engine.base.events import listeners
from ..engine.base.modes import mode
from ..engine.core import graph
from ..engine.core.graph import Base as Node
from ..engine.core.graph import Out, edge, out_of, version
from ..engine.core.handles import RemovableHandle
from ..engine.core.hooks import saved_tensors_hooks
from ..engine.core.tensor import Tensor
from .mutation import allow_mutation_on_saved_tensors


class GradientEdge(NamedTuple):
    """A place gradients flow to: output `output_nr` of `node`; takes a tensor's place in `grad` and `backward`.

    Args:
        node: the node, `AccumulateGrad` for a leaf.
        output_nr: which of its outputs.
        ownership_token: keeps alive what the edge needs.

    Example:
        >>> import vistorch
        >>> from vistorch.autograd.graph import GradientEdge
        >>> first, second = vistorch.tensor([1.0, 2.0], requires_grad=True).unbind()
        >>> edge = GradientEdge(second.grad_fn, 1)
        >>> vistorch.autograd.grad(first + 3 * second, edge)
        (tensor(3.),)
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which the gradient of `tensor` arrives.

    Args:
        tensor: one that requires grad.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> here = vistorch.autograd.graph.get_gradient_edge(x)
        >>> vistorch.autograd.grad(x * x, here)
        (tensor(6.),)
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    e = edge(tensor)
    return GradientEdge(*e.endpoint(), ownership_token=e if e.__class__ is Out else None)


def edge_of(e: GradientEdge, data: Any = None) -> Any:
    """The executor's edge for a GradientEdge; `data` has the shape of that output, where it must be made."""
    token = e.ownership_token
    if token is not None and token.__class__ is Out:
        return token
    count = getattr(e.node, "outs", 1)
    if count == 1 or e.node.__class__ is graph.Leaf:
        return e.node
    live = getattr(e.node, "live", {}).get(e.output_nr)
    found = None if live is None else live()
    if found is None and data is not None:
        found = out_of(e.node, e.output_nr, data._data, data._place)
    return found


class save_on_cpu(saved_tensors_hooks):
    """Inside this context, what ops save is kept on the CPU and comes back to its device when backward needs it.

    Args:
        pin_memory: accepted; memory is not page-locked here.
        device_type: accepted, for the same reason.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with vistorch.autograd.graph.save_on_cpu():
        ...     y = x.exp()
        >>> y.sum().backward()
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        del pin_memory, device_type

        def pack(t: Tensor) -> tuple:
            return t.device, t.detach().to("cpu")

        def unpack(packed: tuple) -> Tensor:
            device, t = packed
            return t.to(device)

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks:
    """Inside this context, saved_tensors_hooks are refused with this sentence.

    Args:
        error_message: the sentence.

    Example:
        >>> import vistorch
        >>> with vistorch.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with vistorch.autograd.graph.saved_tensors_hooks(abs, abs):
        ...         pass
        Traceback (most recent call last):
            ...
        RuntimeError: not here
    """

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        if mode.packers:
            raise RuntimeError(self.error_message)
        self.before, mode.no_packers = mode.no_packers, self.error_message

    def __exit__(self, *exc: object) -> None:
        mode.no_packers = self.before

    def __call__(self, func: Callable) -> Callable:
        """Use as a decorator."""

        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            with disable_saved_tensors_hooks(self.error_message):
                return func(*args, **kwargs)

        return call


def increment_version(tensor: Any) -> None:
    """Count a write that the engine could not see, into memory shared with something else.

    Args:
        tensor: a tensor, or several.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2)
        >>> vistorch.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if t._ver is graph.UNTRACKED:
            raise RuntimeError("Inference tensors do not track version counter.")
        version(t).n += 1
        if (emit := listeners.write) is not None:
            emit(t, None)


class _Handles:
    """The handles of one hook on several tensors."""

    def __init__(self, handles: tuple) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Take the hooks away."""
        for h in self.handles:
            h.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence, fn: Callable, *, mode: str = "all") -> Any:
    """Call `fn` when the gradients of several tensors are there.

    Args:
        tensors: they must require grad.
        fn: with "all", called once per backward with a list of the gradients, None where there was none; with "any",
            called with the first gradient that is computed.
        mode: "all" or "any".

    Example:
        >>> import vistorch
        >>> a, b = (vistorch.tensor(n, requires_grad=True) for n in (2.0, 3.0))
        >>> h = vistorch.autograd.graph.register_multi_grad_hook((a, b), print)
        >>> (a * b).backward()
        [tensor(3.), tensor(2.)]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    return _on_all(tensors, fn) if mode == "all" else _on_any(tensors, fn)


def _must_require_grad(tensors: Sequence) -> None:
    if not all(t.requires_grad for t in tensors):
        raise AssertionError("Expected gradient function to be set")


def _on_any(tensors: Sequence, fn: Callable) -> _Handles:
    _must_require_grad(tensors)
    lock = threading.Lock()
    emit: Any = WeakSet()  # the passes in which fn was called

    def hook(g: Tensor) -> None:
        run = _mode.run
        with lock:
            if run in emit:
                return
            if run is not None:
                emit.add(run)
        fn(g)

    return _Handles(tuple([t.register_hook(hook) for t in tensors]))


class _NoRun:
    """Stands for the pass when its caller did not say which it is."""


_NO_RUN: Any = _NoRun()


def _on_all(tensors: Sequence, fn: Callable) -> _Handles:
    _must_require_grad(tensors)
    lock = threading.Lock()
    # held weakly: this list is in the hooks of these very nodes
    ends = [ref(t) if t.is_leaf else ref(edge(t)) for t in tensors]
    runs: Any = WeakKeyDictionary()  # pass -> [how many are still to come, gradients]

    def on(i: int) -> Callable:
        def hook(g: Tensor) -> None:
            run = _mode.run or _NO_RUN
            with lock:
                waiting = runs.get(run)
                if waiting is None:
                    alive = [e() for e in ends]
                    edges = [edge(e) if isinstance(e, Tensor) else e for e in alive]
                    expected = sum([e is not None and (run is _NO_RUN or run.will_run(e)) for e in edges])
                    waiting = runs[run] = [expected, [None] * len(ends)]
                waiting[0] -= 1
                waiting[1][i] = g
                if not waiting[0]:
                    del runs[run]
            if not waiting[0]:
                fn(waiting[1])

        return hook

    return _Handles(tuple([t.register_hook(on(i)) for i, t in enumerate(tensors)]))


_mode = mode

__all__ = [
    "GradientEdge",
    "Node",
    "RemovableHandle",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
