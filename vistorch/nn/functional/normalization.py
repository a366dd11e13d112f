"""Values brought to a common scale."""

__all__: list[str] = []
