"""The fifth part of the bench, written by two who had read no rule.

Invariant: what was said of these 36 faulty programs, their counterparts and 14 that only look suspicious before any
rule was changed on them stands in docs/diagnose.md; they were read since.
"""

from . import healthy, loops, recommend, rl, series, tabular, text
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
