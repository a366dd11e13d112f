"""Hooks that hold for every module of the process.

Invariant: the id of every hook on calls is also in `any_call`, so a module asks one question before each call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...engine.core.handles import RemovableHandle

__all__ = [
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

forward_pre_hooks: dict = OrderedDict()
forward_hooks: dict = OrderedDict()
forward_with_kwargs: dict = OrderedDict()
forward_always: dict = OrderedDict()
backward_pre_hooks: dict = OrderedDict()
backward_hooks: dict = OrderedDict()
any_call: dict = {}

buffer_hooks: dict = OrderedDict()
module_hooks: dict = OrderedDict()
parameter_hooks: dict = OrderedDict()

BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of "
    "them."
)


class _Kind:
    """Whether the global backward hooks are full ones; None before the first."""

    full: bool | None = None


kind = _Kind()


def _enter(hooks: dict, hook: Callable, *more: dict) -> RemovableHandle:
    handle = RemovableHandle(hooks, extra_dict=[any_call, *more])
    hooks[handle.id] = hook
    any_call[handle.id] = True
    return handle


def register_module_forward_pre_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, args)` before every `forward`; what it returns replaces the arguments.

    Args:
        hook: a function of the module and its positional arguments.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules.module import register_module_forward_pre_hook
        >>> with register_module_forward_pre_hook(lambda m, args: print(type(m).__name__, args)):
        ...     y = vistorch.nn.Identity()(vistorch.ones(1))
        Identity (tensor([1.]),)
    """
    return _enter(forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., None], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after every `forward`; what it returns replaces the output.

    Args:
        hook: a function of the module, its arguments and its output.
        with_kwargs: call `hook(module, args, kwargs, output)`.
        always_call: call it also when `forward` raises.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules.module import register_module_forward_hook
        >>> with register_module_forward_hook(lambda m, args, out: print(type(m).__name__)):
        ...     y = vistorch.nn.Identity()(vistorch.ones(1))
        Identity
    """
    handle = _enter(forward_hooks, hook, forward_with_kwargs, forward_always)
    if with_kwargs:
        forward_with_kwargs[handle.id] = True
    if always_call:
        forward_always[handle.id] = True
    return handle


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` of the last node of every module: the old form of PyTorch.

    Args:
        hook: a function of the module and two tuples.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules import global_hooks
        >>> before = global_hooks.kind.full
        >>> global_hooks.kind.full = None  # old and full hooks exclude each other in a process
        >>> relu = vistorch.nn.ReLU()
        >>> with global_hooks.register_module_backward_hook(lambda m, into, out: print(m, out)):
        ...     relu(vistorch.ones(1, requires_grad=True) * 2).backward()
        ReLU() (tensor([1.]),)
        >>> global_hooks.kind.full = before
    """
    if kind.full is True:
        raise RuntimeError(BOTH_KINDS)
    kind.full = False
    return _enter(backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the gradients of every module's inputs are computed.

    Args:
        hook: a function of the module and a tuple; what it returns replaces the tuple.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules.module import register_module_full_backward_pre_hook
        >>> with register_module_full_backward_pre_hook(lambda m, out: print(m, out)):
        ...     vistorch.nn.ReLU()(vistorch.ones(1, requires_grad=True)).backward()
        ReLU() (tensor([1.]),)
    """
    return _enter(backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when the gradients of every module's inputs are computed.

    Args:
        hook: a function of the module and two tuples; what it returns replaces `grad_input`.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules import global_hooks
        >>> before = global_hooks.kind.full
        >>> global_hooks.kind.full = None  # old and full hooks exclude each other in a process
        >>> with global_hooks.register_module_full_backward_hook(lambda m, into, out: print(m, into, out)):
        ...     vistorch.nn.ReLU()(vistorch.tensor([-1.0], requires_grad=True)).backward()
        ReLU() (tensor([0.]),) (tensor([1.]),)
        >>> global_hooks.kind.full = before
    """
    if kind.full is False:
        raise RuntimeError(BOTH_KINDS)
    kind.full = True
    return _enter(backward_hooks, hook)


def _registration(hooks: dict, hook: Callable) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def register_module_buffer_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` at each `register_buffer`; what it returns replaces the buffer.

    Args:
        hook: a function of the module, a name and a tensor.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules.module import register_module_buffer_registration_hook
        >>> with register_module_buffer_registration_hook(lambda m, name, buffer: print(name)):
        ...     norm = vistorch.nn.BatchNorm1d(2)
        running_mean
        running_var
        num_batches_tracked
    """
    return _registration(buffer_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, child)` at each `register_module`; what it returns replaces the child.

    Args:
        hook: a function of the module, a name and a module.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules.module import register_module_module_registration_hook
        >>> with register_module_module_registration_hook(lambda m, name, child: print(name, child)):
        ...     net = vistorch.nn.Sequential(vistorch.nn.ReLU())
        0 ReLU()
    """
    return _registration(module_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` at each `register_parameter`; what it returns replaces it.

    Args:
        hook: a function of the module, a name and a parameter.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.modules.module import register_module_parameter_registration_hook
        >>> with register_module_parameter_registration_hook(lambda m, name, p: print(name, list(p.shape))):
        ...     layer = vistorch.nn.Linear(2, 3)
        weight [3, 2]
        bias [3]
    """
    return _registration(parameter_hooks, hook)


def passed(hooks: dict, module: Any, name: str, value: Any) -> Any:
    """`value` after the registration hooks have seen it."""
    for hook in hooks.values():
        result = hook(module, name, value)
        if result is not None:
            value = result
    return value
