"""How far apart two vectors are."""

__all__: list[str] = []
