"""The ninth part of the bench: programs of people who had read no rule.

Invariant: each was run under diagnosis before any rule was changed on it.
"""

from . import autoencoder, byhand, gan, healthy, metric, programs, rl, vision
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
