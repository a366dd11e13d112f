"""What a pickle's instructions call, make and change when only weights are loaded.

Invariant: only what is on the allow-list is called, through the function there that checks its arguments; what a
callable that a person trusts raises goes to them as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .allowed import CALLED, is_added
from .budget import budget, refuse

COST = 256  # bytes of what a call makes, roughly


class Foreign(Exception):
    """What a callable that a person trusts has raised: it goes to them as it is."""


def called(function: Any, args: Any) -> Any:
    """What a function on the list returns.

    Args:
        function: what the pickle names.
        args: what it is to be called with.
    """
    if type(args) is not tuple:
        raise refuse(f"arguments must be a tuple, not {type(args).__name__}")
    budget.spend(COST)
    checked = CALLED.get(id(function))
    if checked is not None:
        try:
            return checked(*args)
        except TypeError as error:  # of the number of arguments: the types are checked within
            raise refuse(f"{getattr(function, '__name__', function)} was called wrongly: {error}") from None
        except (ValueError, OverflowError, UnicodeError) as error:
            raise refuse(str(error)) from None
    if is_added(function):
        try:
            return function(*args)
        except Exception as error:
            raise Foreign(error) from error
    raise refuse(f"Trying to call reduce for unrecognized function {shown(function)}")


def instance(cls: Any, args: Any) -> Any:
    """An instance of a class that a person trusts, as pickle makes one.

    Args:
        cls: what the pickle names.
        args: what its `__new__` gets.
    """
    if not (is_added(cls) and isinstance(cls, type)):
        raise refuse(
            "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
            f"{shown(cls)}"
        )
    budget.spend(COST)
    try:
        return cls.__new__(cls, *args)
    except Exception as error:
        raise Foreign(error) from error


def give_state(made: Any, state: Any) -> None:
    """Give an object its state, if it is one that may get one.

    Args:
        made: the object.
        state: what the pickle gives it.
    """
    kind = type(made)
    if kind is OrderedDict:
        if type(state) is not dict or not all(type(name) is str for name in state):
            raise refuse("the attributes of an OrderedDict must be a dict")
        if any(hasattr(OrderedDict, name) for name in state):
            raise refuse("an attribute of an OrderedDict would hide one of its own")
        budget.spend(100 * len(state))
        made.__dict__.update(state)
    elif is_added(kind):
        try:
            _set_state(made, state)
        except Exception as error:
            raise Foreign(error) from error
    else:
        raise refuse(
            "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
            f"{shown(kind)}"
        )


def _set_state(made: Any, state: Any) -> None:
    """What pickle does with the state of an instance, here of a class that a person trusts."""
    own = getattr(made, "__setstate__", None)
    if own is not None:
        own(state)
        return
    slots = None
    if type(state) is tuple and len(state) == 2:
        state, slots = state
    if state:
        made.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(made, name, value)


def shown(thing: Any) -> str:
    """A value in a sentence, without a `repr` of what came out of the file.

    Args:
        thing: the value.
    """
    if isinstance(thing, type) or callable(thing):
        return repr(thing)[:100]
    return f"a {type(thing).__name__}"
