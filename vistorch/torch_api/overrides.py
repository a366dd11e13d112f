"""Tensor-like objects: vistorch asks a Tensor only, and no `__torch_function__`.

Invariant: what looks for overrides finds none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from vistorch._lazy import unbuilt
from vistorch.engine.core.tensor import Tensor

globals().update(unbuilt("overrides"))


def is_tensor_like(inp: object) -> bool:
    """Whether an object is a tensor or has `__torch_function__`.

    Args:
        inp: any object.

    Example:
        >>> import vistorch
        >>> vistorch.overrides.is_tensor_like(vistorch.ones(2))
        True
    """
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """False: overrides are not asked.

    Example:
        >>> import vistorch
        >>> class Mine:
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         return func
        >>> vistorch.overrides.has_torch_function((Mine(),))
        False
    """
    return False


has_torch_function_unary = has_torch_function


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """False: overrides are not asked."""
    return False


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether a function is one of Tensor's.

    Example:
        >>> import vistorch
        >>> from vistorch.overrides import is_tensor_method_or_property
        >>> is_tensor_method_or_property(vistorch.Tensor.backward)
        True
        >>> is_tensor_method_or_property(vistorch.Tensor.shape.__get__)
        True
        >>> is_tensor_method_or_property(vistorch.manual_seed)
        False
    """
    if getattr(func, "__name__", None) == "__get__":  # of a property, as PyTorch takes it
        return True
    return any(func is held for held in vars(Tensor).values())


def wrap_torch_function(dispatcher: Callable) -> Callable:
    """A decorator that gives the function itself.

    Example:
        >>> import vistorch
        >>> @vistorch.overrides.wrap_torch_function(lambda x: (x,))
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """
    return lambda func: func
