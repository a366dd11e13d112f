"""What cupy does differently from the shared kernels: special functions, fused kernels, scattered addition.

Imported at the first use of a CUDA place, never before: it imports cupy.
Invariant: `overrides` maps a name to a function of raw arrays that returns a new array, changing no argument.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from .cuda_source import ELEMENTWISE, PREAMBLE


def guard(kernel: Callable) -> Callable:
    """Wrap a kernel so that it runs with the device of its first array argument current.

    With one device in the machine the kernel is returned as it is.
    """
    if cupy.cuda.runtime.getDeviceCount() == 1:
        return kernel
    current = cupy.cuda.runtime.getDevice

    @functools.wraps(kernel)
    def on_its_device(*args: Any, **kwargs: Any) -> Any:
        first: Any = args[0] if args else None
        if not isinstance(first, cupy.ndarray):
            first = _first_array(args)
            if first is None:  # creation: the caller has made the place current
                return kernel(*args, **kwargs)
        index = first.data.device_id
        if index == current():
            return kernel(*args, **kwargs)
        with cupy.cuda.Device(index):
            return kernel(*args, **kwargs)

    return on_its_device


def _first_array(args: Any) -> Any:
    """Return the first array among arguments and the lists in them, or None."""
    for value in args:
        if isinstance(value, cupy.ndarray):
            return value
        if isinstance(value, (list, tuple)):
            found = _first_array(value)
            if found is not None:
                return found
    return None


@functools.cache
def special(name: str) -> Callable:
    """Return a function of cupyx.scipy.special; importing it takes 0.4 s, so it waits for the first use."""
    from cupyx.scipy import special as functions

    return getattr(functions, name)


def _through(name: str) -> Callable:
    """Make a kernel of a special function: narrow floats go through float32, and the dtype stays."""

    def kernel(x: Any) -> Any:
        function = special(name)
        if x.dtype.char in "fd":
            return function(x)
        return function(x.astype(np.float32)).astype(x.dtype)

    kernel.__name__ = name
    return kernel


def polygamma(n: int, x: Any) -> Any:
    """Return the n-th derivative of digamma, by the Hurwitz zeta function."""
    if n == 0:
        return overrides["digamma"](x)
    wide = x if x.dtype.char in "fd" else x.astype(np.float32)
    kind = wide.dtype.type
    out = special("zeta")(kind(n + 1), wide) * kind((-1.0) ** (n + 1) * math.factorial(n))
    return out.astype(x.dtype, copy=False)


@functools.cache
def fused(name: str) -> Callable:
    """Build a row of `cuda_source` as a cupy kernel, once; cupy compiles it at each dtype's first call."""
    row = ELEMENTWISE[name]
    return cupy.ElementwiseKernel(row.inputs, "T y", row.body, f"vistorch_{name}", preamble=PREAMBLE)


def _by_row(name: str) -> Callable:
    """Make a kernel that builds its row at the first call."""

    def kernel(x: Any, *scalars: float) -> Any:
        return fused(name)(x, *scalars)

    kernel.__name__ = name
    return kernel


def index_add(x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    """Return x with the slices of source added at the positions in index along dim; equal ones add up."""
    value = source if alpha == 1 else (source * x.dtype.type(alpha)).astype(x.dtype, copy=False)
    if x.ndim == 0:
        return x + value.sum().astype(x.dtype, copy=False)
    return _added(x, (slice(None),) * (dim % x.ndim) + (index.reshape(-1),), value)


def scatter_add(x: Any, dim: int, index: Any, source: Any) -> Any:
    """Return x with each value of source added where index points along dim; equal places add up."""
    if x.ndim == 0:
        return x + source.reshape(-1)[: index.size].sum().astype(x.dtype, copy=False)
    where = list(cupy.ogrid[tuple(slice(0, size) for size in index.shape)])
    where[dim] = index
    return _added(x, tuple(where), source[tuple(slice(0, size) for size in index.shape)])


def _added(x: Any, where: tuple, value: Any) -> Any:
    """Return a copy of x with value added at `where`, by atomic additions on the device."""
    import cupyx

    kind = _atomic_kind(x.dtype)
    if kind is not None and kind.itemsize == x.dtype.itemsize:
        out = x.copy()
        cupyx.scatter_add(out.view(kind), where, value.view(kind))
        return out
    wide = x.astype(kind)
    cupyx.scatter_add(wide, where, value.astype(kind))
    return wide.astype(x.dtype)


def _atomic_kind(dtype: Any) -> Any:
    """Return the dtype in which atomic addition comes out right: itself, the same bits, or a wider one."""
    if dtype.name in ("float16", "float32", "float64", "int32"):
        return dtype
    if dtype.name == "int64":
        return np.dtype(np.uint64)  # two's complement: the same bits add up to the same bits
    if dtype.kind in "iub":
        return np.dtype(np.int32)
    return np.dtype(np.float32)  # bfloat16


overrides: dict[str, Callable] = {
    "digamma": _through("digamma"),
    "erf": _through("erf"),
    "erfc": _through("erfc"),
    "erfinv": _through("erfinv"),
    "index_add": index_add,
    "lgamma": _through("gammaln"),
    "polygamma": polygamma,
    "scatter_add": scatter_add,
    **{name: _by_row(name) for name in ELEMENTWISE},
}
