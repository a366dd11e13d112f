"""Numbers at a fixed distance: arange, range.

Invariant: int64 is counted exactly, every other type in double precision, as in PyTorch.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.events import listeners
from ...base.numpy_warnings import without_warnings
from ...core import out_argument
from ...core.graph import version
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.views import aliased
from ...library_name import named
from ...memory.placement import place_of
from .arguments import check_layout, check_pinned, invalid, leaf, made, require_floating
from .constants import bare, check_target, into
from .data import put
from .numbers import as_scalar, fit

INT64 = np.dtype("i8")
MANY = 2**24  # below this no memory is too small, so the short way needs no care
HALVES = frozenset((np.dtype("f2"), dtypes.bfloat16.np))
_ARANGE = (
    " * (Number end, *, ...)\n * (Number start, Number end, *, ...)\n"
    " * (Number start, Number end, Number step = 1, *, ...)\n"
)
_RANGE_DEPRECATED = (
    "vistorch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
    "Python's range builtin. Instead, use vistorch.arange, which produces values in [start, end)."
)


def _bounds(given: tuple, named: dict, name: str, forms: str) -> tuple:
    """start, end and step as Python numbers."""
    if named:
        for key in named:
            if key not in ("start", "end", "step"):
                raise invalid(name, given, named, forms)
        given = list(given)  # type: ignore[assignment]
        end = named.get("end")
        start = named.get("start")
        step = named.get("step", 1)
        if start is None and given and (len(given) > 1 or end is not None):
            start = given.pop(0)  # type: ignore[attr-defined]
        if end is None and given:
            end = given.pop(0)  # type: ignore[attr-defined]
        if "step" not in named and given:
            step = given.pop(0)  # type: ignore[attr-defined]
        if end is None and start is not None:
            raise TypeError(f'{name}() missing 1 required positional arguments: "end"')
        if end is None or given:
            raise invalid(name, tuple(given), named, forms)
        start = 0 if start is None else start
    else:
        n = len(given)
        if not 0 < n < 4:
            raise invalid(name, given, named, forms)
        start, end, step = (0, given[0], 1) if n == 1 else (*given, 1) if n == 2 else given
    end = as_scalar(end, name, "end", 1 if len(given) == 1 else 2)
    start = as_scalar(start, name, "start", 1)
    step = as_scalar(step, name, "step", 3)
    for value in (start, end, step):
        if isinstance(value, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            if not -(2**63) <= value < 2**64:  # up to there PyTorch has an unsigned number
                raise OverflowError("int too big to convert")
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return start, end, step


def _check_step(start: Any, end: Any, step: Any) -> None:
    if not step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _count(start: Any, end: Any, step: Any, dt: np.dtype) -> int:
    """How many numbers arange gives; int64 counts exactly, every other type in double precision."""
    if dt == INT64:
        start, end, step = int(start), int(end), int(step)
        if not step:
            raise ValueError("step must be nonzero")
        return -((start - end) // step)
    size = math.ceil((float(end) - float(start)) / float(step))
    if not 0 <= size < 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    return size


def _spaced(start: Any, step: Any, n: int, dt: np.dtype) -> np.ndarray:
    """N numbers from start on."""
    if dt.kind in "iu":
        first, width = fit(int(start), INT64), fit(int(step), INT64)
        values = np.arange(n, dtype=INT64)
        if width != 1:
            values *= width
        if first:
            values += first
        return values if dt == INT64 else values.astype(dt)
    values = np.arange(n, dtype=np.float64)
    if step != 1:
        values *= float(step)
    if start:
        values += float(start)
    with without_warnings():
        return values.astype(np.float32).astype(dt) if dt in HALVES else values.astype(dt, copy=False)


def _whole_type(values: tuple) -> bool:
    return all(isinstance(v, int) for v in values)


def refuse(name: str, dt: np.dtype, complex_too: bool) -> None:
    """Refuse element types PyTorch has no kernel for."""
    if dt.kind == "b" or (complex_too and dt.kind == "c"):
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{dtypes.of(dt).scalar_name}'")


def _write_counted(out: Any, n: int, dtype: Any, name: str, values: Any) -> Tensor:
    """`out=` of arange: any shape with the right number of elements is filled."""
    out_argument.check_out(f"aten::{name}", out)
    d = out._data
    if d.size == n and d.ndim and dtype is None:
        if aliased(d):
            raise RuntimeError(errors.WRITE_ALIASED)
        if (emit := listeners.overwrite) is not None:
            emit(out)
        d[...] = put(values(d.dtype).reshape(d.shape), out._place)
        version(out).n += 1
        if (emit := listeners.write) is not None:
            emit(out, None)
        return out
    if d.size and d.size != n:
        size = ", ".join(map(str, d.shape))
        warnings.warn(
            f"The number of elements in the out tensor of shape [{size}] is {d.size} which does not match the "
            f"computed number of elements {n}. Note that this may occur as a result of rounding error. The out "
            f"tensor will be resized to a tensor of shape ({n},).",
            UserWarning,
            stacklevel=3,
        )

    def write(d: Any) -> None:
        d[...] = put(values(d.dtype), out._place)

    return into(out, (n,), dtype, name, write)


@public(method=False)
def arange(
    *bounds: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """The numbers from start up to, and without, end.

    Args:
        *bounds: `end`; or `start, end`; or `start, end, step`.
        out: where to write the result.
        dtype: the element type; without it int64 for whole numbers, else the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        **named: `start`, `end`, `step`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.arange(3), vistorch.arange(1, 2, 0.5)
        (tensor([0, 1, 2]), tensor([1.0000, 1.5000]))
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "arange")
    if len(bounds) == 1 and dtype is None and out is None and not named:
        n = bounds[0]
        if n.__class__ is int and 0 <= n < MANY and layout is None:
            place = place_of(device, "arange")
            o = bare(put(np.arange(n, dtype=INT64), place), place)
            return o if requires_grad is False else leaf(o, requires_grad, "arange")
    start, end, step = _bounds(bounds, named, "arange", _ARANGE)
    if out is not None:
        check_target(out, dtype, "arange")
        dt = out._data.dtype if isinstance(out, Tensor) else INT64
    elif dtype is None:
        dt = INT64 if _whole_type((start, end, step)) else dtypes.default.np
    else:
        dt = dtypes.as_np(dtype, "arange")
    refuse("arange", dt, True)
    _check_step(start, end, step)
    n = _count(start, end, step, dt)
    if out is not None:
        if requires_grad:
            require_floating(dt)
        filled = _write_counted(out, n, dtype, "arange", lambda kind: _spaced(start, step, n, kind))
        return leaf(filled, requires_grad, "arange")
    check_layout(layout, "arange")
    place = place_of(device, "arange")
    o = bare(put(made(_spaced, (start, step, n, dt), n, dt), place), place)
    return leaf(o, requires_grad, "arange")


@public("range", method=False)
def range_(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from start up to end, end included; deprecated in favour of `arange`.

    Args:
        start: the first number.
        end: the last number.
        step: the distance.
        out: where to write the result.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.range(1, 3)
        tensor([1., 2., 3.])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "range_")
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warnings.warn(named(_RANGE_DEPRECATED), UserWarning, stacklevel=2)
    start, end, step = _bounds((start, end, step), {}, "range", _ARANGE)
    dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "range")
    if out is not None:
        out_argument.check_out("aten::range", out)
        dt = out._data.dtype
    refuse("range", dt, True)
    _check_step(start, end, step)
    n = int((end - start) / step) + 1
    if out is not None:
        return _write_counted(out, n, dtype, "range", lambda kind: _spaced(start, step, n, kind))
    check_layout(layout, "range")
    place = place_of(device, "range")
    o = bare(put(made(_spaced, (start, step, n, dt), n, dt), place), place)
    return leaf(o, requires_grad, "range")
