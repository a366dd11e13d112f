"""Storages under PyTorch's names: `UntypedStorage`, and for old programs `TypedStorage`, `FloatStorage` and such."""

from .engine.memory.storage import UntypedStorage
from .engine.methods.typed_storage import STORAGE_CLASSES, TypedStorage

globals().update(STORAGE_CLASSES)
__all__ = ["TypedStorage", "UntypedStorage"]
