"""The words of `%vt` itself: the overview of all commands, and the help of one.

Invariant: both are made from the table alone, so a new row is in them; the overview fits one screen of 24 lines.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable

from ..widgets._frame.command import Command

WIDTH = 96


def overview(commands: Iterable[Command], head: str) -> str:
    """Return the overview: one line a command.

    Args:
        commands: the rows.
        head: the line above them.
    """
    rows = [(f"{command.typed} {_arguments(command)}".rstrip(), command.summary) for command in commands]
    return "\n".join(
        [
            head,
            "",
            *columns(rows),
            "",
            "  %vt show?         help with examples; so for every command",
            "  %config VisTorch  the defaults; each command is also a function: from vistorch import vt",
        ]
    )


def help_of(command: Command) -> str:
    """Return the help of one command: what it does, its arguments, its examples."""
    parser = command.parser
    usage = f"{command.typed} {_arguments(command)}".rstrip() + (" [options]" if parser.options else "")
    parts = [usage, *textwrap.wrap(f"{command.summary}.", WIDTH, initial_indent="  ", subsequent_indent="  ")]
    listed = [(_usage(action), action.help or "") for action in [*parser.positions, *parser.options.values()]]
    if listed:
        parts += ["", *columns(listed)]
    sign = command.typed.partition("vt")[0]
    parts += ["", "Examples:", *columns([(f"{sign}vt {line}", says) for line, says in command.examples])]
    return "\n".join(parts)


def columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Lay pairs out as two columns; a long first entry takes a line of its own."""
    rows = list(rows)
    left = min(max((len(first) for first, _ in rows), default=0), WIDTH // 2 - 4)
    lines = []
    for first, second in rows:
        folded = textwrap.wrap(second, WIDTH - left - 4) or [""]
        if len(first) > left:
            lines.append(f"  {first}")
        else:
            lines.append(f"  {first:<{left}}  {folded.pop(0)}".rstrip())
        lines += [" " * (left + 4) + line for line in folded]
    return lines


def _arguments(command: Command) -> str:
    """Return a command's positional arguments, the optional ones in brackets."""
    words = []
    for action in command.parser.positions:
        word = _value(action)
        words.append(word if action.required else f"[{word}]")
    return " ".join(words)


def _usage(action: argparse.Action) -> str:
    """Return how one argument is typed."""
    if not action.option_strings:
        return _value(action)
    return action.option_strings[0] if action.nargs == 0 else f"{action.option_strings[0]} {_value(action)}"


def _value(action: argparse.Action) -> str:
    """Return an argument's value: its choices, or what stands for it."""
    if action.choices and not action.metavar:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())
