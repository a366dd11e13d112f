"""Pooling: maxima and means over windows, and the way back from indices."""

from . import adaptive, averages, maxima, unpool
