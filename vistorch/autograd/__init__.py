"""The torch-named face of automatic differentiation."""

from . import function
from .function import Function
from .run import backward, grad

__all__ = ["Function", "backward", "function", "grad"]
