"""What vistorch says about names that it accepts, or has not built.

Invariant: a sentence that changes nothing is said once in a process, at the user's line; a refusal is said each time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..engine.bygone import user_level

_said: set[str] = set()


def once(sentence: str) -> None:
    """Warn, the first time only."""
    if sentence not in _said:
        _said.add(sentence)
        warnings.warn(sentence, UserWarning, stacklevel=user_level())


def unbuilt(room: str, why: str, functions: str = "", classes: str = "") -> dict[str, Any]:
    """The names of a room that vistorch has only by name: each says so in one sentence when it is used.

    Args:
        room: the module they are in.
        why: the rest of the sentence: what to do instead.
        functions: names, separated by blanks.
        classes: names of classes; making one, or a class of one's own from it, is allowed only as far as Python
            needs to define it.
    """
    made: dict[str, Any] = {name: _function(room, name, why) for name in functions.split()}
    made.update({name: _class(room, name, why) for name in classes.split()})
    return made


_DOC = """Not built: {why}

Example:
    >>> import {room}
    >>> {room}.{name}()
    Traceback (most recent call last):
        ...
    NotImplementedError: {room}.{name} is not built: {why}
"""


def refusal(name: str, why: str) -> NotImplementedError:
    """The error of a name that is not built."""
    return NotImplementedError(f"{name} is not built: {why}")


def _function(room: str, name: str, why: str) -> Callable:
    def call(*args: Any, **kwargs: Any) -> Any:
        raise refusal(f"{room}.{name}", why)

    call.__name__ = call.__qualname__ = name
    call.__module__ = room
    call.__doc__ = _DOC.format(room=room, name=name, why=why)
    return call


def _class(room: str, name: str, why: str) -> type:
    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        raise refusal(f"{room}.{name}", why)

    return type(
        name,
        (),
        {"__init__": start, "__module__": room, "__doc__": _DOC.format(room=room, name=name, why=why)},
    )
