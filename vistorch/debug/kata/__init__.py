"""Twelve cells that are broken, in four belts: what is seen, where it comes from, and whether it is mended.

Invariant: a verdict comes from a run of the reader's own cell and from the same tools that a reader has.
"""

from .black import BLACK
from .brown import BROWN
from .grey import GREY
from .kata import BELTS, Kata, Picture
from .white import WHITE

KATA = (*WHITE, *GREY, *BROWN, *BLACK)

__all__ = ["BELTS", "KATA", "Kata", "Picture"]
