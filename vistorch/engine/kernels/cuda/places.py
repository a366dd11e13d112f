"""Additions at places that may come twice, and checks of indices that do not wait for the device.

Invariant: half types are added up in float and rounded once.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from . import faults, launch

Kernel = Any
_INT64, _INT32 = np.dtype("i8"), np.dtype("i4")
NO_ROW = -(1 << 62)


def add_rows(xp: Any, out: Any, index: Any, values: Any, name: str, padding: int = NO_ROW) -> bool:
    """`out[index[i]] += values[i]` along the first dim of a contiguous array; False where it is not for us."""
    if not launch.known(out, values) or not out.flags.c_contiguous or not values.size:
        return False
    rows, width = out.shape[0], prod(out.shape[1:])
    index = xp.ascontiguousarray(index.astype(np.int64, copy=False))
    values = xp.ascontiguousarray(xp.broadcast_to(values, (index.size, *out.shape[1:])))
    sums = out.astype(np.float32) if out.dtype.itemsize == 2 else out
    where = (faults.flag(out.device.id), faults.number_of(name))
    args = (sums, index, values, index.size, width, rows, padding, *where)
    launch.launch("places", "add_rows", out.dtype, launch.each(index.size * width), launch.BLOCK, args)
    if sums is not out:
        out[...] = sums.astype(out.dtype)
    return True


def check(xp: Any, index: Any, low: int, size: int, name: str) -> None:
    """Let the device look for an index outside `low` <= i < `size`; what it finds is reported later."""
    if index.dtype not in (_INT64, _INT32) or not index.size:
        return
    index = xp.ascontiguousarray(index)
    kernel = "check_index" if index.dtype == _INT64 else "check_index_int"
    args = (index, index.size, int(low), int(size), faults.flag(index.device.id), faults.number_of(name))
    launch.launch("places", kernel, np.dtype("f4"), launch.each(index.size), launch.BLOCK, args)


def _look(xp: Any, where: Any, shape: tuple) -> None:
    """Check the whole numbers of a key; a mask, which fits by its shape, is passed over."""
    dim = 0
    for entry in where.key:
        dtype = getattr(entry, "dtype", None)  # None: a full slice
        if dtype is None or dtype.kind != "b":
            if dtype is not None:
                check(xp, entry, -shape[dim], shape[dim], "index")
            dim += 1
        else:
            dim += entry.ndim


def index(plain: Kernel, xp: Any) -> Kernel:
    """`index`: cupy's reading, which turns round what lies outside, and a look at the key."""

    def kernel(input: Any, where: Any) -> Any:
        _look(xp, where, input.shape)
        return plain(input, where)

    return kernel


def index_put(plain: Kernel, xp: Any) -> Kernel:
    """`index_put`: likewise."""

    def kernel(input: Any, values: Any, where: Any, accumulate: bool) -> Any:
        _look(xp, where, input.shape)
        return plain(input, values, where, accumulate)

    return kernel


def embedding_gradient(plain: Kernel, xp: Any) -> Kernel:
    """`embedding_gradient`: rows added up by index; the row of padding stays zero."""

    def kernel(grad: Any, indices: Any, rows: int, padding: int) -> Any:
        width = grad.shape[-1]
        out = xp.zeros((rows, width), grad.dtype)
        no = padding if 0 <= padding < rows else NO_ROW
        flat = xp.ascontiguousarray(grad).reshape(-1, width)
        if not indices.size or not add_rows(xp, out, indices.reshape(-1), flat, "embedding", no):
            return plain(grad, indices, rows, padding)
        return out

    return kernel
