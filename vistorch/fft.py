"""Fourier transforms under PyTorch's names."""

from .engine.ops.linalg.fft import TRANSFORMS as _transforms
from .engine.ops.linalg.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .engine.tensor import Tensor

globals().update(_transforms)
__all__ = [*_transforms, "Tensor", "fftfreq", "fftshift", "ifftshift", "rfftfreq"]
