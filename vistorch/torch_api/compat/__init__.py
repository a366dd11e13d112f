"""Running PyTorch programs unchanged: the alias, and the words for what is accepted but changes nothing.

Invariant: nothing here is needed by the rest of the library.
"""

from .import_torch import alias_torch, is_aliased, unalias_torch

__all__ = ["alias_torch", "is_aliased", "unalias_torch"]
