"""Convolutions, their transposes, and the windows they slide: unfold and fold."""

__all__: list[str] = []
