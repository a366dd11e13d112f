"""Modes that are asked before every function, and tensor-like objects: of objects, vistorch asks a Tensor only.

Invariant: outside of a mode no call is slower; the `__torch_function__` of an object is not asked.
"""

from __future__ import annotations

import importlib
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any

from vistorch._lazy import unbuilt
from vistorch.engine.core.registry import FUNCTIONS
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
    """False: overrides are not asked.

    Example:
        >>> import vistorch
        >>> vistorch.overrides.has_torch_function_variadic(vistorch.ones(1), 2)
        False
    """
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


# ---- modes ---------------------------------------------------------------------------------------------------------
class _Stack(threading.local):
    """The modes that a thread has entered, innermost last."""

    def __init__(self) -> None:
        self.modes: list[Any] = []


_stack = _Stack()
_lock = threading.Lock()
_entered = 0
_replaced: list[tuple[Any, str, Any]] = []
_KEPT = frozenset(
    """
    __class__ __delattr__ __dir__ __doc__ __format__ __getattribute__ __getstate__ __hash__ __init__ __init_subclass__
    __module__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __setstate__ __sizeof__ __slots__ __str__
    __subclasshook__ __weakref__ __dict__ __array__ __array_priority__ __deepcopy__ __del__ __iter__
    """.split()
)
_OPERATORS = {name: name for name in "add sub mul matmul eq ne lt le gt ge neg abs pow".split()}
_OPERATORS.update(
    radd="add", rmul="mul", truediv="div", iadd="add_", isub="sub_", imul="mul_", itruediv="div_"
)
_OPERATORS.update({"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not"})
_PLACES = ("", "linalg", "fft", "special", "nn.functional")


def _stack_length() -> int:
    return len(_stack.modes)


class _Seen:
    """A public function while modes are entered: they are asked first. It equals the function it stands for."""

    def __init__(self, function: Any, name: str) -> None:
        self.function = function
        self.__name__ = self.__qualname__ = name
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        modes = _stack.modes
        if not modes:
            return self.function(*args, **kwargs)
        mode = modes.pop()
        try:
            kinds = tuple({type(a) for a in args if isinstance(a, Tensor) and type(a) is not Tensor})
            return mode.__torch_function__(self, kinds, args, kwargs)
        finally:
            modes.append(mode)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __eq__(self, other: object) -> bool:
        return self.function is (other.function if isinstance(other, _Seen) else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


def _replace() -> None:
    """Put what asks the modes in the place of every public function and method."""
    made: dict[int, _Seen] = {}

    def put(holder: Any, name: str, value: Any, shown: str = "") -> None:
        if id(value) not in made:
            made[id(value)] = _Seen(value, shown or name)
        _replaced.append((holder, name, value))
        setattr(holder, name, made[id(value)])

    for name, value in list(vars(Tensor).items()):
        if name not in _KEPT and (not name.startswith("_") or name.startswith("__")) and callable(value):
            if not isinstance(value, (type, staticmethod, classmethod)):
                plain = name.strip("_") if name.startswith("__") else name
                put(Tensor, name, value, _OPERATORS.get(plain, name))
    for place in _PLACES:
        module = importlib.import_module(f"vistorch.{place}" if place else "vistorch")
        for name, value in list(vars(module).items()):
            if name.startswith("_") or isinstance(value, (type, types.ModuleType)) or not callable(value):
                continue
            if place != "" or name in FUNCTIONS:
                put(module, name, value, f"{place}_{name}" if place in ("linalg", "fft", "special") else name)


def _restore() -> None:
    for holder, name, value in reversed(_replaced):
        setattr(holder, name, value)
    _replaced.clear()


class TorchFunctionMode:
    """A `with` block in which `__torch_function__` is called instead of every public function and method.

    A subclass gets the function, the classes of its arguments and the arguments, and gives the result: by calling the
    function, or in any other way. Nothing is slower outside of such a block.

    Example:
        >>> import vistorch
        >>> from vistorch.overrides import TorchFunctionMode
        >>> class Doubled(TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         result = func(*args, **(kwargs or {}))
        ...         return result * 2 if func == vistorch.exp else result
        >>> with Doubled():
        ...     vistorch.exp(vistorch.zeros(2))
        tensor([2., 2.])
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What is called instead; a subclass has its own."""
        raise NotImplementedError(f"{type(self).__name__} has no __torch_function__")

    def __enter__(self) -> Any:
        global _entered
        with _lock:
            if _entered == 0:
                _replace()
            _entered += 1
        _stack.modes.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        global _entered
        _stack.modes.pop()
        with _lock:
            _entered -= 1
            if _entered == 0:
                _restore()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls the function.

    Example:
        >>> import vistorch
        >>> with vistorch.overrides.BaseTorchFunctionMode():
        ...     vistorch.ones(2) + 1
        tensor([2., 2.])
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function."""
        return func(*args, **(kwargs or {}))
