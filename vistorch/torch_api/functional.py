"""PyTorch's file of functions written in Python; here all are `vistorch`'s own."""

from vistorch.engine.core.registry import FUNCTIONS as _functions
from vistorch.torch_api.lowrank import pca_lowrank, svd_lowrank

__all__ = [
    name
    for name in """
        align_tensors atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod
        cdist chain_matmul einsum lu meshgrid norm split istft stft tensordot unique unique_consecutive unravel_index
    """.split()
    if name in _functions
]
__all__ += ["pca_lowrank", "svd_lowrank"]
globals().update({name: _functions[name] for name in __all__ if name in _functions})
