"""What is said of a condition that cannot be read: one sentence, with the place.

Invariant: the text is a person's and is only ever quoted.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ConditionError(ValueError):
    """A condition that does not parse.

    Args:
        text: the whole condition.
        at: the index at which reading failed.
        why: what was expected there.

    Example:
        >>> from vistorch.debug import Breakpoint, ConditionError
        >>> try:
        ...     Breakpoint("grad.norm >")
        ... except ConditionError as error:
        ...     print(error.column)
        12
    """

    def __init__(self, text: str, at: int, why: str) -> None:
        self.text, self.column = text, at + 1
        super().__init__(f"the condition {text!r} cannot be read at column {at + 1}: {why}")


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: what was probably meant, or everything that there is."""
    known = sorted(known)
    found = difflib.get_close_matches(word, known, 1, 0.6)
    return f"did you mean {found[0]!r}?" if found else f"expected one of {', '.join(known)}"
