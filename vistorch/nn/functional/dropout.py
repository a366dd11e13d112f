"""Units left out by chance."""

__all__: list[str] = []
