"""Channels dealt out anew."""

__all__: list[str] = []
