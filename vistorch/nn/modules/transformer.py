"""The Transformer and its layers."""

__all__: list[str] = []
