"""Modules that hold modules or parameters."""

__all__: list[str] = []
