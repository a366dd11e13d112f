"""Interpolation, sampling along a grid, padding, pixel and channel shuffles."""

from . import pad, pad_checks
