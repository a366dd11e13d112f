"""Calling a module that has hooks or listeners: `forward`, and what runs before, after and behind it.

Invariant: each hook runs once for a call, in PyTorch's order; `Module.__call__` asks only whether there are any.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ...engine.base.events import listeners
from ...engine.core.handles import RemovableHandle
from ...engine.core.private_order import looked_at
from ...engine.core.tensor import Tensor
from . import global_hooks
from .backward_hook import BackwardHook

BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. "
    "Please use only one of them."
)
OLD_HOOK = " Please use register_full_backward_hook to get the documented behavior."


class BoundHook:
    """A hook that may be given its module first, which it holds weakly; it can be pickled with the module."""

    def __init__(self, hook: Callable, module: Any = None) -> None:
        self.hook = hook
        update_wrapper(self, hook)
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the hook."""
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict:
        state: dict = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


def observed_call(module: Any, args: tuple, kwargs: dict) -> Any:
    """A call with hooks or listeners: "forward" is emitted before it and "forward_end" after, even if it raises."""
    emit = listeners.phase
    if emit is None:
        return _call_hooked(module, args, kwargs)
    emit("forward", module, args, kwargs)
    result = None
    hooked = (
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or global_hooks.any_call
    )
    try:
        result = _call_hooked(module, args, kwargs) if hooked else module.forward(*args, **kwargs)
    finally:
        emit("forward_end", module, result)
    return result


def _call_hooked(module: Any, args: tuple, kwargs: dict) -> Any:
    return looked_at(_call_seen, module, args, kwargs)


def _call_seen(module: Any, args: tuple, kwargs: dict) -> Any:
    called: set = set()
    state: list = [args, kwargs, None]
    try:
        return _with_hooks(module, state, called)
    except Exception:
        if module._forward_hooks_always_called or global_hooks.forward_always:
            _call_always(module, state, called)
        raise


def _with_hooks(module: Any, state: list, called: set) -> Any:
    args, kwargs, _ = state
    pre_hooks = [*global_hooks.backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
    full, old = _backward_kinds(module) if module._backward_hooks or global_hooks.backward_hooks else ((), ())
    for i, hook in (*global_hooks.forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
        if i in module._forward_pre_hooks_with_kwargs:
            given = hook(module, args, kwargs)
            if given is not None:
                if not (isinstance(given, tuple) and len(given) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {given}."
                    )
                args, kwargs = given
        else:
            given = hook(module, args)
            if given is not None:
                args = given if isinstance(given, tuple) else (given,)
    state[:2] = args, kwargs
    gate = None
    if full or pre_hooks:
        gate = BackwardHook(module, list(full), pre_hooks)
        args = gate.at_entrance(args)
        state[0] = args
    result = state[2] = module.forward(*args, **kwargs)
    for i, hook in (*global_hooks.forward_hooks.items(), *module._forward_hooks.items()):
        if i in module._forward_hooks_always_called or i in global_hooks.forward_always:
            called.add(i)
        given = _call_hook(module, i, hook, args, kwargs, result)
        if given is not None:
            result = state[2] = given
    if gate is not None:
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
                f"but received {type(result)}",
                UserWarning,
                stacklevel=5,
            )
        result = gate.at_exit(result)
    if old:
        _hook_last_node(module, old, args, result)
    return result


def _call_hook(module: Any, i: int, hook: Callable, args: tuple, kwargs: dict, result: Any) -> Any:
    if i in module._forward_hooks_with_kwargs or i in global_hooks.forward_with_kwargs:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


def _call_always(module: Any, state: list, called: set) -> None:
    """The hooks with always_call that an exception kept from being called."""
    args, kwargs, result = state
    for word, hooks, always in (
        ("global module", global_hooks.forward_hooks, global_hooks.forward_always),
        ("module", module._forward_hooks, module._forward_hooks_always_called),
    ):
        for i, hook in list(hooks.items()):
            if i not in always or i in called:
                continue
            try:
                given = _call_hook(module, i, hook, args, kwargs, result)
                if given is not None:
                    result = given
            except Exception as exc:
                warnings.warn(
                    f"{word} forward hook with ``always_call=True`` raised an exception that was silenced as "
                    f"another error was raised in forward: {exc}",
                    UserWarning,
                    stacklevel=5,
                )


def _backward_kinds(module: Any) -> tuple[list, list]:
    """The full backward hooks and those of the old kind."""
    kinds: dict = {True: [], False: [], None: []}
    kinds[global_hooks.kind.full].extend(global_hooks.backward_hooks.values())
    kinds[module._is_full_backward_hook].extend(module._backward_hooks.values())
    return kinds[True], kinds[False]


def _hook_last_node(module: Any, hooks: list, inputs: Any, result: Any) -> None:
    """Hooks of the old kind see the gradients of the node that made the result."""
    first = result
    while not isinstance(first, Tensor):
        first = (
            next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
        )
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(BoundHook(hook, module))
    said = _what_an_old_hook_misses(inputs, result, node)
    if said is not None:
        warnings.warn(said, FutureWarning, stacklevel=6)


def add_hook(hooks: Any, handle: RemovableHandle, hook: Callable, prepend: bool = False) -> RemovableHandle:
    """Enter a hook under its handle, at the end of a table or at its start."""
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _what_an_old_hook_misses(inputs: Any, result: Any, node: Any) -> str | None:
    """The sentence of PyTorch about what a backward hook of the old kind does not see here, or None."""
    start = "Using non-full backward hooks on a Module that does not "
    results = (result,) if isinstance(result, Tensor) else result
    if not (isinstance(results, tuple) and all(isinstance(r, Tensor) for r in results)):
        return (
            start
            + "return a single Tensor or a tuple of Tensors is deprecated and will be removed in future "
            "versions. This hook will be missing some of the grad_output." + OLD_HOOK
        )
    inputs = (inputs,) if isinstance(inputs, Tensor) else inputs
    if not (isinstance(inputs, tuple) and all(isinstance(i, Tensor) for i in inputs)):
        return (
            start
            + "take as input a single Tensor or a tuple of Tensors is deprecated and will be removed in future "
            "versions. This hook will be missing some of the grad_input." + OLD_HOOK
        )
    makers = {r.grad_fn for r in results if r.grad_fn is not None}
    start = "Using a non-full backward hook when "
    if not makers or (len(makers) == 1 and node not in makers):
        return (
            start
            + "outputs are nested in python data structure is deprecated and will be removed in future versions. "
            "This hook will be missing some grad_output."
        )
    if len(makers) > 1:
        return (
            start
            + "outputs are generated by different autograd Nodes is deprecated and will be removed in future "
            "versions. This hook will be missing some grad_output." + OLD_HOOK
        )
    if {i.grad_fn for i in inputs if i.grad_fn is not None} != {n[0] for n in node.next_functions}:
        return (
            start
            + "the forward contains multiple autograd Nodes is deprecated and will be removed in future "
            "versions. This hook will be missing some grad_input." + OLD_HOOK
        )
    return None
