"""`__torch_function__`: classes and modes that are asked before every function.

Public functions and methods are replaced by ones that ask: while a mode is entered, and from the moment on at which a
program makes a class that wants to be asked, for good. Invariant: until then no call is slower.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from vistorch._lazy import unbuilt
from vistorch.engine.base.device import device
from vistorch.engine.base.dtypes import dtype
from vistorch.engine.base.size import Size
from vistorch.engine.core.registry import FUNCTIONS, METHODS
from vistorch.engine.core.tensor import Tensor
from vistorch.engine.library_name import library

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
    """Whether one of the arguments has a `__torch_function__` to be asked.

    Args:
        relevant_args: the arguments.

    Example:
        >>> import vistorch
        >>> class Mine:
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         return func
        >>> vistorch.overrides.has_torch_function((Mine(), 2))
        True
        >>> vistorch.overrides.has_torch_function((vistorch.ones(1), 2))
        False
    """
    return not _state.off and any(_is_asked(type(one)) for one in relevant_args)


def has_torch_function_unary(tensor: Any) -> bool:
    """Whether an argument has a `__torch_function__` to be asked.

    Example:
        >>> import vistorch
        >>> vistorch.overrides.has_torch_function_unary(vistorch.ones(1))
        False
    """
    return has_torch_function((tensor,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """Whether one of the arguments has a `__torch_function__` to be asked.

    Example:
        >>> import vistorch
        >>> vistorch.overrides.has_torch_function_variadic(vistorch.ones(1), 2)
        False
    """
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Ask the arguments for the result of a function.

    Args:
        public_api: the function.
        relevant_args: which of the arguments are asked.
        *args: its arguments.
        **kwargs: these too.

    Example:
        >>> import vistorch
        >>> class Mine:
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         return func.__name__
        >>> vistorch.overrides.handle_torch_function(len, (Mine(),), 3)
        'len'
    """
    relevant = tuple(relevant_args)
    out = _ask(public_api, _in_order(one for one in relevant if _is_asked(type(one))), args, kwargs)
    if out is NotImplemented:
        kinds = list(dict.fromkeys(type(one) for one in relevant if _is_asked(type(one))))
        name = f"{public_api.__module__}.{public_api.__name__}"
        raise TypeError(
            f"no implementation found for '{name}' on types that implement __torch_function__: {kinds}"
        )
    return out


