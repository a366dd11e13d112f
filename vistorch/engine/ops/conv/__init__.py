"""Convolutions, unfold and fold."""
