"""Activations: relu and its kin, softmax, gates, dropout."""

from tests.ops.record import Op

OPS: list[Op] = []
