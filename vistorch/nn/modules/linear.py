"""Affine maps as modules."""

__all__: list[str] = []
