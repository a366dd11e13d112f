"""Interpolation, sampling along a grid, padding, pixel and channel shuffles."""

from . import affine, pad, pad_arguments, resample, sample, shuffle, upsample
