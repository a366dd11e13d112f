"""Normalisation of each instance by itself."""

__all__: list[str] = []
