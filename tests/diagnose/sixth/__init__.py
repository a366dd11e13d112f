"""The sixth part of the bench, written by two others who had read no rule.

Invariant: what was said of these 24 faulty programs, their counterparts and 20 that only look suspicious before any
rule was changed on them stands in docs/diagnose.md; they were read since.
"""

from . import autoencoder, dense, gan, healthy, recurrent, regression, tabular, transformer, vision
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
