"""`Variable`, from the time when a tensor had no history of its own.

Invariant: a Variable is a Tensor: making one gives a tensor that shares the data, and every tensor is an instance.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..engine.backward.backward_pass import queue_callback
from ..engine.base.warn_once import once, user_level
from ..engine.core.registry import FUNCTIONS, METHODS
from ..engine.core.tensor import Tensor
from ..engine.library_name import library, named
from .volatile import REMOVED, make_volatile

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Makes every tensor an instance of Variable."""

    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, Tensor)


class _Engine:
    """What programs ask of PyTorch's engine object."""

    queue_callback = staticmethod(queue_callback)


class Variable(metaclass=VariableMeta):
    """A tensor that shares the data of another one, without its history.

    Args:
        data: the tensor.
        requires_grad: whether to record what is done with it.
        volatile: record nothing that is computed from it, whatever else requires grad. Warned about: `with
            no_grad():` came in its place.

    Example:
        >>> import vistorch
        >>> from vistorch.autograd import Variable
        >>> Variable(vistorch.ones(2), requires_grad=True)
        tensor([1., 1.], requires_grad=True)
    """

    _execution_engine = _Engine()

    def __new__(  # type: ignore[misc]
        cls,
        data: Any = None,
        requires_grad: bool = False,
        volatile: Any = None,
        _grad_fn: Any = None,
        name: str | None = None,
    ) -> Tensor:
        """See the class."""
        if volatile:
            warnings.warn(named(REMOVED), stacklevel=user_level())
        if data is None:
            data = FUNCTIONS["empty"](0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made = data.detach()
        if volatile:
            make_volatile(made)
        return made.requires_grad_() if requires_grad else made


def variable(*args: Any, **kwargs: Any) -> Any:
    """RuntimeError: PyTorch made it an error long ago.

    Example:
        >>> import vistorch
        >>> vistorch.autograd.variable(1.0)
        Traceback (most recent call last):
            ...
        RuntimeError: vistorch.autograd.variable(...) is deprecated, use vistorch.tensor(...) instead
    """
    raise RuntimeError(f"{library}.autograd.variable(...) is deprecated, use {library}.tensor(...) instead")


class _Creator:
    """The function that made the tensor, None for a leaf: what `grad_fn` was called at first.

    An old-style function is its own node: its instance is given. Warned about once. A value that a program gives a
    tensor under this name comes first.

    Example:
        >>> import vistorch, warnings
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     x.creator, (x * 2).creator.name()
        (None, 'MulBackward0')
    """

    def __get__(self, t: Any, kind: Any = None) -> Any:
        if t is None:
            return self
        once("creator is called grad_fn today.")
        node = t.grad_fn
        return None if node is None else node._creator()


METHODS["creator"] = _Creator()
