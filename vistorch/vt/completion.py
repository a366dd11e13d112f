"""What Tab offers after `%vt`: commands, options, choices, names of the notebook, shown displays, files.

Invariant: it walks the table and the parsers, so a new command is completed without a line here; it evaluates nothing
but what IPython's own completer evaluates.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from .. import vt
from ..debug.variables import names_worth_looking_at
from ..widgets._frame.command import DISPLAY, EXPRESSION, PATH, PLACE, Command
from ..widgets._frame.output import SUFFIXES
from .commands.device import choices as places
from .commands.export import names_shown
from .words import Word, split

_MAGIC = re.compile(r"^\s*(%{1,2})vt(\s+)")


def matcher_for(shell: Any) -> Callable[[CompletionContext], Any]:
    """Return the matcher of a shell.

    Args:
        shell: the IPython shell whose names are offered.
    """

    @context_matcher(identifier="vistorch")
    def match(context: CompletionContext) -> Any:
        return complete(context.text_until_cursor, context.cursor_line, shell)

    return match


def nothing() -> dict[str, Any]:
    """Return what leaves the completion to others: a new dict each time, because the completer writes into it."""
    return {"completions": []}


def complete(text: str, row: int, shell: Any) -> dict[str, Any]:
    """Return what could stand at the end of `text`, as a v2 matcher does.

    Args:
        text: the line up to the cursor.
        row: the line's number in the cell; `%%vt` stands in line 0 only.
        shell: the IPython shell.
    """
    begins = _MAGIC.match(text)
    if begins is None or (begins[1] == "%%" and row):
        return nothing()
    rest = text[begins.end() :]
    words = split(rest)
    typing = words.pop() if words and words[-1].stop == len(rest) else Word("", len(rest), len(rest))
    if not words:
        cell = begins[1] == "%%"
        rows = (one for one in vt.COMMANDS.values() if (one.cell if cell else one.line))
        return _offer((one.name for one in rows), typing.text, "magic")
    command = vt.COMMANDS.get(words[0].text)
    return nothing() if command is None else _argument(command, words[1:], typing, shell)


def _argument(command: Command, words: list[Word], typing: Word, shell: Any) -> dict[str, Any]:
    """Complete an option, its value, or a positional argument."""
    parser = command.parser
    name, equals, begun = typing.text.partition("=")
    if equals and name in parser.options:
        return _value(command, parser.options[name], begun, shell)
    before = parser.options.get(words[-1].text) if words else None
    if before is not None and before.nargs != 0:
        return _value(command, before, typing.text, shell)
    if typing.text.startswith("-"):
        given = {word.text.partition("=")[0] for word in words}
        return _offer([one for one in (*parser.options, "--help") if one not in given], typing.text, "param")
    place = _position(command, words)
    if place is None:
        return _offer([] if typing.text else list(parser.options), typing.text, "param")
    return _value(command, place, typing.text, shell)


def _position(command: Command, words: list[Word]) -> argparse.Action | None:
    """Return which positional argument is being typed."""
    parser = command.parser
    loose = 0
    skip = False
    for word in words:
        name, equals, _ = word.text.partition("=")
        option = parser.options.get(name)
        if skip or option is not None:
            skip = option is not None and option.nargs != 0 and not equals
        else:
            loose += 1
    positions = parser.positions
    if len(positions) == 1 and parser.kinds[positions[0].dest] == EXPRESSION:
        return positions[0]
    return positions[loose] if loose < len(positions) else None


def _value(command: Command, action: argparse.Action, begun: str, shell: Any) -> dict[str, Any]:
    """Complete a value by what the argument takes."""
    kind = command.parser.kinds[action.dest]
    if action.choices:
        return _offer(map(str, action.choices), begun, "param")
    if kind == EXPRESSION:
        return _expression(begun, shell)
    if kind == PLACE:
        return _offer(places(), begun, "param")
    if kind == DISPLAY:
        return _offer(names_shown(), begun, "param")
    return _files(begun) if kind == PATH else nothing()


def _expression(begun: str, shell: Any) -> dict[str, Any]:
    """Complete the name at the end of an expression: attributes after a dot, else variables, tensors first."""
    name = tail(begun)
    if "." in name:
        return _offer(shell.Completer.attr_matches(name), name, "instance")
    if not name.isidentifier() and name:
        return nothing()
    first = names_worth_looking_at(shell.user_ns)
    others = shell.Completer.global_matches(name) if name else []
    return _offer([*first, *others], name, "instance")


def tail(text: str) -> str:
    """Return the name, or the chain of attributes and indices, that a text ends in.

    Args:
        text: the beginning of an expression.

    Example:
        >>> tail("f(a, model[0].we"), tail("x + y"), tail("w[0, "), tail("model.fc")
        ('model[0].we', 'y', '', 'model.fc')
    """
    at = len(text)
    while at:
        char = text[at - 1]
        if char.isalnum() or char in "_.":
            at -= 1
        elif char == "]" and (opening := _opening(text, at - 1)) is not None:
            at = opening
        else:
            break
    return text[at:]


def _opening(text: str, closing: int) -> int | None:
    """Return where the bracket opens that closes at `closing`."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if depth == 0:
            return at
    return None


def _files(begun: str) -> dict[str, Any]:
    """Complete a path: folders, and files that can be written."""
    quote = begun[:1] if begun[:1] in ("'", '"') else ""
    folder, last = os.path.split(begun[len(quote) :])
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder) or "."), key=lambda entry: entry.name)
    except OSError:
        return nothing()
    paths = []
    for entry in entries:
        if entry.name.startswith(".") and not last.startswith("."):
            continue
        path = os.path.join(folder, entry.name)
        if entry.is_dir():
            paths.append(quote + path + os.sep)
        elif entry.name.endswith(SUFFIXES):
            paths.append(quote + path)
    return _offer(paths, begun, "path")


def _offer(words: Iterable[str], begun: str, kind: str) -> dict[str, Any]:
    """Return the words that begin as what was typed; nothing else is offered beside them."""
    fitting = [word for word in dict.fromkeys(words) if word.startswith(begun)]
    completions = [SimpleCompletion(word, type=kind) for word in fitting]
    return {"completions": completions, "matched_fragment": begun, "suppress": True, "ordered": True}
