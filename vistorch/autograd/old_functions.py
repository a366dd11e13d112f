"""Functions as PyTorch's first versions had them: `forward(self, ...)` and `backward(self, ...)`, an instance called.

Invariant: what the two methods see are plain tensors, of no history, and the instance is the context of its last call
only: earlier calls keep a copy of what the instance held then.
"""

from __future__ import annotations

import inspect
from typing import Any

from ..engine.base import errors
from ..engine.base.warn_once import once
from ..engine.core import graph
from ..engine.core.tensor import Tensor, wrap
from .custom import BackwardCFunction
from .function import Error, Function, barred

NOT_TWICE = (
    "an old-style Function is differentiable only once: write it with static forward(ctx, ...) and "
    "backward(ctx, ...) to differentiate its gradient"
)


def old_style(cls: type) -> bool:
    """Whether a class of functions has a forward for its instances, not a static one."""
    return not isinstance(inspect.getattr_static(cls, "forward"), (staticmethod, classmethod))


def call(function: Any, args: tuple) -> Any:
    """Run the forward of an instance on the arguments and record the call.

    Args:
        function: the instance of an old-style class.
        args: what its forward takes.
    """
    cls = type(function)
    once(
        f"{cls.__name__} is an old-style Function: its forward is not static. It runs as it was written, "
        f"differentiable once; today forward(ctx, ...) and backward(ctx, ...) are static and "
        f"{cls.__name__}.apply(...) calls them."
    )
    return _Call(function).apply(*args)


def _plain(t: Any) -> Any:
    """The same memory without history."""
    if not isinstance(t, Tensor):
        return t
    o = wrap(t._data, t._place)
    v = graph.version(t)
    o._ver = v if v is not graph.UNTRACKED else graph.loose(o)
    return o


class OldNode(BackwardCFunction):
    """The node of a call of an old-style function: its backward gets plain tensors, and is not recorded."""

    __slots__ = ()

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` kept, its versions checked."""
        return tuple([_plain(t) for t in super().saved_tensors])

    def _creator(self) -> Any:
        return self.ctx

    def run(self, g: Any, create_graph: bool) -> list:
        """Call the user's backward; where a graph of the gradient is wanted, one that refuses to be used."""
        grads = g if g.__class__ is list else [g]
        found = super().run([gi._data if isinstance(gi, Tensor) else gi for gi in grads], False)
        if not create_graph:
            return found
        return [
            None if d is None else barred(wrap(d, e.place), _Twice())
            for d, e in zip(found, self.edges, strict=True)
        ]


class _Twice(Error):
    """Raises when the gradient of an old-style function is differentiated."""

    __slots__ = ()
    sentence = NOT_TWICE


class _Call:
    """What `Function.apply` asks of a class, for one call of an instance."""

    setup_context = staticmethod(Function.setup_context)

    def __init__(self, function: Any) -> None:
        self.function, self.__name__ = function, type(function).__name__
        self._backward_cls = _node_class(type(function))

    def apply(self, *args: Any) -> Any:
        """Call the instance, recorded."""
        return Function.apply.__func__(self, *args)  # type: ignore[attr-defined]

    def _ctx_cls(self) -> Any:
        """The instance, free of what its last call left."""
        one = self.function
        node = one._weak() if one._weak is not None else None
        if node is not None and node.ctx is one:
            before = object.__new__(type(one))
            before.__dict__.update(one.__dict__)
            node.ctx = before
        for name in ("_weak", "to_save", "dirty_tensors", "non_differentiable"):
            one.__dict__.pop(name, None)
        return one

    def forward(self, function: Any, *args: Any) -> Any:
        """Run the instance's forward on plain tensors; what it returns or marks of them are the arguments again."""
        given = [_plain(a) for a in args]
        source = {id(p): a for p, a in zip(given, args, strict=True)}
        output = type(function).forward(function, *given)
        for name in ("to_save", "dirty_tensors", "non_differentiable"):
            if isinstance(marked := getattr(function, name), tuple):
                setattr(function, name, tuple([source.get(id(t), t) for t in marked]))
        if isinstance(output, tuple):
            return tuple([source.get(id(o), o) for o in output])
        if not isinstance(output, Tensor):
            raise TypeError(
                f"{self.__name__}.forward must return a tensor or a tuple of them (got {errors.type_name(output)})"
            )
        return source.get(id(output), output)


def _node_class(cls: Any) -> Any:
    """The class of an old-style function's nodes, made at its first call."""
    if "_old_backward_cls" not in cls.__dict__:
        label, home = cls._backward_cls.__name__, cls._backward_cls.__module__
        cls._old_backward_cls = type(
            label, (OldNode,), {"__slots__": (), "forward_cls": cls, "__module__": home}
        )
    return cls._old_backward_cls
