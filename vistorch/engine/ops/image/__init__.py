"""Interpolation, sampling along a grid, padding, pixel and channel shuffles."""
