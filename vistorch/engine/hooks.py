"""Hooks: on tensors, on nodes, on what is saved.

Invariant: a hook that returns None changes nothing; what it returns otherwise replaces the gradient, after a check.
"""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable
from typing import Any

from . import errors, graph
from .graph import Hooks, Leaf, Packed, more
from .modes import careful, mode
from .tensor import Tensor

_ids = itertools.count().__next__


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away; as a context manager, at its end."""

    __slots__ = ("__weakref__", "_hooks", "id")

    def __init__(self, hooks: dict) -> None:
        self._hooks = hooks
        self.id = _ids()

    def remove(self) -> None:
        """Take the hook away; doing so twice is fine."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def handle(hooks: dict, hook: Callable) -> RemovableHandle:
    """Enter a hook into an ordered dict of hooks."""
    h = RemovableHandle(hooks)
    hooks[h.id] = hook
    return h


def hooks_of(t: Tensor) -> Hooks:
    """Where a tensor's hooks live: with its node, or, for a leaf, with the tensor and its leaf."""
    if t._view is not None:
        graph.sync(t)
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


def register_hook(self: Tensor, hook: Callable) -> RemovableHandle:
    """Call `hook(grad)` each time a gradient for this tensor is computed; what it returns replaces the gradient.

    Args:
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


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable) -> RemovableHandle:
    """Call `hook(tensor)` after its `.grad` was accumulated; only for leaves.

    Args:
        hook: a function of the tensor; its result is ignored.

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


def follow(t: Tensor) -> None:
    """Let the retained gradient of `t` be that of its newest node."""
    kept = self_ref = weakref.ref(t)
    old = getattr(t._more, "output_nr", None)
    if old is not None:
        for h in old:
            h.retained[:] = [r for r in h.retained if r() is not t]
    h = t._node._hooks()
    h.retained.append(self_ref)
    t._more.output_nr = [h]
    del kept


def run_tensor_hooks(h: Hooks, g: Any, place: Any, create_graph: bool) -> Any:
    """Let the tensor hooks of a node see (and replace) its gradient; arrays in, arrays out in a plain pass."""
    from .tensor import wrap

    t = g if create_graph else wrap(g, place)
    for hook in list(h.tensor.values()):
        result = hook(t)
        if result is not None:
            t = _checked(result, t, hook)
    return t if create_graph else t._data


def _checked(result: Any, g: Tensor, hook: Callable) -> Tensor:
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(result, Tensor):
        raise TypeError(
            f"expected Variable, but hook returned {_type_name(result)}"
            if result is not None
            else f"hook '{name}' has returned None"
        )
    if result._data.shape != g._data.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    if result._data.dtype != g._data.dtype:
        raise RuntimeError(
            f"hook '{name}' has changed the type of value (was {_kind(g)} got {_kind(result)})"
        )
    return result


def _kind(t: Tensor) -> str:
    from .dtypes import type_name

    return type_name(t.dtype, t._place.device.type)


def _type_name(value: Any) -> str:
    return type(value).__name__


def pack(t: Tensor) -> Packed:
    """Save `t` through the innermost pair of saved_tensors_hooks, which do not themselves record or pack."""
    packer, unpacker = mode.packers[-1]
    before, packers, mode.on, mode.packers = mode.on, mode.packers, False, ()
    v = t._ver
    then = 0 if v is None else v.n
    try:
        made = Packed(packer, unpacker, t)
    finally:
        mode.on, mode.packers = before, packers
    v = t._ver
    if v is not None and v.n != then:
        raise RuntimeError(errors.PACK_WROTE)
    return made


class saved_tensors_hooks:
    """Inside this context, what ops save goes through `pack_hook`, and comes back through `unpack_hook`.

    Args:
        pack_hook: called with each saved tensor; returns anything.
        unpack_hook: called with what pack_hook returned; returns a tensor of the same value.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with vistorch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), vistorch.from_numpy):
        ...     y = x.detach().exp() * x
        >>> y.sum().backward()
    """

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        self.pair = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        mode.packers = (*mode.packers, self.pair)
        careful()

    def __exit__(self, *exc: object) -> None:
        mode.packers = mode.packers[:-1]
        careful()


def remember(node: Any) -> None:
    """In anomaly mode: keep where the forward call was made, and which backward made it."""
    node.note = {"where": traceback.extract_stack()[:-2], "parent": mode.node}


__all__ = [
    "Leaf",
    "RemovableHandle",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "retain_grad",
    "saved_tensors_hooks",
]
