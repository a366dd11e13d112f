"""Hooks: on tensors, on nodes, on what is saved.

Invariant: a hook that returns None changes nothing; what it returns otherwise replaces the gradient, after a check.
"""

from __future__ import annotations

import itertools
import os
import traceback
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from . import errors, graph, type_names
from .accumulate import tensor_of
from .face import public
from .graph import Hooks, more
from .modes import careful, mode
from .record import Packed
from .tensor import Tensor

_ids = itertools.count().__next__
HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away; as a context manager, at its end.

    Args:
        hooks_dict: the dict the hook is in, under `id`. It is held weakly if it can be.
        extra_dict: a further dict (or a list of them) with something under the same id.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, inputs, output: print("called"))
        >>> y = layer(vistorch.ones(1))
        called
        >>> handle.remove()
        >>> y = layer(vistorch.ones(1))
        >>> with layer.register_forward_hook(lambda module, inputs, output: print("called")):
        ...     y = layer(vistorch.ones(1))
        called
    """

    __slots__ = ("__weakref__", "_extra", "_hooks", "id")

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self._hooks = _weakly(hooks_dict)
        extra = () if extra_dict is None else extra_dict if isinstance(extra_dict, list) else (extra_dict,)
        self._extra = tuple([_weakly(d) for d in extra])
        self.id = _ids()

    def remove(self) -> None:
        """Take the hook away; doing so twice is fine."""
        for known in (self._hooks, *self._extra):
            hooks = known()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return self._hooks(), self.id, tuple([known() for known in self._extra])

    def __setstate__(self, state: tuple) -> None:
        global _ids
        hooks, self.id, *extra = state
        self._hooks = _weakly(OrderedDict() if hooks is None else hooks)
        self._extra = tuple([_weakly(d) for d in (extra[0] if extra else None) or () if d is not None])
        _ids = itertools.count(max(_ids(), self.id + 1)).__next__  # no later hook takes this one's place

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def _weakly(hooks: Any) -> Callable:
    try:
        return weakref.ref(hooks)
    except TypeError:  # a plain dict
        return lambda: hooks


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


def follow(t: Tensor) -> None:
    """Let the retained gradient of `t` be that of its newest node."""
    extras = more(t)
    if extras.kept_by is not None:
        extras.kept_by.retained[:] = [r for r in extras.kept_by.retained if r() is not t]
    extras.kept_by = hooks = t._node._hooks()
    hooks.retained.append(weakref.ref(t))


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


def remember(node: Any) -> None:
    """In anomaly mode: keep where the forward call was made, and which backward made it."""
    stack = traceback.extract_stack()
    while stack and stack[-1].filename.startswith(HOME):
        stack.pop()
    node.note = {"where": stack, "parent": mode.node}


__all__ = [
    "RemovableHandle",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "retain_grad",
    "saved_tensors_hooks",
]
