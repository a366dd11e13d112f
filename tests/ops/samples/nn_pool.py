"""Pooling."""

from tests.ops.record import Op

OPS: list[Op] = []
