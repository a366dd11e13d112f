"""Losses as modules."""

__all__: list[str] = []
