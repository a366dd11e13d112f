"""TorchScript by name: what decorates a function gives the function; what needs a script says that there is none.

Invariant: importing it is allowed, and a decorated program runs as Python.
"""

from __future__ import annotations

import builtins
import types
import typing
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Final

from vistorch._lazy import unbuilt
from vistorch.engine.base.warn_once import once
from vistorch.engine.library_name import named

_SENTENCE = (
    "vistorch has no TorchScript: jit.script and jit.trace return what they are given, and change nothing."
)
_EMPTY = (
    "The inner type of a container is lost when calling vistorch.jit.isinstance in eager mode. For example, List[int] "
    "would become list and therefore falsely return True for List[float] or List[str]."
)
_BARE: dict[Any, str] = {dict: "dict", list: "list", tuple: "tuple", typing.Optional: "Optional"}
_BARE.update({getattr(typing, name): name for name in ("Dict", "List", "Tuple")})
globals().update(unbuilt("jit"))


def _overload(func: Any) -> Any:
    """One of several signatures of a function, which libraries write for scripts: the function."""
    return func


_overload_method = _overload

_strategy = [("STATIC", 2), ("DYNAMIC", 10)]


class Error(Exception):
    """Errors of scripts: never raised here.

    Example:
        >>> import vistorch
        >>> try:
        ...     vistorch.ones(2) @ vistorch.ones(3)
        ... except vistorch.jit.Error:
        ...     print("an error of a script")
        ... except RuntimeError:
        ...     print("an error of Python")
        an error of Python
    """


def script(obj: Any, optimize: Any = None, **options: Any) -> Any:
    """Gives `obj` itself, and says so once.

    Args:
        obj: a function, class or module.
        optimize: changes nothing.
        **options: change nothing.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it says once that nothing changes
        ...     @vistorch.jit.script
        ...     def double(x):
        ...         return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """
    once(_SENTENCE)
    return obj


def trace(func: Any, example_inputs: Any = None, *args: Any, **options: Any) -> Any:
    """Gives `func` itself, and says so once.

    Args:
        func: a function or module.
        example_inputs: not used.
        *args: change nothing.
        **options: change nothing.

    Example:
        >>> import vistorch, warnings
        >>> model = vistorch.nn.ReLU()
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it says once that nothing changes
        ...     vistorch.jit.trace(model, vistorch.ones(2)) is model
        True
    """
    once(_SENTENCE)
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **options: Any) -> Any:
    """Gives the module itself, and says so once.

    Example:
        >>> import vistorch, warnings
        >>> model = vistorch.nn.ReLU()
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.jit.trace_module(model, {"forward": vistorch.ones(2)}) is model
        True
    """
    once(_SENTENCE)
    return mod


def script_if_tracing(fn: Callable) -> Callable:
    """Gives the function itself: nothing is traced.

    Example:
        >>> import vistorch
        >>> @vistorch.jit.script_if_tracing
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """
    return fn


class TracerWarning(Warning):
    """What tracing would warn about: never, because nothing is traced.

    Example:
        >>> import vistorch, warnings
        >>> warnings.filterwarnings("ignore", category=vistorch.jit.TracerWarning)
    """


export = script_method = interface = script_if_tracing


def ignore(drop: Any = False, **options: Any) -> Any:
    """Gives the function itself: nothing is scripted. With or without brackets.

    Example:
        >>> import vistorch
        >>> @vistorch.jit.ignore(drop=True)
        ... def double(x):
        ...     return x * 2
        >>> double(3)
        6
    """
    return drop if callable(drop) else (lambda fn: fn)


def unused(fn: Callable) -> Callable:
    """Gives the function itself: nothing is scripted.

    Example:
        >>> import vistorch
        >>> @vistorch.jit.unused
        ... def double(x):
        ...     return x * 2
        >>> double(3)
        6
    """
    return fn


def freeze(mod: Any, *args: Any, **options: Any) -> Any:
    """Gives the module itself, and says so once.

    Example:
        >>> import vistorch, warnings
        >>> model = vistorch.nn.ReLU().eval()
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.jit.freeze(model) is model
        True
    """
    once(_SENTENCE)
    return mod


