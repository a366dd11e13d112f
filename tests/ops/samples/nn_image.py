"""Interpolation, sampling along a grid, padding, pixel and channel shuffles."""

from tests.ops.record import Op

OPS: list[Op] = []
