"""`%vt`, from the line to what is shown: the one function that the magics call.

Invariant: it knows no command by name; help, errors and calling are the same for every row of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..widgets._frame.command import Asked, Command
from ..widgets._frame.note import Note
from ..widgets._frame.user_error import Refusal, one_line
from .help import WIDTH, help_of, overview
from .parse import find, read, wants_help
from .words import split


def obey(commands: Mapping[str, Command], line: str, asked: Asked, cell: str | None = None) -> Any:
    """Do what was typed after `%vt`, and return what there is to show.

    Args:
        commands: the table.
        line: what was typed after the magic's name.
        asked: where it was typed.
        cell: the rest of the cell, for `%%vt`.

    Raises:
        Refusal: with one line that says what to type.
    """
    words = split(line)
    if not words or (wants_help(words) and words[0].text in ("--help", "-h", "?")):
        if cell is not None:
            cells = [command.name for command in commands.values() if command.cell]
            which = (
                f"type `%%vt {cells[0]}`"
                if cells
                else "no command takes one yet: type `%vt` to see which there are"
            )
            raise Refusal(f"say what to do with the cell; {which}")
        return Note(overview(commands.values(), head()))
    word = words[0].text
    if wants_help(words[1:2]):
        return Note(help_of(_any(word, commands)))
    command = find(word, commands, cell is not None)
    options = read(command, line[words[0].stop :], asked)
    if cell is None:
        assert command.line is not None
        return command.line(**options)
    assert command.cell is not None
    return command.cell(cell, asked, **options)


def _any(word: str, commands: Mapping[str, Command]) -> Command:
    """Return a command whether it is for a line or for a cell: help is the same."""
    return commands[word] if word in commands else find(word, commands)


def head() -> str:
    """Return the line above the overview."""
    from .._version import __version__
    from .commands.device import said

    return one_line(f"vistorch {__version__} · {said().partition(';')[0]}", WIDTH)
