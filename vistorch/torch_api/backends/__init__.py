"""PyTorch's backends by name: flags that programs set, and answers that fit numpy and cupy.

Invariant: every flag can be set and read back; only `mkldnn.enabled` changes what computes.
"""

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

fp32_precision = "none"

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "mha",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "quantized",
]
