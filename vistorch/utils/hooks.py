"""The handle of a registered hook, under the name PyTorch gives it."""

from ..engine.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
