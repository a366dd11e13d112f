"""Convolutions and their transposes."""

__all__: list[str] = []
