"""One number of 64 bits for the elements of a tensor: their bit patterns, combined by "exclusive or".

Invariant: numbers of every floating type count as doubles and whole ones as int64, so equal values give equal hashes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from ...base.dims import flag, whole
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from .frame import axes_of, label, missing, tensor


def _xor(xp: Any, input: Any, dims: tuple, keepdim: bool) -> Any:
    wide = input.astype("f8" if dtypes.of(input.dtype).is_floating_point else "i8").view("u8")
    for axis in dims:
        wide = _folded(xp, xp.moveaxis(wide, axis, 0))[None]
        wide = xp.moveaxis(wide, 0, axis)
    if not keepdim:
        wide = wide.reshape([n for i, n in enumerate(input.shape) if i not in dims])
    return xp.asarray(wide)


def _folded(xp: Any, x: Any) -> Any:
    """The bits of the first dim combined, half by half: cupy cannot reduce by this function."""
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        folded = xp.bitwise_xor(x[:half], x[half : 2 * half])
        x = folded if x.shape[0] % 2 == 0 else xp.concatenate((folded, x[2 * half :]))
    return x[0]


xor_dims = op("xor_dims", _xor, widen=False)
_TYPES = frozenset(d.np for d in dtypes.ALL if not d.is_complex)


@public()
def hash_tensor(input, dim=None, *, keepdim=False, mode=0, out=None):
    """A number made of the bits of all elements, or along dims; equal tensors have equal ones.

    Args:
        input: a tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        mode: 0, the bits' "exclusive or"; there is no other.
        out: where to put the result, a tensor of uint64.

    Example:
        >>> import vistorch
        >>> vistorch.hash_tensor(vistorch.tensor([[1, 2], [4, 4]]), 1)
        tensor([3, 0], dtype=vistorch.uint64)
    """
    a = tensor("hash_tensor", input)
    keepdim, mode = flag(keepdim, "hash_tensor", "keepdim"), whole(mode, "hash_tensor", "mode", 3)
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if not a.size:
        if dim is None or dim == ():
            raise RuntimeError(
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        for one in dim if isinstance(dim, (tuple, list)) else (dim,):
            if one.__class__ is int and -a.ndim <= one < a.ndim and not a.shape[one]:
                raise IndexError(f"hash_tensor: Expected reduction dim {one} to have non-zero size.")
    axes = axes_of(input, dim, "hash_tensor")
    if a.dtype not in _TYPES:
        raise missing("xor_sum_cpu", a.dtype)
    if out is not None:
        out_argument.check_out("hash_tensor", out)
        if out._data.dtype != np.dtype("u8"):
            raise RuntimeError(f"Expected result to be of dtype uint64, but got {label(out._data.dtype)}")
    made = xor_dims(input, axes, keepdim)
    return made if out is None else out_argument.deliver(out, made)
