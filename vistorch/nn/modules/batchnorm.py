"""Normalisation over a batch, with running statistics."""

__all__: list[str] = []
