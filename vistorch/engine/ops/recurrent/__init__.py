"""Recurrent networks: one row per layer and direction, stacks of layers, cells."""

from . import cells, elman, gru, lstm, packed, sequence, stacks
