"""The functions that autocast's lists name, wherever they stand, and what it does with a call of one.

Invariant: only a thread that casts runs anything here that matters; in another one a listed function goes on as ever.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from ..engine.base.casting import casting
from ..engine.core.tensor import Tensor
from .cast import CHANGES, is_here
from .lists import rules
from .thread import thread

Rule = tuple[tuple[str, Callable], ...]  # for a kind of device: how it changes the arguments
_rules: dict[Any, Rule] = {}


def functions(name: str) -> list[Any]:
    """All functions that a name of the lists stands for."""
    module, _, last = name.rpartition(".")
    if module:
        holders: list[Any] = [importlib.import_module(f"vistorch.{module}")]
    else:
        importlib.import_module("vistorch.nn.functional")
        holders = [sys.modules["vistorch"], sys.modules["vistorch.nn.functional"], Tensor]
        holders.append(sys.modules.get("vistorch._VF"))
    held = [vars(holder).get(last) for holder in holders if holder is not None]
    held = [getattr(one, "function", one) for one in held]  # of one that asks classes first (`overrides`)
    return [one for one in held if isinstance(one, types.FunctionType)]


def listed() -> dict[Any, Rule]:
    """The rule of each listed function; looked for once."""
    if not _rules:
        merged: dict[Any, dict[str, str]] = {}
        for name, rule in rules().items():
            for function in functions(name):
                merged.setdefault(function, {}).update(rule)
        _rules.update(
            {
                function: tuple([(device, CHANGES[change]) for device, change in rule.items()])
                for function, rule in merged.items()
            }
        )
    return _rules


def switch(on: bool) -> None:
    """Let listed functions ask from now on, or no longer."""
    if on:
        listed()
    casting.on = _asked if on else None


def _asked(function: Any, given: dict[str, Any]) -> tuple | None:
    """What a listed function gets for its question (see `engine/base/casting.py`)."""
    enabled = thread.enabled
    rule = _rules.get(function)
    if not enabled or rule is None or given.get("out") is not None:
        return None
    args, kwargs = _arguments(function, given)
    for device, change in rule:
        if device in enabled and is_here(args, kwargs, device):
            args, kwargs = change(device, args, kwargs)
            # Inside, the operands are what they should be: nothing is cast again for this kind of device.
            thread.enabled = tuple(other for other in enabled if other != device)
            try:
                return (function(*args, **kwargs),)
            finally:
                thread.enabled = enabled
    return None


def _arguments(function: Any, given: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments of a call, from the local variables it began with: by name where that is possible."""
    code = function.__code__
    names = code.co_varnames
    plain = code.co_argcount
    last = plain + code.co_kwonlyargcount
    kwargs = {name: given[name] for name in names[plain:last]}
    many = code.co_flags & inspect.CO_VARARGS
    by_position = plain if many else code.co_posonlyargcount
    args = tuple([given[name] for name in names[:by_position]])
    kwargs.update({name: given[name] for name in names[by_position:plain]})
    if many:
        args += given[names[last]]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs.update(given[names[last + bool(many)]])
    return args, kwargs
