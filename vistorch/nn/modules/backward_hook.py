"""Hooks on the backward pass of a whole module: an identity node at its entrance and one at its exit.

Invariant: without a tensor that requires a gradient nothing is added to the graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ...autograd.function import Function
from ...engine.base.modes import mode
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor

zeros = FUNCTIONS["zeros"]
NO_INPUT_NEEDS_GRAD = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class BackwardHookFunction(Function):
    """The identity, as one node of the graph."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Return the inputs."""
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Return the gradients."""
        return args


class BackwardHook:
    """One call of a module with backward hooks: what the exit saw is kept until the entrance is reached."""

    def __init__(self, module: Any, hooks: list, pre_hooks: list) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: tuple | None = None
        self.inputs: list | None = None  # which arguments are tensors; None: no gradient passes the entrance
        self.outputs: list | None = None
        self.input_count = self.output_count = 0

    def at_entrance(self, args: tuple) -> tuple:
        """The arguments behind the entrance node."""
        self.input_count = len(args)
        # PyTorch gives zeros for tensors that need no gradient
        self.idle = {i: (a._data.shape, a.dtype, a.device) for i, a in enumerate(args) if _idle(a)}
        args, self.inputs = _through(args, lambda node: node.register_hook(self._leaving))
        return args

    def at_exit(self, result: Any) -> Any:
        """The outputs behind the exit node."""
        several = isinstance(result, tuple)
        outs = result if several else (result,)
        self.output_count = len(outs)
        outs, self.outputs = _through(outs, lambda node: node.register_hook(self._entering))
        return outs if several else outs[0]

    def _entering(self, _: Any, grad_output: tuple) -> tuple | None:
        """The backward pass reaches the module's outputs."""
        grads = _spread(self.outputs, grad_output, self.output_count)
        for hook in self.pre_hooks:
            result = hook(self.module, grads)
            if result is None:
                continue
            if len(result) != len(grads):
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(result)}, but expected {len(grads)}"
                )
            grads = result
        self.grad_outputs = grads
        if self.inputs is None:
            self._without_inputs(grads)
        return tuple([grads[i] for i in self.outputs or ()])

    def _without_inputs(self, grads: tuple) -> None:
        warnings.warn(NO_INPUT_NEEDS_GRAD, UserWarning, stacklevel=5)
        for hook in self.hooks:
            result = hook(self.module, (None,) * self.input_count, grads)
            if result is not None and not (isinstance(result, tuple) and all(r is None for r in result)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_outputs = None

    def _leaving(self, grad_input: tuple, _: Any) -> tuple | None:
        """The backward pass has the gradients of the module's inputs."""
        if self.grad_outputs is None:  # the exit was not reached: its outputs were not used
            return None
        grads = _spread(self.inputs, grad_input, self.input_count)
        if self.idle:
            filled = list(grads)
            for i, (shape, dtype, device) in self.idle.items():
                filled[i] = zeros(shape, dtype=dtype, device=device)
            grads = tuple(filled)
        for hook in self.hooks:
            result = hook(self.module, grads, self.grad_outputs)
            if result is None:
                continue
            if len(result) != len(grads):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(result)}, but expected {len(grads)}"
                )
            grads = result
        self.grad_outputs = None
        return tuple([None if i in self.idle else grads[i] for i in self.inputs or ()])


def _idle(a: Any) -> bool:
    return isinstance(a, Tensor) and not a.requires_grad


def _spread(where: list | None, values: tuple, size: int) -> tuple:
    """The values at their places, None elsewhere."""
    full: list = [None] * size
    for i, value in zip(where or (), values, strict=True):
        full[i] = value
    return tuple(full)


def _through(args: tuple, register: Callable) -> tuple[tuple, list | None]:
    """The tensors among `args` behind one identity node, on which `register` puts a hook."""
    places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    if not mode.on or not any(args[i].requires_grad for i in places):
        return args, None
    made = BackwardHookFunction.apply(*[args[i] for i in places])
    register(next(t.grad_fn for t in made if t.grad_fn is not None))
    full = list(args)
    for i, t in zip(places, made, strict=True):
        full[i] = t
    return (tuple(full) if type(args) is tuple else type(args)(*full)), places
