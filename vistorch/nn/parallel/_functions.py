"""The moves of `comm` with history: what goes out to devices comes back as gradients, and the other way round.

Invariant: each backward is made of these functions again, so it can be differentiated itself.
"""

from __future__ import annotations

import warnings
from itertools import chain
from typing import Any

from ...autograd import Function
from ...cuda.device_ids import place, places
from . import comm

__all__ = ["Broadcast", "Gather", "ReduceAddCoalesced", "Scatter"]


class Broadcast(Function):
    """Tensors on several devices; one device's after the other's."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Any, *inputs: Any) -> tuple:
        """Copy."""
        ctx.targets = places(target_gpus)
        if not inputs:
            return ()
        ctx.source, ctx.count = inputs[0]._place, len(inputs)
        outputs = comm.broadcast_coalesced(inputs, ctx.targets)
        barred = [i for i, needed in enumerate(ctx.needs_input_grad[1:]) if not needed]
        ctx.mark_non_differentiable(*[row[i] for row in outputs for i in barred])
        return tuple(chain.from_iterable(outputs))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple:
        """Add up what comes from the devices."""
        wanted = [i for i in range(ctx.count) if ctx.needs_input_grad[1 + i]]
        rows = range(0, len(grad_outputs), ctx.count)
        given = [grad_outputs[row + i] for row in rows for i in wanted]
        sums = ReduceAddCoalesced.apply(ctx.source, len(wanted), *given)
        found: list = [None] * ctx.count
        for i, total in zip(wanted, sums if isinstance(sums, tuple) else (sums,), strict=True):
            found[i] = total
        return (None, *found)


class ReduceAddCoalesced(Function):
    """The sums over devices of several tensors."""

    @staticmethod
    def forward(ctx: Any, destination: Any, num_inputs: int, *grads: Any) -> tuple:
        """Add."""
        rows = [grads[i : i + num_inputs] for i in range(0, len(grads), num_inputs)]
        ctx.targets = [row[0]._place for row in rows]
        return comm.reduce_add_coalesced(rows, destination)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple:
        """Give every summand the gradient of its sum."""
        return (None, None, *Broadcast.apply(ctx.targets, *grad_outputs))


class Gather(Function):
    """Tensors from several devices, joined on one."""

    @staticmethod
    def forward(ctx: Any, target_device: Any, dim: int, *inputs: Any) -> Any:
        """Join."""
        ctx.target, ctx.dim = place(target_device), dim
        ctx.sources = [t._place for t in inputs]
        ctx.scalars = dim == 0 and all(t.ndim == 0 for t in inputs)
        if ctx.scalars:
            inputs = tuple(t.view(1) for t in inputs)
            warnings.warn(
                "Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze "
                "and return a vector.",
                UserWarning,
                stacklevel=4,
            )
        ctx.sizes = [t.size(dim) for t in inputs]
        return comm.gather(inputs, dim, ctx.target)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> tuple:
        """Give every part its part of the gradient."""
        grads = Scatter.apply(ctx.sources, ctx.sizes, ctx.dim, grad_output)
        grads = grads if isinstance(grads, tuple) else (grads,)
        return (None, None, *([g[0] for g in grads] if ctx.scalars else grads))


class Scatter(Function):
    """A tensor in chunks on several devices."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Any, chunk_sizes: Any, dim: int, input: Any) -> tuple:
        """Cut."""
        ctx.source, ctx.dim = input._place, dim
        return comm.scatter(input, places(target_gpus), chunk_sizes, dim)

    @staticmethod
    def backward(ctx: Any, *grad_output: Any) -> tuple:
        """Join the gradients of the chunks."""
        return None, None, None, Gather.apply(ctx.source, ctx.dim, *grad_output)
