"""The handle of a registered hook, under the name PyTorch gives it."""

from ..engine.core.handles import RemovableHandle

__all__ = ["RemovableHandle"]
