"""Signal processing under PyTorch's names."""

from . import windows

__all__ = ["windows"]
