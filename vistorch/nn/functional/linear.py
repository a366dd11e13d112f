"""Affine maps."""

__all__: list[str] = []
