"""Padding as modules."""

__all__: list[str] = []
