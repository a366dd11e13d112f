"""Channels turned into pixels and back."""

__all__: list[str] = []
