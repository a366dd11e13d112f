"""Doors in front of the listed functions, while some thread casts.

A function's name may be held anywhere: in our own modules, in a program that said `from torch import matmul`. So it is
not the names that change but the functions: a function's code object is exchanged for that of a door, which casts
the operands and calls a copy of the function with the code it had. When no thread casts, each function has its own
code again, and autocast costs nothing.

Invariant: a door in a thread that does not cast, and a function called from within a door, change nothing.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

from ..engine.tensor import Tensor
from .cast import passing
from .lists import rules

_found: list[tuple[Any, types.CodeType, types.CodeType]] | None = None


def _template(*args, **kwargs):
    door = "the door"  # a constant, in whose place each door puts its own function
    return door(args, kwargs)  # type: ignore[operator]


def _behind(function: Any, code: types.CodeType) -> Any:
    """A copy of a function as it is now, for the door to call."""
    copy = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _door(function: Any, rule: dict[str, str]) -> tuple[Any, types.CodeType, types.CodeType]:
    """The function, its own code, and the code of its door."""
    own: types.CodeType = function.__code__
    through: Callable = passing(_behind(function, own), rule)
    plain = _template.__code__
    door = plain.replace(
        co_consts=tuple(through if const == "the door" else const for const in plain.co_consts),
        co_freevars=own.co_freevars,  # a function's code must have as many as the function has cells
        co_name=own.co_name,
    )
    return function, own, door


def _functions(name: str) -> list[Any]:
    """All functions that a name of the lists stands for."""
    room, _, last = name.rpartition(".")
    rooms = [room] if room else ["", "nn.functional", "_VF"]
    holders = [sys.modules.get(f"vistorch.{room}" if room else "vistorch") for room in rooms]
    if not room:
        holders.append(Tensor)  # type: ignore[arg-type]
    else:
        holders = [importlib.import_module(f"vistorch.{room}")]
    held = [vars(holder).get(last) for holder in holders if holder is not None]
    return [one for one in held if isinstance(one, types.FunctionType)]


def _find() -> list[tuple[Any, types.CodeType, types.CodeType]]:
    importlib.import_module("vistorch.nn.functional")
    by_function: dict[Any, dict[str, str]] = {}
    for name, rule in rules().items():
        for function in _functions(name):
            by_function.setdefault(function, {}).update(rule)
    return [_door(function, rule) for function, rule in by_function.items()]


def place() -> None:
    """Put the doors up."""
    global _found
    if _found is None:
        _found = _find()
    for function, _, door in _found:
        function.__code__ = door


def remove() -> None:
    """Take them away."""
    for function, own, _ in _found or ():
        function.__code__ = own
