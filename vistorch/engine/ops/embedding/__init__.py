"""Embeddings: rows looked up, summed in bags."""
