"""Borders put around a tensor."""

__all__: list[str] = []
