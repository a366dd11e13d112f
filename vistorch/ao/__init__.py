"""PyTorch's room for quantisation and sparsity: named, not built."""

from . import quantization

__all__ = ["quantization"]
