"""Products of half types on a device: cuBLAS reads them as they are, by our own handle, and adds up in float32.

Invariant: a product is rounded once, to the half type; one that something is added to stays float32 until then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import products
from .halves import is_half

Kernel = Any
F4 = np.dtype("f4")


def _multiplied(xp: Any, a: Any, b: Any, dtype: Any) -> Any:
    """The product of two arrays of one half type; None where they are not, or there is no cuBLAS."""
    if not is_half(a) or a.dtype != b.dtype or not a.ndim or not b.ndim:
        return None
    own = products.found(xp, a.device.id)
    if own is None:
        return None
    with own.lock:
        own.on(int(xp.cuda.get_current_stream().ptr))
        return own.matmul(xp, a, b, dtype=dtype)


def product(plain: Kernel, xp: Any) -> Kernel:
    """`mm`, `bmm`."""

    def kernel(input: Any, mat2: Any) -> Any:
        made = _multiplied(xp, input, mat2, input.dtype)
        return plain(input, mat2) if made is None else made

    return kernel


def added(plain: Kernel, xp: Any) -> Kernel:
    """`addmm`, `baddbmm`."""

    def kernel(input: Any, first: Any, second: Any, beta: Any, alpha: Any) -> Any:
        total = _multiplied(xp, first, second, F4) if is_half(input) else None
        if total is None:
            return plain(input, first, second, beta, alpha)
        if alpha != 1:
            total *= alpha
        if beta:
            total += input if beta == 1 else input.astype(F4) * beta
        return total.astype(input.dtype)

    return kernel
