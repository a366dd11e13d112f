"""The part of the bench that was written by someone who had read no rule; it was unread until 22 November 2026.

Invariant: 87 faulty programs, each with its healthy counterpart, and 24 that only look suspicious.
"""

from . import autoencoder, gan, recurrent, regression, rl, tabular, text, transformer, vision
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
