"""Losses."""

from . import binary, ctc, distance, entropy, margin, nll, ranking
