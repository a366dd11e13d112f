"""Convolutions, unfold and fold."""

from tests.ops.record import Op

OPS: list[Op] = []
