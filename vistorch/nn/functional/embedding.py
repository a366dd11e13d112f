"""Rows looked up by number."""

__all__: list[str] = []
