"""Warnings at the user's line, and those that a process gives only once.

Invariant: a sentence given to `once` is a warning at most once in a process.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from ..library_name import named
from .home import HOME

_given: set[str] = set()


def user_level() -> int:
    """The `stacklevel` of the innermost line outside vistorch, for the caller's `warnings.warn`."""
    frame: Any = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HOME):
        frame = frame.f_back
        level += 1
    return level


def once(sentence: str) -> None:
    """Warn, the first time only."""
    if sentence not in _given:
        _given.add(sentence)
        warnings.warn(named(sentence), UserWarning, stacklevel=user_level())
