"""The handle of a registered hook, under the name PyTorch gives it."""

from ..engine.handles import RemovableHandle

__all__ = ["RemovableHandle"]
