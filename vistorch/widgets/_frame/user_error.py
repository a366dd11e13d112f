"""The one way a command says no: a sentence on one line that says what to type.

Invariant: the sentence never holds a line break, whatever text of the user or of an exception went into it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from numbers import Real

LONGEST = 300


class Refusal(ValueError):
    """What is wrong with a command, and what to type instead.

    Args:
        sentence: one sentence; line breaks become spaces and a very long one is cut.

    Example:
        >>> from vistorch import vt
        >>> try:
        ...     vt.vars(sort="byte")
        ... except vt.Refusal as refusal:
        ...     print(refusal)
        there is no column 'byte'; did you mean bytes?: type name, kind, shape, dtype, device, bytes or grad
    """

    __module__ = "vistorch.vt"  # where it is caught

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence))


def one_line(text: object, longest: int = LONGEST) -> str:
    """Return a text without line breaks, cut where it is longer than `longest`."""
    words = " ".join(str(text).split())
    return words if len(words) <= longest else words[: longest - 1] + "…"


def first_line(error: BaseException) -> str:
    """Return an exception as Python's last line of a traceback shows it: its type and its sentence."""
    said = one_line(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def is_number(value: object) -> bool:
    """Return whether a value is a plain number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def near(word: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that look like `word`, the nearest first."""
    return difflib.get_close_matches(word, list(names), n=most, cutoff=0.6)


def perhaps(word: str, names: Iterable[str]) -> str:
    """Return "; did you mean a or b?" for names near `word`, or nothing."""
    found = near(word, names)
    return f"; did you mean {either(found)}?" if found else ""


def either(words: Iterable[str]) -> str:
    """Join words as a sentence does: "a", "a or b", "a, b or c"."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
