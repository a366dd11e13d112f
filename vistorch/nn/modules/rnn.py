"""Recurrent networks and their cells."""

__all__: list[str] = []
