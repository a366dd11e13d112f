"""What cupy does differently from the shared kernels: special functions, fused kernels, solvers that report failure.

Imported at the first use of a CUDA place, never before: it imports cupy.
Invariant: `overrides` maps a row's name to a function called as the row's kernel is, `(*arrays, *constants)`, that
returns a new array and changes no argument.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from .cuda import halves, rows, settings
from .cuda.library import array_library
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


def polygamma_at(x: Any, n: int) -> Any:
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


def raising(kernel: Callable) -> Callable:
    """Let a solver say that it failed: cupy ignores that unless asked, because finding out waits for the device."""

    def run(*args: Any) -> Any:
        from cupyx import errstate

        with errstate(linalg="raise"):
            return kernel(*args)

    return functools.wraps(kernel)(run)


def chosen(name: str, shared: Callable) -> Callable:
    """Return what a row runs on cupy: the kernel from here, else the shared one; fused ones know no complex numbers."""
    own = overrides.get(name)
    if own is None:
        plain = raising(shared) if getattr(shared, "raises", False) else shared
        return guard(rows.chosen(name, plain, array_library(cupy)))
    if name not in ELEMENTWISE:
        return guard(own)

    def kernel(x: Any, *scalars: float) -> Any:
        return (shared if x.dtype.kind == "c" else own)(x, *scalars)

    return guard(functools.wraps(own)(kernel))


def chosen_together(name: str, plain: Any) -> Any:
    """Return what gives all gradients of a row at once, on any library's arrays."""
    own = rows.chosen_together(name, plain, array_library(cupy))
    return own if own is plain else guard(own)


def takes_halves(name: str) -> bool:
    """Whether the gradients of a row take half types as they are, and compute in float."""
    return name in halves.FORMULAS


overrides: dict[str, Callable] = {
    "digamma": _through("digamma"),
    "erf": _through("erf"),
    "erfc": _through("erfc"),
    "erfinv": _through("erfinv"),
    "lgamma": _through("gammaln"),
    "polygamma_at": polygamma_at,
    **{name: _by_row(name) for name in ELEMENTWISE},
}

settings.apply()
