"""Module."""

__all__: list[str] = []
