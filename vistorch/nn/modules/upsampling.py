"""Images made larger."""

__all__: list[str] = []
