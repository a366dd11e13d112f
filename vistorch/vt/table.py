"""The table of all commands: the rows of `widgets/<kind>/command.py` and of `vt/commands/*.py`.

Invariant: no command is named here; a file in its place is found.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from ..widgets import kinds
from ..widgets._frame.command import Command
from ..widgets._frame.kinds import part
from .commands import __path__ as FILES  # not `from . import`, which would ask this package for the table


def modules() -> Iterator[str]:
    """The modules that have rows."""
    for kind in kinds():
        if found := part(kind, "command"):
            yield found
    for file in pkgutil.iter_modules(FILES):
        yield f"{__package__}.commands.{file.name}"


def table() -> dict[str, Command]:
    """The commands by name, in the order of the overview."""
    rows = [row for module in modules() for row in import_module(module).COMMANDS]
    rows.sort(key=lambda row: (row.rank, row.name))
    made = {row.name: row for row in rows}
    if len(made) < len(rows):
        names = [row.name for row in rows]
        twice = ", ".join(sorted({name for name in names if names.count(name) > 1}))
        raise ImportError(f"two commands are called {twice}: give one of them another name in its row")
    return made


COMMANDS = table()
