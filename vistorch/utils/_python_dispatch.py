"""Modes that see every op: `TorchDispatchMode`, over the engine's own events.

Invariant: an op is seen after it has run; a mode looks at it and cannot put another result in its place.
"""

from __future__ import annotations

from typing import Any

from ..engine.base.events import Listener
from ..engine.core.tensor import Tensor

__all__ = ["OpSeen", "TorchDispatchMode", "is_traceable_wrapper_subclass", "return_and_correct_aliasing"]


class OpSeen:
    """An op as a mode gets it: calling it gives the result that the op had.

    Args:
        name: the op's name.
        result: what it gave.
    """

    namespace = "aten"

    def __init__(self, name: str, result: Any) -> None:
        self.op, self.result = name, result
        self.__name__ = f"{name}.default"
        self.overloadpacket = f"aten.{name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.result

    def name(self) -> str:
        """The op's name in full."""
        return f"aten::{self.op}"

    def __str__(self) -> str:
        return f"aten.{self.op}.default"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self.op}', overload='default')>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpSeen) and other.op == self.op

    def __hash__(self) -> int:
        return hash(self.op)


class TorchDispatchMode(Listener):
    """A `with` block in which `__torch_dispatch__` is called for every op of the engine.

    Example:
        >>> import vistorch
        >>> from vistorch.utils._python_dispatch import TorchDispatchMode
        >>> class Names(TorchDispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         print(func)
        ...         return func(*args, **(kwargs or {}))
        >>> with Names():
        ...     y = vistorch.ones(2).exp() * 2
        aten.exp.default
        aten.mul.default
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._inside = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What is called for an op; a subclass has its own."""
        raise NotImplementedError(f"{type(self).__name__} has no __torch_dispatch__")

    def op(self, rule: Any, ins: Any, consts: Any, outs: Any) -> None:
        """Hand an op of the engine on."""
        if self.__dict__.get("_inside"):  # what a mode computes itself
            return
        result = outs[0] if len(outs) == 1 else tuple(outs)
        self._inside = True
        try:
            kinds = tuple({type(x) for x in ins if isinstance(x, Tensor) and type(x) is not Tensor})
            given = self.__torch_dispatch__(OpSeen(rule.name, result), kinds, (*ins, *consts), {})
        finally:
            self._inside = False
        if given is not result and given is not None:
            raise NotImplementedError(
                f"{type(self).__name__} gave another result for {rule.name}: a mode sees what an op gave, and cannot "
                "replace it; use overrides.TorchFunctionMode for that"
            )


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor is a wrapper of others.

    Args:
        t: anything.
    """
    return isinstance(t, Tensor) and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Gives the result: nothing is wrapped here.

    Args:
        func: the op.
        args: its arguments.
        kwargs: more of them.
        out: the result.
    """
    return out
