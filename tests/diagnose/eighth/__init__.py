"""The eighth part of the bench, written by two who had read no rule, after the rules were frozen.

Invariant: these 20 faulty programs, their counterparts and 12 that only look suspicious were run under diagnosis before
any rule was changed on them.
"""

from . import functional, healthy, images, loops, pipelines, recurrent, regression, rl, tabular, text, tuning
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
