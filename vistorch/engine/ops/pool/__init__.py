"""Pooling: maxima and means over windows, and the way back from indices."""

from . import adaptive, avg_pool, max_pool, unpool
