"""Fourier transforms under PyTorch's names."""

from .engine.core.tensor import Tensor
from .engine.ops.linalg.fft import TRANSFORMS as _transforms
from .engine.ops.linalg.fftfreq import fftfreq, fftshift, ifftshift, rfftfreq

globals().update(_transforms)
__all__ = [*_transforms, "Tensor", "fftfreq", "fftshift", "ifftshift", "rfftfreq"]
