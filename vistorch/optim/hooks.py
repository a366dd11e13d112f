"""The hooks of one optimizer: around its steps, and around saving and loading.

Invariant: every table of hooks is named in `TABLES`, since an optimizer that was pickled comes back without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.core.handles import RemovableHandle

TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def entered(hooks: Any, hook: Callable, prepend: bool = False) -> RemovableHandle:
    """Put a hook behind the others, or before them, and return what takes it out again."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Hooked:
    """The part of Optimizer that keeps its hooks."""

    _optimizer_step_pre_hooks: Any
    _optimizer_step_post_hooks: Any
    _optimizer_state_dict_pre_hooks: Any
    _optimizer_state_dict_post_hooks: Any
    _optimizer_load_state_dict_pre_hooks: Any
    _optimizer_load_state_dict_post_hooks: Any

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step.

        Args:
            hook: a function that returns None, or the arguments to use instead as a pair.

        Example:
            >>> import vistorch
            >>> p = vistorch.nn.Parameter(vistorch.ones(1))
            >>> optimizer = vistorch.optim.SGD([p], lr=0.1)
            >>> handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: print("lr", o.param_groups[0]["lr"]))
            >>> optimizer.step()
            lr 0.1
        """
        return entered(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step.

        Args:
            hook: a function that returns None.

        Example:
            >>> import vistorch
            >>> p = vistorch.nn.Parameter(vistorch.ones(1))
            >>> optimizer = vistorch.optim.SGD([p], lr=1.0)
            >>> handle = optimizer.register_step_post_hook(lambda o, args, kwargs: p.data.clamp_(min=0.5))
            >>> (2 * p).backward()
            >>> optimizer.step()
            >>> p.item()  # -1.0 without the hook
            0.5
        """
        return entered(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict()`.

        Args:
            hook: a function that returns None.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> optimizer = vistorch.optim.SGD([vistorch.ones(1)], lr=0.1)
            >>> handle = optimizer.register_state_dict_pre_hook(lambda o: print("saving", len(o.param_groups), "group"))
            >>> state = optimizer.state_dict()
            saving 1 group
        """
        return entered(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict()`; what it returns replaces the result.

        Args:
            hook: a function.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> optimizer = vistorch.optim.SGD([vistorch.ones(1)], lr=0.1)
            >>> handle = optimizer.register_state_dict_post_hook(lambda o, state: {**state, "note": "before lunch"})
            >>> optimizer.state_dict()["note"]
            'before lunch'
        """
        return entered(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; what it returns is loaded instead.

        Args:
            hook: a function.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> optimizer = vistorch.optim.SGD([vistorch.ones(1)], lr=0.1)
            >>> state = {"optimizer": optimizer.state_dict(), "epoch": 3}
            >>> handle = optimizer.register_load_state_dict_pre_hook(lambda o, state: state["optimizer"])
            >>> optimizer.load_state_dict(state)
        """
        return entered(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after loading.

        Args:
            hook: a function that returns None.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> optimizer = vistorch.optim.SGD([vistorch.ones(1)], lr=0.1)
            >>> handle = optimizer.register_load_state_dict_post_hook(lambda o: o.param_groups[0].update(lr=0.01))
            >>> optimizer.load_state_dict(optimizer.state_dict())
            >>> optimizer.param_groups[0]["lr"]
            0.01
        """
        return entered(self._optimizer_load_state_dict_post_hooks, hook, prepend)
