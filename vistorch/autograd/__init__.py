"""The torch-named face of automatic differentiation."""

from .run import backward, grad

__all__ = ["backward", "grad"]
