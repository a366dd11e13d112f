"""The seventh part of the bench, written by two who had read no rule.

Invariant: what was said of these 16 faulty programs, their counterparts and 12 that only look suspicious before any
rule was changed on them stands in docs/diagnose.md; they were read since.
"""

from . import functional, healthy, loops, pipelines, programs, rl
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
