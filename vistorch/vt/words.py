"""A line of a magic, taken apart: words are separated by spaces outside of brackets and quotes.

Invariant: the words keep their places, so that an expression is read exactly as it was typed.
"""

from __future__ import annotations

from dataclasses import dataclass

OPEN = "([{"
CLOSE = ")]}"
QUOTES = "\"'"


@dataclass(frozen=True)
class Word:
    """A word of a line: `line[start:stop] == text`."""

    text: str
    start: int
    stop: int
    depth: int = 0  # brackets that are still open at its end; 1 more for an open quote


def split(line: str) -> list[Word]:
    """Take a line apart; a `#` that begins a word begins a comment, as in Python.

    Args:
        line: what was typed after the magic's name.

    Example:
        >>> [word.text for word in split("show w[0, :, 2] 'a b' --scale log")]
        ['show', 'w[0, :, 2]', "'a b'", '--scale', 'log']
    """
    words = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
        elif line[at] == "#":
            break
        else:
            word = _word(line, at)
            words.append(word)
            at = word.stop
    return words


def _word(line: str, start: int) -> Word:
    """Read the word that begins at `start`; an unclosed bracket or quote makes it reach to the end."""
    depth, at, quote = 0, start, ""
    while at < len(line):
        char = line[at]
        if quote:
            if char == "\\":
                at += 1
            elif line.startswith(quote, at):
                at += len(quote) - 1
                quote = ""
        elif char in QUOTES:
            quote = char * 3 if line.startswith(char * 3, at) else char
            at += len(quote) - 1
        elif char in OPEN:
            depth += 1
        elif char in CLOSE:
            depth = max(depth - 1, 0)
        elif char.isspace() and depth == 0:
            break
        at += 1
    stop = min(at, len(line))
    return Word(line[start:stop], start, stop, depth + bool(quote))


def unquoted(text: str) -> str:
    """Return a word without the quotes around it, if there are any.

    Example:
        >>> unquoted('"my file.html"'), unquoted("plain")
        ('my file.html', 'plain')
    """
    if len(text) >= 2 and text[0] in QUOTES and text[-1] == text[0]:
        return text[1:-1]
    return text
