"""The commands of `%vt` as plain functions: `from vistorch import vt`, then `vt.show(x)`.

What `%vt show x --size 300` shows, `vt.show(x, size=300)` returns: the last value of a cell shows itself.
A new command is a row in the `command.py` of its view, or in a file of `vt/commands/`, and nothing else.

Invariant: importing this package imports no IPython and no command; the first one that is asked for brings them all.
`vistorch-stubs/vt` says the same to editors and is made by `make generated`.
"""

from typing import Any

from ..widgets._frame.command import Asked, Command
from ..widgets._frame.defaults import defaults
from ..widgets._frame.user_error import Refusal

_OWN = ("Asked", "Command", "Refusal", "defaults")


def _open() -> dict[str, Any]:
    """The table, and each command's function by its own name."""
    from .table import COMMANDS

    functions = {row.function.__name__: row.function for row in COMMANDS.values() if row.function is not None}
    return {"COMMANDS": COMMANDS, "__all__": ["COMMANDS", *_OWN, *functions], **functions}


def __getattr__(name: str) -> Any:
    if "COMMANDS" not in globals():
        globals().update(_open())
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_open()})
