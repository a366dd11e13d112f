"""Calling a module: `forward`, and the hooks before, after and behind it.

Invariant: a module without hooks, with nobody listening, pays for one look at its tables and calls `forward`.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ...engine.events import hear
from ...engine.handles import RemovableHandle
from ...engine.tensor import Tensor
from . import everywhere
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


class Calls:
    """The part of Module that runs it."""

    forward: Callable[..., Any]
    _backward_pre_hooks: Any
    _backward_hooks: Any
    _is_full_backward_hook: bool | None
    _forward_pre_hooks: Any
    _forward_pre_hooks_with_kwargs: Any
    _forward_hooks: Any
    _forward_hooks_with_kwargs: Any
    _forward_hooks_always_called: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and the hooks around it."""
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or everywhere.any_call
            or hear.phase is not None
        ):
            return self._call_told(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """PyTorch's name for the call itself, which some libraries replace or wrap."""
        return Calls.__call__(self, *args, **kwargs)

    def _call_told(self, args: tuple, kwargs: dict) -> Any:
        """The call, told to whoever listens: "forward" before it and "forward_end" after, also when it raises."""
        told = hear.phase
        if told is None:
            return self._call_hooked(args, kwargs)
        told("forward", self, args, kwargs)
        result = None
        hooked = (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or everywhere.any_call
        )
        try:
            result = self._call_hooked(args, kwargs) if hooked else self.forward(*args, **kwargs)
        finally:
            told("forward_end", self, result)
        return result

    def _call_hooked(self, args: tuple, kwargs: dict) -> Any:
        called: set = set()
        state: list = [args, kwargs, None]
        try:
            return self._with_hooks(state, called)
        except Exception:
            if self._forward_hooks_always_called or everywhere.forward_always:
                self._call_always(state, called)
            raise

    def _with_hooks(self, state: list, called: set) -> Any:
        args, kwargs, _ = state
        pre_hooks = [*everywhere.backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
        full, old = self._backward_kinds() if self._backward_hooks or everywhere.backward_hooks else ((), ())
        for i, hook in (*everywhere.forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
            if i in self._forward_pre_hooks_with_kwargs:
                given = hook(self, args, kwargs)
                if given is not None:
                    if not (isinstance(given, tuple) and len(given) == 2):
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {given}."
                        )
                    args, kwargs = given
            else:
                given = hook(self, args)
                if given is not None:
                    args = given if isinstance(given, tuple) else (given,)
        state[:2] = args, kwargs
        gate = None
        if full or pre_hooks:
            gate = BackwardHook(self, list(full), pre_hooks)
            args = gate.at_entrance(args)
            state[0] = args
        result = state[2] = self.forward(*args, **kwargs)
        for i, hook in (*everywhere.forward_hooks.items(), *self._forward_hooks.items()):
            if i in self._forward_hooks_always_called or i in everywhere.forward_always:
                called.add(i)
            given = self._call_hook(i, hook, args, kwargs, result)
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
            self._hook_last_node(old, args, result)
        return result

    def _call_hook(self, i: int, hook: Callable, args: tuple, kwargs: dict, result: Any) -> Any:
        if i in self._forward_hooks_with_kwargs or i in everywhere.forward_with_kwargs:
            return hook(self, args, kwargs, result)
        return hook(self, args, result)

    def _call_always(self, state: list, called: set) -> None:
        """The hooks with always_call that an exception kept from being called."""
        args, kwargs, result = state
        for word, hooks, always in (
            ("global module", everywhere.forward_hooks, everywhere.forward_always),
            ("module", self._forward_hooks, self._forward_hooks_always_called),
        ):
            for i, hook in list(hooks.items()):
                if i not in always or i in called:
                    continue
                try:
                    given = self._call_hook(i, hook, args, kwargs, result)
                    if given is not None:
                        result = given
                except Exception as exc:
                    warnings.warn(
                        f"{word} forward hook with ``always_call=True`` raised an exception that was silenced as "
                        f"another error was raised in forward: {exc}",
                        UserWarning,
                        stacklevel=5,
                    )

    def _backward_kinds(self) -> tuple[list, list]:
        """The full backward hooks and those of the old kind."""
        kinds: dict = {True: [], False: [], None: []}
        kinds[everywhere.kind.full].extend(everywhere.backward_hooks.values())
        kinds[self._is_full_backward_hook].extend(self._backward_hooks.values())
        return kinds[True], kinds[False]

    def _hook_last_node(self, hooks: list, inputs: Any, result: Any) -> None:
        """Hooks of the old kind see the gradients of the node that made the result."""
        first = result
        while not isinstance(first, Tensor):
            first = (
                next(v for v in first.values() if isinstance(v, Tensor))
                if isinstance(first, dict)
                else first[0]
            )
        node = first.grad_fn
        if node is None:
            return
        for hook in hooks:
            node.register_hook(BoundHook(hook, self))
        said = _what_an_old_hook_misses(inputs, result, node)
        if said is not None:
            warnings.warn(said, FutureWarning, stacklevel=6)

    # ---- registering -------------------------------------------------------------------------------------------
    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each `forward`; what it returns replaces the arguments.

        Args:
            hook: a function of the module and the tuple of its positional arguments.
            prepend: call it before the hooks that are there.
            with_kwargs: call `hook(module, args, kwargs)`, which returns None or a pair.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Identity()
            >>> h = m.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
            >>> m(vistorch.ones(2))
            tensor([2., 2.])
        """
        handle = RemovableHandle(self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return _entered(self._forward_pre_hooks, handle, hook, prepend)

    def register_forward_hook(
        self,
        hook: Callable,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after each `forward`; what it returns replaces the output.

        Args:
            hook: a function of the module, its positional arguments and its output.
            prepend: call it before the hooks that are there.
            with_kwargs: call `hook(module, args, kwargs, output)`.
            always_call: call it also when `forward` raises.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Identity()
            >>> h = m.register_forward_hook(lambda m, args, out: print(out.shape))
            >>> y = m(vistorch.ones(2))
            vistorch.Size([2])
            >>> h.remove()
        """
        handle = RemovableHandle(
            self._forward_hooks,
            extra_dict=[self._forward_hooks_with_kwargs, self._forward_hooks_always_called],
        )
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return _entered(self._forward_hooks, handle, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the gradients of the module's inputs are computed.

        Args:
            hook: a function of the module and a tuple; what it returns replaces the tuple.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Identity()
            >>> h = m.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 10,))
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> m(x).sum().backward()
            >>> x.grad
            tensor([10., 10.])
        """
        handle = RemovableHandle(self._backward_pre_hooks)
        return _entered(self._backward_pre_hooks, handle, hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are computed.

        Args:
            hook: a function of the module and two tuples; what it returns replaces `grad_input`.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 1)
            >>> h = m.register_full_backward_hook(lambda m, gi, go: print(go[0]))
            >>> m(vistorch.ones(1, 2, requires_grad=True)).sum().backward()
            tensor([[1.]])
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(BOTH_KINDS)
        self._is_full_backward_hook = True
        return _entered(self._backward_hooks, RemovableHandle(self._backward_hooks), hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` of the last node: the old form; prefer the full one.

        Args:
            hook: a function of the module and two tuples.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.ReLU()
            >>> h = m.register_backward_hook(lambda m, grad_in, grad_out: print(grad_in, grad_out))
            >>> x = vistorch.tensor([-1.0, 1.0], requires_grad=True) * 2
            >>> m(x).sum().backward()
            (tensor([0., 1.]),) (tensor([1., 1.]),)
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(BOTH_KINDS)
        self._is_full_backward_hook = False
        return _entered(self._backward_hooks, RemovableHandle(self._backward_hooks), hook, False)


def _entered(hooks: Any, handle: RemovableHandle, hook: Callable, prepend: bool) -> RemovableHandle:
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
