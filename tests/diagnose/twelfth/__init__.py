"""The twelfth part of the bench: programs of people who had read no rule.

Invariant: each was run under diagnosis before any rule was changed on it.
"""

from . import (
    language_1,
    language_2,
    language_3,
    numbers_1,
    numbers_2,
    numbers_3,
    vision_1,
    vision_2,
    vision_3,
)
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
