"""From what was typed after `%vt` to a command and its options.

Invariant: what cannot be read raises `Refusal`; argparse checks the values, and never exits or prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ..widgets._frame.command import EXPRESSION, TEXT, Asked, Command
from ..widgets._frame.user_error import Refusal, either, perhaps
from .expression import WHAT_THERE_IS, evaluate
from .words import Word, split, unquoted


def find(word: str, commands: Mapping[str, Command], cell: bool = False) -> Command:
    """Return the command of a name, which must fit the line or the cell it was typed for."""
    command = commands.get(word)
    if command is None:
        near = perhaps(word, commands)
        raise Refusal(f"there is no command {word!r}{near or ': type `%vt` to see which there are'}")
    if cell and command.cell is None:
        raise Refusal(f"`{word}` takes no cell: type `%vt {command.examples[0][0]}`")
    if not cell and command.line is None:
        raise Refusal(f"`{word}` needs a cell: type `%%vt {command.examples[0][0]}` on its first line")
    return command


def wants_help(words: list[Word]) -> bool:
    """Say whether the words after a command ask for its help."""
    return any(word.text in ("--help", "-h", "?") for word in words)


def read(command: Command, text: str, asked: Asked) -> dict[str, Any]:
    """Return the options of a command by name, its expressions evaluated.

    Args:
        command: the command.
        text: what was typed after its name.
        asked: where it was typed; `asked.texts` is filled in.
    """
    arguments, loose = _apart(command, text)
    options = _check(command, arguments, _places(command, text, loose))
    for name, kind in command.parser.kinds.items():
        typed = options[name]
        if kind == EXPRESSION and typed is not None:
            asked.texts[name] = typed
            options[name] = evaluate(typed, asked.namespace, command.parser.cures.get(name, WHAT_THERE_IS))
    return command.prepare(options, asked)


def _apart(command: Command, text: str) -> tuple[list[str], list[Word]]:
    """Take the options out of a line: return them as argparse reads them, and the words that are left."""
    known = command.parser.options
    arguments, loose = [], []
    words = iter(split(text))
    for word in words:
        name, equals, value = word.text.partition("=")
        if name not in known:
            if name.startswith("--") and name.strip("-"):
                near = perhaps(name, known)
                raise Refusal(f"`{command.typed}` has no option {name}{near or f': type `{command.typed}?`'}")
            loose.append(word)
        elif known[name].nargs == 0:
            if equals:
                raise Refusal(f"{name} takes no value: type {name} alone")
            arguments.append(name)
        else:
            if not equals:
                following = next(words, None)
                if following is None or following.text.partition("=")[0] in known:
                    raise Refusal(f"{name} needs a value: type {_usage(known[name])}")
                value = following.text
            arguments.append(f"{name}={unquoted(value)}")
    return arguments, loose


def _places(command: Command, text: str, loose: list[Word]) -> dict[str, str]:
    """Give the words that are left to the positional arguments."""
    parser = command.parser
    if len(parser.positions) == 1 and parser.kinds[parser.positions[0].dest] in (EXPRESSION, TEXT) and loose:
        return {parser.positions[0].dest: _joined(text, loose)}
    if len(loose) > len(parser.positions):
        extra = loose[len(parser.positions)].text
        sign = command.typed.partition("vt")[0]
        raise Refusal(f"`{command.typed}` does not take {extra!r}: type `{sign}vt {command.examples[0][0]}`")
    given = {}
    for action, word in zip(parser.positions, loose, strict=False):
        is_code = parser.kinds[action.dest] == EXPRESSION
        given[action.dest] = word.text if is_code else unquoted(word.text)
    return given


def _joined(text: str, words: list[Word]) -> str:
    """Return the words as they were typed, without what stood between them if that was an option."""
    pieces = [words[0].text]
    for before, word in pairwise(words):
        between = text[before.stop : word.start]
        pieces += [between if between.isspace() else " ", word.text]
    return "".join(pieces)


def _check(command: Command, arguments: list[str], given: dict[str, str]) -> dict[str, Any]:
    """Let argparse check the options and the positional words, and return their values by name."""
    parser = command.parser
    typed = [given[action.dest] for action in parser.positions if action.dest in given]
    for action in parser.positions:
        if action.required and action.dest not in given:
            meant = action.help or action.dest
            raise Refusal(f"`{command.typed}` needs {meant}: type `%vt {command.examples[0][0]}`")
    try:
        # After "--" nothing is taken for an option, such as `-x`; alone it would be an argument itself.
        return vars(parser.parse_args([*arguments, *(["--"] if typed else []), *typed]))
    except argparse.ArgumentError as error:
        raise Refusal(_unfit(command, error, arguments, given)) from None


def _unfit(
    command: Command, error: argparse.ArgumentError, arguments: list[str], given: dict[str, str]
) -> str:
    """Return the sentence for a value that argparse did not take."""
    parser = command.parser
    for word, action in parser.options.items():
        if error.argument_name == word:
            last = [a.partition("=")[2] for a in arguments if a.partition("=")[0] == word][-1]
            return f"{word} does not take {last!r}: type {_usage(action)}"
    for action in parser.positions:
        if action.dest in given and error.argument_name in (action.dest, action.metavar):
            word = given[action.dest]
            wanted = either(map(str, action.choices)) if action.choices else action.help
            return f"`{command.typed}` takes {wanted}, not {word!r}"
    return f"{error.message or error}: type `{command.typed}?` for help"


def _usage(action: argparse.Action) -> str:
    """Return how an argument is typed, its choices spelled out."""
    value = either(map(str, action.choices)) if action.choices else str(action.metavar or action.dest.upper())
    return f"{action.option_strings[0]} {value}" if action.option_strings else value
