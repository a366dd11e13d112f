"""The commands of `%vt` as plain functions: `from vistorch import vt`, then `vt.show(x)`.

What `%vt show x --size 300` shows, `vt.show(x, size=300)` returns: the last value of a cell shows itself.
A new command is a row in the `command.py` of its view, or in a file of `vt/commands/`, and nothing else.

Invariant: importing this package imports no IPython; the magics import it. `__init__.pyi` says the same to editors and
is made by `make generated`.
"""

from collections.abc import Callable
from typing import Any

from ..widgets._frame.command import Asked, Command
from ..widgets._frame.defaults import defaults
from ..widgets._frame.user_error import Refusal
from .table import COMMANDS

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    row.function.__name__: row.function for row in COMMANDS.values() if row.function is not None
}

__all__ = ["COMMANDS", "Asked", "Command", "Refusal", "defaults", *_FUNCTIONS]


def __getattr__(name: str) -> Any:
    """A command's function, from its row."""
    try:
        return _FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *_FUNCTIONS})
