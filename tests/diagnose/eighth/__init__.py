"""The eighth part of the bench, written by two who had read no rule, after the rules were frozen.

Invariant: no rule and no place is changed on these 20 faulty programs, their counterparts and 12 that only look
suspicious.
"""

from . import functional, healthy, images, loops, pipelines, recurrent, regression, rl, tabular, text, tuning
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
