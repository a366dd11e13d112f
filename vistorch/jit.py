"""TorchScript by name: what decorates a function gives the function; what needs a script says that there is none.

Invariant: importing it is allowed, and a decorated program runs as Python.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Final  # noqa: F401  programs annotate with `torch.jit.Final`

from .compat.said import once, unbuilt

_WHY = "vistorch has no TorchScript; save the state_dict."
_SENTENCE = (
    "vistorch has no TorchScript: jit.script and jit.trace return what they are given, and change nothing."
)
globals().update(
    unbuilt(
        "vistorch.jit",
        _WHY,
        "save load export_opnames",
        "CompilationUnit ScriptFunction ScriptModule Attribute Future",
    )
)


class Error(RuntimeError):
    """Errors of scripts: never raised here."""


def script(obj: Any, optimize: Any = None, **options: Any) -> Any:
    """Gives `obj` itself, and says so once.

    Args:
        obj: a function, class or module.
        optimize: changes nothing.
        **options: change nothing.
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
    """
    once(_SENTENCE)
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **options: Any) -> Any:
    """Gives the module itself, and says so once."""
    once(_SENTENCE)
    return mod


def script_if_tracing(fn: Callable) -> Callable:
    """Gives the function itself: nothing is traced."""
    return fn


export = script_method = interface = script_if_tracing


def ignore(drop: Any = False, **options: Any) -> Any:
    """Gives the function itself: nothing is scripted. With or without brackets."""
    return drop if callable(drop) else (lambda fn: fn)


def unused(fn: Callable) -> Callable:
    """Gives the function itself: nothing is scripted."""
    return fn


def freeze(mod: Any, *args: Any, **options: Any) -> Any:
    """Gives the module itself, and says so once."""
    once(_SENTENCE)
    return mod


optimize_for_inference = freeze


def annotate(the_type: Any, the_value: Any) -> Any:
    """Gives the value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's own `isinstance`, for plain types."""
    return builtins.isinstance(obj, target_type)


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
    """Changes nothing."""


def onednn_fusion_enabled() -> bool:
    """False."""
    return False


def set_fusion_strategy(strategy: Any) -> Any:
    """Changes nothing."""
    return strategy


@contextmanager
def optimized_execution(should_optimize: bool) -> Any:
    """Changes nothing."""
    yield


@contextmanager
def fuser(name: str) -> Any:
    """Changes nothing."""
    yield


class strict_fusion:
    """Accepted as a `with` block; changes nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass
