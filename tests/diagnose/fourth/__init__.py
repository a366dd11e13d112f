"""The fourth part of the bench, written by someone who had read no rule, after the rules were frozen.

Invariant: no rule and no place is changed on these 40 faulty programs, their counterparts and 20 healthy programs that
only look suspicious.
"""

from . import autoencoder, gan, healthy, recurrent, regression, rl, tabular, text, transformer, vision
from .program import PROGRAMS

__all__ = ["PROGRAMS"]
