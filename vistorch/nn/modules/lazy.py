"""Modules that learn their sizes from their first input."""

__all__: list[str] = []