def get_default_nowrap_functions() -> set:
    """The functions whose results stay plain tensors in a subclass that has no `__torch_function__` of its own.

    Example:
        >>> import vistorch
        >>> vistorch.Tensor.grad.__get__ in vistorch.overrides.get_default_nowrap_functions()
        True
    """
    return {vars(Tensor)[name].__get__ for name in ("grad",)}


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
    """A decorator: the function asks its arguments first.

    Args:
        dispatcher: takes what the function takes, and gives the arguments that are asked.

    Example:
        >>> import vistorch
        >>> @vistorch.overrides.wrap_torch_function(lambda x: (x,))
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def asking(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(asking, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asking

    return decorate


# ---- classes -------------------------------------------------------------------------------------------------------
class _State(threading.local):
    """What a thread is in: modes, innermost last, and blocks in which no class, or nothing, is asked."""

    def __init__(self) -> None:
        self.modes: list[Any] = []
        self.off = 0
        self.silent = 0
        self.running: Any = None


_state = _State()


def disabled(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """As a class's `__torch_function__`: it is not asked, and results are plain tensors.

    Args:
        func: the function.
        types: of the arguments.
        args: the arguments.
        kwargs: these too.

    Example:
        >>> import vistorch
        >>> disabled(vistorch.neg, (), (vistorch.ones(1),))
        tensor([-1.])
    """
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """A `with` block in which no class is asked.

    Example:
        >>> import vistorch
        >>> with DisableTorchFunctionSubclass():
        ...     vistorch.ones(1) + 1
        tensor([2.])
    """

    __module__ = "vistorch._C"

    def __enter__(self) -> None:
        _state.off += 1

    def __exit__(self, *exc: object) -> None:
        _state.off -= 1


class DisableTorchFunction:
    """A `with` block in which neither classes nor modes are asked.

    Example:
        >>> import vistorch
        >>> with DisableTorchFunction():
        ...     vistorch.ones(1) + 1
        tensor([2.])
    """

    __module__ = "vistorch._C"

    def __enter__(self) -> None:
        _state.off += 1
        _state.silent += 1

    def __exit__(self, *exc: object) -> None:
        _state.off -= 1
        _state.silent -= 1


_PYTORCHS = ("torch", "torch._tensor", "torch._C")
_PLAIN = frozenset(
    (Tensor, int, float, bool, complex, str, slice, type(None), type(...), dtype, device, Size)
)


def _is_asked(kind: type) -> bool:
    asked = getattr(kind, "__torch_function__", None)
    if asked is None or asked is disabled or kind is Tensor:
        return False
    if not issubclass(kind, Tensor) and any(base.__module__ in _PYTORCHS for base in kind.__mro__):
        return False  # PyTorch's own tensors know PyTorch's functions
    return getattr(asked, "__func__", None) is not _by_default or not _is_ours(kind)


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("vistorch", library.name)


def _asked(args: tuple, kwargs: dict) -> list[Any]:
    """The arguments that are to be asked, also those in a list: subclasses before what they are made of."""
    found = []
    for one in (*args, *kwargs.values()) if kwargs else args:
        kind = type(one)
        if kind in _PLAIN:
            continue
        if kind is tuple or kind is list:
            found += [part for part in one if type(part) not in _PLAIN and _is_asked(type(part))]
        elif _is_asked(kind):
            found.append(one)
    return found if len(found) < 2 else _in_order(found)


def _in_order(objects: Iterable[Any]) -> list[Any]:
    """One object of each class, subclasses first."""
    found: list[Any] = []
    for one in objects:
        kind = type(one)
        if any(type(other) is kind for other in found):
            continue
        at = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
        found.insert(at, one)
    return found


def _ask(function: Any, objects: list[Any], args: tuple, kwargs: dict) -> Any:
    kinds = tuple(type(one) for one in objects)
    for one in objects:
        out = one.__torch_function__(function, kinds, args, kwargs)
        if out is not NotImplemented:
            return out
    return NotImplemented


def _by_default(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What a subclass of Tensor does that says nothing else: the function, and its tensors as the subclass."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    if _state.running is func:  # a function that asks, and is no function of ours
        return NotImplemented
    before, _state.running = _state.running, func
    try:
        with DisableTorchFunctionSubclass():
            return _converted(func(*args, **(kwargs or {})), cls)
    finally:
        _state.running = before


def _converted(out: Any, cls: type) -> Any:
    if cls is Tensor:
        return out
    if isinstance(out, Tensor):
        return out if isinstance(out, cls) else METHODS["as_subclass"](out, cls)
    if isinstance(out, (tuple, list)) and not isinstance(out, Size):
        parts = [_converted(part, cls) for part in out]
        make: Any = getattr(out, "_make", type(out))  # a named tuple has one argument for each part
        return make(parts)
    if isinstance(out, Iterator):
        return (_converted(part, cls) for part in out)
    return out


_lasting: set[str] = set()  # the classes, by name, that are asked for good
_given: list[type] = []  # classes of ours that have a `__torch_function__` since


def _give(cls: type, function: Any) -> None:
    cls.__torch_function__ = function  # type: ignore[attr-defined]
    _given.append(cls)


def notice(cls: type) -> None:
    """Ask a class from now on, if it is to be asked; for a subclass of Tensor, Tensor does this by itself.

    Args:
        cls: the class.
    """
    global _entered
    if _is_ours(cls):
        return
    if not _lasting and not _given:
        for one in type.__subclasses__(Tensor):
            if _is_ours(one) and "__torch_function__" not in vars(one):
                _give(one, staticmethod(disabled))
        _give(Tensor, classmethod(_by_default))
    if not _is_asked(cls):
        return
    with _lock:
        if not _lasting:
            if _entered == 0:
                _replace()
            _entered += 1
        _lasting.add(f"{cls.__module__}.{cls.__qualname__}")


def forget() -> None:
    """Ask no class any more, as before the first was made."""
    global _entered
    with _lock:
        if _lasting:
            _lasting.clear()
            _entered -= 1
            if _entered == 0:
                _restore()
        for cls in _given:
            del cls.__torch_function__  # type: ignore[attr-defined]
        _given.clear()


# ---- modes ---------------------------------------------------------------------------------------------------------
_lock = threading.Lock()
_entered = 0
_replaced: list[tuple[Any, str, Any]] = []
_KEPT = frozenset(
    """
    __class__ __delattr__ __dir__ __doc__ __format__ __getattribute__ __getstate__ __hash__ __init__ __init_subclass__
    __module__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __setstate__ __sizeof__ __slots__ __str__
    __subclasshook__ __weakref__ __dict__ __array__ __array_priority__ __deepcopy__ __del__ __iter__
    __torch_function__ as_subclass new new_tensor stride
    """.split()
)
# What classes are asked for and modes are not.
_CLASSES_ALONE = frozenset(
    "__repr__ __deepcopy__ __reduce_ex__ __format__ __array__ __iter__ __setstate__".split()
)
_GETTERS = "T mT H mH real imag data".split()  # properties that give tensors
_OPERATORS = {name: name for name in "add sub mul matmul eq ne lt le gt ge neg abs pow".split()}
_OPERATORS.update(
    radd="add", rmul="mul", truediv="div", iadd="add_", isub="sub_", imul="mul_", itruediv="div_"
)
_OPERATORS.update({"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not"})
_PLACES = ("", "linalg", "fft", "special", "nn.functional")


def _stack_length() -> int:
    return len(_state.modes)


class _Seen:
    """A public function while modes or classes are asked before it. It equals the function it stands for."""

    def __init__(self, function: Any, name: str, where: str, modes: bool = True) -> None:
        self.function, self.where, self.modes = function, where, modes
        self.__name__ = self.__qualname__ = name
        self.__module__ = getattr(function, "__module__", __name__)
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        modes = _state.modes
        if modes and self.modes and not _state.silent:
            mode = modes.pop()
            try:
                kinds = tuple({type(a) for a in args if isinstance(a, Tensor) and type(a) is not Tensor})
                return mode.__torch_function__(self, kinds, args, kwargs)
            finally:
                modes.append(mode)
        if _lasting and not _state.off and (objects := _asked(args, kwargs)):
            out = _ask(self, objects, args, kwargs)
            if (
                out is not NotImplemented or ".__" in self.where
            ):  # an operator: the other operand has its turn
                return out
            kinds = "".join(f"\n  - tensor subclass {type(one)}" for one in objects)
            raise TypeError(
                f"Multiple dispatch failed for '{self.where}'; all __torch_function__ handlers returned "
                f"NotImplemented:\n{kinds}"
            )
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        # By the function's own name where that gives this one, as the function itself is pickled.
        own = getattr(sys.modules.get(self.__module__), self.__qualname__, None) is self
        return self.__qualname__ if own else (_public, (self.where,))

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __copy__(self) -> Any:
        return self

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

    def put(holder: Any, name: str, value: Any, shown: str = "", modes: bool = True) -> None:
        if id(value) not in made:
            made[id(value)] = _Seen(value, shown or name, f"{_name_of(holder)}.{name}", modes)
        elif holder is not Tensor and ".Tensor." in made[id(value)].where:
            made[id(value)].where = f"{_name_of(holder)}.{name}"
        _replaced.append((holder, name, value))
        setattr(holder, name, made[id(value)])

    for name, value in list(vars(Tensor).items()):
        if name not in _KEPT and (not name.startswith("_") or name.startswith("__")) and callable(value):
            if not isinstance(value, (type, staticmethod, classmethod)):
                plain = name.strip("_") if name.startswith("__") else name
                put(Tensor, name, value, _OPERATORS.get(plain, name))
        elif name in _CLASSES_ALONE and callable(value):
            put(Tensor, name, value, modes=False)
        elif name in _GETTERS and isinstance(value, property):
            getter = _Seen(value.fget, "__get__", f"torch.Tensor.{name}.__get__", modes=False)
            _replaced.append((Tensor, name, value))
            setattr(Tensor, name, property(getter, value.fset, value.fdel, value.__doc__))
    for place in _PLACES:
        module = importlib.import_module(f"vistorch.{place}" if place else "vistorch")
        for name, value in list(vars(module).items()):
            if name.startswith("_") or isinstance(value, (type, types.ModuleType)) or not callable(value):
                continue
            if place != "" or name in FUNCTIONS:
                put(module, name, value, f"{place}_{name}" if place in ("linalg", "fft", "special") else name)


def _name_of(holder: Any) -> str:
    name = "vistorch.Tensor" if holder is Tensor else holder.__name__
    return name.replace("vistorch", library.name, 1)


def _public(where: str) -> Any:
    """A function by its name, as a pickle keeps it."""
    path, _, name = where.rpartition(".")
    _, _, inside = path.partition(".")
    holder = (
        Tensor
        if inside == "Tensor"
        else importlib.import_module(f"vistorch.{inside}" if inside else "vistorch")
    )
    return getattr(holder, name)


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
        _state.modes.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        global _entered
        _state.modes.pop()
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
