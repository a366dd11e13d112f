"""`cuda.make_graphed_callables`: functions and modules whose forward and backward are one launch each.

Invariant: what a graphed function returns and reads lies where it lay when it was captured.
"""

from __future__ import annotations

from typing import Any

from vistorch.cuda.devices import synchronize
from vistorch.cuda.graphs import CUDAGraph, graph, graph_pool_handle
from vistorch.cuda.streams import Stream, StreamContext, current_stream
from vistorch.engine.core.registry import AUTOGRAD, FUNCTIONS
from vistorch.engine.core.tensor import Tensor
from vistorch.engine.kernels import simulated
from vistorch.engine.library_name import library
from vistorch.engine.memory import placement

__all__ = ["make_graphed_callables"]


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
) -> Any:
    """Return functions or modules whose forward and backward are one launch each.

    What they return is written anew by the next call. On simulated devices, and for arguments on the CPU, they are
    returned as they are.

    Args:
        callables: a module or function of tensors, or a tuple of them in the order in which they run.
        sample_args: a tuple of tensors for each: those of a call, with the same shapes and `requires_grad`.
        num_warmup_iters: how often each is run before.
        allow_unused_input: let an input be without a gradient.
        pool: take memory of this pool.

    Example:
        >>> import vistorch
        >>> net = vistorch.nn.Linear(2, 2)
        >>> vistorch.cuda.make_graphed_callables(net, (vistorch.ones(1, 2),)) is net
        True
    """
    single = not isinstance(callables, tuple)
    functions = (callables,) if single else callables
    samples = (sample_args,) if single else sample_args
    for function, args in zip(functions, samples, strict=True):
        if not all(isinstance(a, Tensor) for a in args):
            raise AssertionError(
                "In the beta API, sample_args for each callable must contain only Tensors. "
                "Other types are not allowed."
            )
        if hasattr(function, "_forward_hooks"):
            if function._forward_hooks or function._forward_pre_hooks or function._backward_hooks:
                raise AssertionError(
                    "Modules must not have hooks registered at the time they are passed. However, registering hooks "
                    "on modules after passing them through make_graphed_callables is allowed."
                )
            if any(b.requires_grad for b in function.buffers()):
                raise AssertionError(
                    f"In any :class:`~{library}.nn.Module` passed to :func:`~make_graphed_callables`, only parameters "
                    "may be trainable. All buffers must have ``requires_grad=False``."
                )
    if simulated.count() or any(a._place.kind == placement.NUMPY for args in samples for a in args):
        return callables
    handle = graph_pool_handle() if pool is None else pool
    surfaces = [
        (*args, *(f.parameters() if hasattr(f, "parameters") else ()))
        for f, args in zip(functions, samples, strict=True)
    ]
    _warm(functions, samples, surfaces, num_warmup_iters, allow_unused_input)
    parts = [
        _Part(f, args, surface, handle) for f, args, surface in zip(functions, samples, surfaces, strict=True)
    ]
    for part in reversed(parts):
        part.capture_backward(handle, allow_unused_input)
    made = tuple(part.callable() for part in parts)
    return made[0] if single else made


def _warm(functions: Any, samples: Any, surfaces: list, count: int, allow_unused: bool) -> None:
    """Run everything a few times on a side stream: kernels are compiled, libraries opened."""
    synchronize()
    side = Stream()
    side.wait_stream(current_stream())
    with StreamContext(side):
        for function, args, surface in zip(functions, samples, surfaces, strict=True):
            for _ in range(count):
                outs = [o for o in _leaves(function(*args)) if o.requires_grad]
                wanted = [t for t in surface if t.requires_grad]
                if outs and wanted:
                    seeds = [FUNCTIONS["zeros_like"](o) for o in outs]
                    AUTOGRAD["grad"](outs, wanted, seeds, allow_unused=allow_unused)
    current_stream().wait_stream(side)
    synchronize()


def _leaves(out: Any) -> tuple:
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


class _Part:
    """One function's two graphs, and the tensors that they read and write."""

    def __init__(self, function: Any, args: tuple, surface: tuple, pool: Any) -> None:
        self.function, self.args, self.surface = function, args, surface
        self.forward_graph, self.backward_graph = CUDAGraph(), CUDAGraph()
        with graph(self.forward_graph, pool):
            self.out = function(*args)
        self.outs = _leaves(self.out)
        self.seeds: list = []
        self.grads: list = []

    def capture_backward(self, pool: Any, allow_unused: bool) -> None:
        """Capture the gradients of what the function read."""
        outs = [o for o in self.outs if o.requires_grad]
        wanted = [t for t in self.surface if t.requires_grad]
        self.seeds = [FUNCTIONS["zeros_like"](o) if o.requires_grad else None for o in self.outs]
        found: list = []
        if outs and wanted:
            with graph(self.backward_graph, pool):
                seeds = [s for s in self.seeds if s is not None]
                found = list(AUTOGRAD["grad"](outs, wanted, seeds, allow_unused=allow_unused))
        rest = iter(found)
        self.grads = [next(rest) if t.requires_grad and found else None for t in self.surface]

    def callable(self) -> Any:
        """The function or module that launches them."""
        part = self

        class Graphed(AUTOGRAD["Function"]):
            @staticmethod
            def forward(ctx: Any, *inputs: Any) -> Any:
                for mine, given in zip(part.args, inputs, strict=False):
                    if mine.data_ptr() != given.data_ptr():
                        mine.detach().copy_(given.detach())
                part.forward_graph.replay()
                return tuple(o.detach() for o in part.outs)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                for mine, given in zip(part.seeds, grads, strict=True):
                    if mine is not None and given is not None and mine.data_ptr() != given.data_ptr():
                        mine.copy_(given)
                if part.backward_graph._own is not None:
                    part.backward_graph.replay()
                return tuple(None if g is None else g.detach() for g in part.grads)

        def run(*args: Any) -> Any:
            outs = Graphed.apply(*args, *part.surface[len(part.args) :])
            return type(part.out)(outs) if isinstance(part.out, (tuple, list)) else outs[0]

        module = part.function
        if not hasattr(module, "_forward_hooks"):
            return run
        plain, mode = module.forward, module.training

        def forward(*args: Any) -> Any:
            return run(*args) if module.training == mode else plain(*args)

        module.forward = forward
        return module
