"""Dimensions merged and split."""

__all__: list[str] = []
