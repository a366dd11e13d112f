"""Scaled dot-product attention."""

from tests.ops.record import Op

OPS: list[Op] = []
