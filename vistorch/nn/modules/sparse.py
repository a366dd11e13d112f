"""Embeddings."""

__all__: list[str] = []