optimize_for_inference = freeze


def annotate(the_type: Any, the_value: Any) -> Any:
    """Gives the value.

    Example:
        >>> import vistorch
        >>> vistorch.jit.annotate(list[int], [])
        []
    """
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type: of `list[int]`, say, if it is a list and all that is in it are ints.

    Args:
        obj: any object.
        target_type: a type, also of lists, dicts or tuples of others, or a union or tuple of types.

    Example:
        >>> import vistorch
        >>> vistorch.jit.isinstance([1, 2], list[int]), vistorch.jit.isinstance([1, 2.5], list[int])
        (True, False)
        >>> vistorch.jit.isinstance({"a": (1, "b")}, dict[str, tuple[int, str]])
        True
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    if (name := _BARE.get(target_type)) is not None:
        some = "contained types. Please add" if name.endswith("ict") else "a contained type. Please add a"
        inner = "int, int" if name.endswith("ict") else "int"
        raise RuntimeError(f"Attempted to use {name} without {some} contained type, e.g. {name}[{inner}]")
    kind, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if kind is None:
        return builtins.isinstance(obj, target_type)
    if kind is typing.Union or kind is types.UnionType:
        return obj is None or any(isinstance(obj, one) for one in inner)
    if kind not in (list, dict, tuple):
        return False
    if builtins.isinstance(obj, list | dict | tuple) and not obj:
        warnings.warn(named(_EMPTY), stacklevel=2)
    if not builtins.isinstance(obj, kind):
        return False
    if kind is tuple:
        return len(obj) == len(inner) and all(map(isinstance, obj, inner))
    if kind is list:
        return all(isinstance(one, inner[0]) for one in obj)
    table: Any = obj
    return all(isinstance(key, inner[0]) and isinstance(value, inner[1]) for key, value in table.items())


def is_scripting() -> bool:
    """False."""
    return False


is_tracing = is_scripting


def fork(func: Callable, *args: Any, **kwargs: Any) -> Any:
    """Call the function at once; `wait` gives what it gave.

    Args:
        func: what to call.
        *args: its arguments.
        **kwargs: more of them.

    Example:
        >>> import vistorch
        >>> future = vistorch.jit.fork(lambda x: x + 1, 2)
        >>> vistorch.jit.wait(future)
        3
    """
    return func(*args, **kwargs)


def wait(future: Any) -> Any:
    """What `fork` gave.

    Args:
        future: what `fork` returned.

    Example:
        >>> import vistorch
        >>> vistorch.jit.wait(vistorch.jit.fork(sum, [1, 2]))
        3
    """
    return future


def enable_onednn_fusion(enabled: bool) -> None:
    """Changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.jit.enable_onednn_fusion(True)
        >>> vistorch.jit.onednn_fusion_enabled()
        False
    """


def onednn_fusion_enabled() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.jit.onednn_fusion_enabled()
        False
    """
    return False


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Remembered; gives what was set before.

    Args:
        strategy: pairs of "STATIC" or "DYNAMIC" and a number.

    Example:
        >>> import vistorch
        >>> before = vistorch.jit.set_fusion_strategy([("DYNAMIC", 3)])
        >>> before
        [('STATIC', 2), ('DYNAMIC', 10)]
        >>> vistorch.jit.set_fusion_strategy(before)
        [('DYNAMIC', 3)]
    """
    before, _strategy[:] = _strategy[:], strategy
    return before


@contextmanager
def optimized_execution(should_optimize: bool) -> Any:
    """Changes nothing."""
    yield


@contextmanager
def fuser(name: str) -> Any:
    """Changes nothing."""
    yield


class strict_fusion:
    """Accepted as a `with` block; changes nothing.

    Example:
        >>> import vistorch
        >>> with vistorch.jit.strict_fusion():
        ...     vistorch.ones(2) * 2 + 1
        tensor([3., 3.])
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass
