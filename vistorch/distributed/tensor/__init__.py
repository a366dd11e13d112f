"""Layers that are cut over several ranks."""

from . import parallel

__all__ = ["parallel"]
