"""Cells that check an answer.

Invariant: a wrong answer, or one that cannot even be looked at, is a sentence and never a traceback, so that a
notebook with open exercises runs to its end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from . import look

NAMED = {"look": look.verdict}


def exercise(
    number: int | str, answer: Any, right: Callable[[Any], Any] | None = None, hint: str = ""
) -> Any:
    """Say whether an exercise is solved; `...` in the place of an answer is one that is still open.

    Args:
        number: which exercise; a name for one that has a picture of its own and shows it.
        answer: what the reader made; a tuple where there are several parts. A list, a tuple, a tensor or an array of
            the same values are the same answer.
        right: takes the answer and says whether it is right; not needed for an exercise with a name.
        hint: what to look at where it is not.

    Example:
        >>> from vistorch.tutorials import exercise
        >>> exercise(1, ..., lambda a: a == 4)
        Exercise 1: still open. Replace the ... and run this cell again.
        >>> exercise(1, 5, lambda a: a == 4, "add 2 and 2")
        Exercise 1: not yet. Hint: add 2 and 2.
        >>> exercise(1, 4, lambda a: a == 4)
        Exercise 1: right.
    """
    if right is None:
        if number not in NAMED:
            raise ValueError(
                f"exercise {number!r} has no check of its own: give a function that says what is right"
            )
        return NAMED[number](answer)
    parts = answer if type(answer) is tuple else (answer,)
    if any(part is ... for part in parts):
        print(f"Exercise {number}: still open. Replace the ... and run this cell again.")
        return
    fine, trouble = _judge(right, answer)
    if fine or any(_judge(right, other)[0] for other in _other_forms(answer)):
        print(f"Exercise {number}: right.")
        return
    print(f"Exercise {number}: not yet." + (f" Hint: {hint.rstrip('.')}." if hint else "") + trouble)


def _judge(right: Callable[[Any], Any], answer: Any) -> tuple[bool, str]:
    """Return whether a check takes an answer, and what went wrong where it could not use it."""
    try:
        return bool(right(answer)), ""
    except Exception as error:  # an answer of another kind than the check expects
        return False, f" The check could not use it: {type(error).__name__}: {error}"


def _other_forms(answer: Any) -> Iterator[Any]:
    """Yield the same values in other forms: as lists and as tuples, the whole and, of several parts, each part."""
    for kind in (list, tuple):
        if (other := _as(kind, answer)) is not answer:
            yield other
        if type(answer) is tuple:
            parts = tuple(_as(kind, part) for part in answer)
            if any(map(operator.is_not, parts, answer)):
                yield parts


def _as(kind: type, value: Any) -> Any:
    """Return a sequence, an array or a tensor as a list or a tuple; anything else as it is."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple, range)) or type(value) is kind:
        return value
    return kind(value)
