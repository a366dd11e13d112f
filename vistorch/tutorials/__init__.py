"""What the tutorials need besides vistorch: cells that check an answer.

Invariant: a wrong answer, or one that cannot even be looked at, is a sentence and never a traceback, so that a
notebook with open exercises runs to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["exercise"]


def exercise(number: int, answer: Any, right: Callable[[Any], Any], hint: str = "") -> None:
    """Say whether an exercise is solved; `...` in the place of an answer is one that is still open.

    Args:
        number: which exercise.
        answer: what the reader made; a tuple where there are several parts.
        right: takes the answer and says whether it is right.
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
    parts = answer if type(answer) is tuple else (answer,)
    if any(part is ... for part in parts):
        print(f"Exercise {number}: still open. Replace the ... and run this cell again.")
        return
    trouble = ""
    try:
        fine = bool(right(answer))
    except Exception as error:  # an answer of another kind than the check expects
        fine, trouble = False, f" The check could not use it: {type(error).__name__}: {error}"
    if fine:
        print(f"Exercise {number}: right.")
        return
    print(f"Exercise {number}: not yet." + (f" Hint: {hint.rstrip('.')}." if hint else "") + trouble)
