"""Evenly spaced numbers between two bounds: linspace, logspace.

Invariant: both count from the nearer end, as PyTorch does, so that both ends are exact.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.dims import fits
from ...base.numpy_warnings import without_warnings
from ...core.registry import public
from ...core.tensor import Tensor
from ...library_name import library
from ...memory.placement import place_of
from .arguments import check_layout, check_pinned, invalid, leaf, made
from .constants import bare, check_target, into
from .data import put
from .numbers import fit
from .ranges import HALVES, INT64, refuse


def _between(start: Any, end: Any, n: int, dt: np.dtype) -> np.ndarray:
    """N numbers from start to end, in the precision PyTorch computes in."""
    if n == 0 or dt.kind == "b":
        return np.full(n, start).astype(dt)
    kind = np.dtype(np.float32) if dt in HALVES else np.dtype(np.float64) if dt.kind in "iu" else dt
    first, last = kind.type(fit(start, dt)), kind.type(fit(end, dt))
    if n == 1:
        return np.full(1, first).astype(dt)
    step = (last - first) / kind.type(max(n - 1, 1))
    half = n // 2
    up = np.arange(half).astype(kind)
    down = np.arange(n - half - 1, -1, -1).astype(kind)
    with without_warnings():
        out = np.concatenate((first + step * up, last - step * down))
        return out.astype(dt, copy=False)


def _powers(start: Any, end: Any, n: int, base: float, dt: np.dtype) -> np.ndarray:
    """Powers of `base` with evenly spaced exponents."""
    with without_warnings():
        if n == 0 or dt.kind == "b":
            return np.full(n, base**start if n else 0).astype(dt)
        if dt.kind in "iu":
            exponents = _between(int(start), int(end), n, np.dtype(np.float32))  # the bounds are of that type
            return np.power(base, exponents.astype(np.float64)).astype(INT64).astype(dt)
        if dt.kind == "c":
            return np.power(dt.type(base), _between(start, end, n, dt))
        exponents = _between(start, end, n, np.dtype(np.float32) if dt in HALVES else dt)
        return (
            np.power(base, exponents.astype(np.float64)).astype(np.float32 if dt in HALVES else dt).astype(dt)
        )


def _end(value: Any, name: str, which: str) -> Any:
    """A Python number from a bound that is a number or a tensor."""
    if isinstance(value, Tensor):
        if value._data.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {which} with "
                f"{value._data.ndim} dimension(s)."
            )
        return value._data.item()
    return value


def _between_like(name: str, args: tuple, options: tuple, values: Any) -> Tensor:
    """What linspace and logspace share."""
    start, end, steps = args
    out, dtype, layout, device, requires_grad = options
    for value in (start, end):
        if not isinstance(value, (int, float, complex, np.number, np.bool_, Tensor)):
            raise invalid(name, args, {}, " * (Number start, Number end, int steps, *, ...)\n")
    if steps is None or isinstance(steps, (bool, np.bool_)) or not hasattr(steps, "__index__"):
        given = args if steps is not None else args[:2]
        raise invalid(name, given, {}, " * (Number start, Number end, int steps, *, ...)\n")
    n = fits(index(steps))
    start, end = _end(start, name, "start"), _end(end, name, "end")
    has_complex = isinstance(start, complex) or isinstance(end, complex)
    inferred = dtypes.default.complex_np if has_complex else dtypes.default.np
    dt = inferred if dtype is None else dtypes.as_np(dtype, name)
    if has_complex and dt.kind != "c":
        raise RuntimeError(
            f"{library}.{name}(): inferred dtype c10::complex<float> can't be safely cast to passed dtype "
            f"{dtypes.of(dt).scalar_name}"
        )
    if n < 0:
        raise RuntimeError("number of steps must be non-negative")
    if out is not None:
        check_target(out, dtype, name)
        if n > 1:
            refuse(name, out._data.dtype, False)
        shape = out._data.shape if out._data.size == n and out._data.ndim else (n,)

        def write(d: Any) -> None:
            d[...] = put(values(start, end, n, d.dtype).reshape(shape), out._place)

        return into(out, shape, dtype, name, write, requires_grad)
    check_layout(layout, name)
    refuse(name, dt, False)
    place = place_of(device, name)
    return leaf(bare(put(made(values, (start, end, n, dt), n, dt), place), place), requires_grad, name)


@public(method=False)
def linspace(
    start: Any,
    end: Any,
    steps: Any = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers evenly spaced from start to end, both included.

    Args:
        start: the first number, or a tensor of no dimensions.
        end: the last number, or a tensor of no dimensions.
        steps: how many numbers.
        out: where to write the result.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "linspace")
    return _between_like(
        "linspace", (start, end, steps), (out, dtype, layout, device, requires_grad), _between
    )


@public(method=False)
def logspace(
    start: Any,
    end: Any,
    steps: Any = None,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Powers of `base` whose exponents are evenly spaced from start to end, both included.

    Args:
        start: the first exponent, a number or a tensor of no dimensions.
        end: the last exponent, a number or a tensor of no dimensions.
        steps: how many numbers.
        base: the base.
        out: where to write the result.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "logspace")
    if isinstance(base, complex) or not isinstance(base, (int, float, np.number)):
        raise invalid(
            "logspace", (start, end, steps), {"base": base}, " * (..., float base = 10.0, *, ...)\n"
        )

    def values(start: Any, end: Any, n: int, dt: np.dtype) -> np.ndarray:
        return _powers(start, end, n, float(base), dt)

    return _between_like("logspace", (start, end, steps), (out, dtype, layout, device, requires_grad), values)
