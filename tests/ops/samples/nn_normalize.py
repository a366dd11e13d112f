"""Batch, layer, group, instance and RMS normalisation, and distances."""

from tests.ops.record import Op

OPS: list[Op] = []
