"""Convolutions, their transposes, and the columns they are made of."""

from . import convolve, tbc, transposed, unfold
