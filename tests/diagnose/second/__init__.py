"""The second part of the bench that was written by someone who had read no rule; unread until 23 November 2026.

Invariant: 45 faulty programs, each with its healthy counterpart, and 20 that only look suspicious.
"""

from . import autoencoder, gan, recurrent, regression, rl, tabular, text, transformer, vision
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
