"""Windows reduced to one value."""

__all__: list[str] = []
