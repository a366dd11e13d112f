"""Distances as modules."""

__all__: list[str] = []
