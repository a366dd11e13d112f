"""Hooks: on tensors, on nodes, on what is saved.

Invariant: a hook that returns None changes nothing; what it returns otherwise replaces the gradient, after a check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import errors, type_names
from ..base.modes import careful, mode
from .graph import Hooks, follow, more
from .handles import RemovableHandle, handle
from .private_order import by_rows
from .registry import public
from .tensor import Tensor, ndarray, wrap


def hooks_of(t: Tensor) -> Hooks:
    """Where a tensor's hooks live: with its node, or, for a leaf, with the tensor and its leaf."""
    if t._view is not None:
        t._view.sync(t, True)
    n = t._node
    if n is not None:
        return n._hooks()
    extras = more(t)
    if extras.hooks is None:
        extras.hooks = Hooks()
        leaf = extras.leaf() if extras.leaf is not None else None
        if leaf is not None:
            if leaf.hooks is not None:
                extras.hooks = leaf.hooks
            leaf.hooks = extras.hooks
    return extras.hooks


@public(function=False)
def register_hook(self: Tensor, hook: Callable) -> RemovableHandle:
    """Call `hook(grad)` each time a gradient for this tensor is computed; what it returns replaces the gradient.

    Args:
        self: the tensor.
        hook: a function of the gradient that returns a Tensor or None. It must not change its argument.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> h = x.register_hook(lambda grad: grad * 2)
        >>> x.sum().backward()
        >>> x.grad
        tensor([2., 2.])
        >>> h.remove()
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return handle(hooks_of(self).tensor, hook)


@public(function=False)
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable) -> RemovableHandle:
    """Call `hook(tensor)` after its `.grad` was accumulated; only for leaves.

    Args:
        self: the tensor.
        hook: a function of the tensor that returns None.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> h = x.register_post_accumulate_grad_hook(lambda t: print(t.grad))
        >>> x.sum().backward()
        tensor([1., 1.])
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return handle(hooks_of(self).accumulated, hook)


@public(function=False)
def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a non-leaf in its `.grad`.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> y.retain_grad()
        >>> y.sum().backward()
        >>> y.grad
        tensor([1., 1.])
    """
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if self.grad_fn is None or self.retains_grad:
        return
    more(self).retains = True
    follow(self)


def tensor_of(g: Any, place: Any) -> Any:
    """A gradient as hooks see it: a Tensor that may be written, or None."""
    if g is None or isinstance(g, Tensor):
        return g
    if g.__class__ is ndarray:
        if not g.flags.writeable:  # what a scalar's pass starts with is shared by all passes, and locked
            g = g.copy()
        elif g.ndim > 3:
            g = by_rows(g)
    return wrap(g, place)


def run_tensor_hooks(h: Hooks, g: Any, place: Any, create_graph: bool) -> Any:
    """Let the tensor hooks of a node see (and replace) its gradient; arrays in, arrays out in a plain pass."""
    t = tensor_of(g, place)
    for hook in list(h.tensor.values()):
        result = hook(t)
        if result is not None:
            t = _checked(result, t, hook)
    return t if create_graph else t._data


def run_node_hook(hook: Callable, given: tuple, changes: tuple) -> tuple:
    """Call one hook of a node; `changes` are the gradients that its result may replace."""
    result = hook(*given)
    if result is None:
        return changes
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{errors.type_name(result)}'")
    if len(result) != len(changes):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(result)}, but expected "
            f"{len(changes)})"
        )
    for r, g in zip(result, changes, strict=True):
        if r is None:
            continue
        if g is None:
            raise RuntimeError("can't replace a None gradient with a non-None value")
        _checked(r, g, hook)
    return result


def run_accumulated(h: Hooks, t: Tensor) -> None:
    """Call the hooks of a leaf whose gradient was accumulated."""
    for hook in list(h.accumulated.values()):
        result = hook(t)
        if result is not None and not isinstance(result, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{errors.type_name(result)}'")


def _checked(result: Any, g: Tensor, hook: Callable) -> Tensor:
    """A gradient a hook returned in place of `g`."""
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{errors.type_name(result)}'")
    if result._data.dtype != g._data.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {_kind(g)} got {_kind(result)})"
        )
    if result._data.shape != g._data.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return result


def _name(hook: Callable) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


def _kind(t: Tensor) -> str:
    return type_names.type_name(t.dtype, t._place.device.type)


class saved_tensors_hooks:
    """Inside this context, what ops save goes through `pack_hook`, and comes back through `unpack_hook`.

    Args:
        pack_hook: called with each saved tensor; returns anything.
        unpack_hook: called with what pack_hook returned; returns a tensor of the same value.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with vistorch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), vistorch.tensor):
        ...     y = x.exp()
        >>> y.sum().backward()
        >>> x.grad
        tensor([2.7183, 2.7183])
    """

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if mode.no_packers is not None:
            raise RuntimeError(mode.no_packers)
        mode.packers = (*mode.packers, (self.pack_hook, self.unpack_hook))
        careful()

    def __exit__(self, *exc: object) -> None:
        mode.packers = mode.packers[:-1]
        careful()


__all__ = [
    "RemovableHandle",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "retain_grad",
    "saved_tensors_hooks",
]
