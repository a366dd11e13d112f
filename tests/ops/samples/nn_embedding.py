"""Embeddings: rows looked up, summed in bags."""

from tests.ops.record import Op

OPS: list[Op] = []
