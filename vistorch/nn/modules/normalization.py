"""Normalisation over layers, groups and neighbouring channels."""

__all__: list[str] = []
