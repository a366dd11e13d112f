"""Tensors of one value: zeros, ones, full, empty, eye, and their `_like` and `new_` forms.

The three plain ones are made by one factory, so that the common call (`zeros(3, 4)`) costs a loop over the sizes and
the allocation. Invariant: every function of this module makes a leaf without history.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.events import listeners
from ...base.modes import mode
from ...core import graph, out_argument
from ...core.registry import METHODS, expose, public
from ...core.tensor import Tensor, new
from ...core.views import aliased
from ...memory.placement import CPU, place_of
from .arguments import (
    allocate,
    check_layout,
    check_pinned,
    formatted,
    leaf,
    require_floating,
    size_tuple,
    sizes,
    whole,
)
from .numbers import as_scalar, filled_type, fit


def bare(data: Any, place: Any) -> Tensor:
    """`wrap` without its questions."""
    o = new(Tensor)
    o._data = data
    o._place = place
    o._rg = False
    o._grad = o._node = o._view = o._more = None
    o._ver = None if mode.on is not None else graph.UNTRACKED
    return o


RESIZES = frozenset(("empty", "randn"))
FILLS = frozenset(
    ("empty", "zeros", "ones", "full", "eye")
)  # what one element answers goes for its repetitions


def into(out: Any, shape: tuple, dtype: Any, name: str, write: Any, requires_grad: Any = False) -> Tensor:
    """Resize `out` (silently, as factories do), let `write(array)` fill it, and return it."""
    check_target(out, dtype, name)
    d = out._data
    if requires_grad:
        require_floating(d.dtype)
    if d.shape != shape:
        d = allocate(out._place.xp.empty, shape, d.dtype, out._place)
        write(d)
        out_argument.put(out, d)
    else:
        if aliased(d) and name not in FILLS:
            raise RuntimeError(errors.WRITE_ALIASED)
        if (emit := listeners.overwrite) is not None:
            emit(out)
        write(d)
    graph.version(out).n += 1
    if (emit := listeners.write) is not None:
        emit(out, None)
    return out if requires_grad is False else leaf(out, requires_grad, name)


def check_target(out: Any, dtype: Any, name: str) -> None:
    """Refuse an `out` that a creation function cannot write to."""
    if name in RESIZES and isinstance(out, Tensor) and mode.on and out.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    out_argument.check_out(name if name == "bernoulli" else f"aten::{name}", out)
    if dtype is not None and dtypes.to_dtype(dtype, name) is not out.dtype:
        given = dtypes.to_dtype(dtype, name)
        raise RuntimeError(
            f"dtype {given.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
        )


def _plain(name: str, value: Any, meaning: str, example: str) -> Any:
    """`zeros`, `ones` and `empty`."""
    numpy_make = getattr(np, name)

    def write(d: Any) -> None:
        if value is not None:
            d[...] = value

    def make(
        *size: Any,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        **named: Any,
    ) -> Tensor:
        if pin_memory is not False:
            check_pinned(pin_memory, name)
        form = named.pop("memory_format", None) if named and value is None else None
        shape = sizes(size, name, named)
        if out is not None:
            return into(out, shape, dtype, name, write, requires_grad)
        if layout is not None:
            check_layout(layout, name)
        dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, name)
        place = place_of(device, name)
        if form is not None:
            d = formatted(place.xp.empty, shape, dt, place, form, name)
        elif place is CPU:
            try:
                d = numpy_make(shape, dt)
            except (MemoryError, ValueError):
                d = allocate(numpy_make, shape, dt, place)
        else:
            d = allocate(getattr(place.xp, name), shape, dt, place)
        o = bare(d, place)
        return o if requires_grad is False else leaf(o, requires_grad, name)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""{meaning}

    Args:
        *size: the sizes, one by one or as one sequence.
        out: where to write the result.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        **named: `size`, where the sizes are not given by position.

    Example:
        >>> import vistorch
        >>> {example}
    """
    return make


zeros = expose(
    _plain("zeros", 0, "A tensor of zeros.", "vistorch.zeros(2)\n        tensor([0., 0.])"), method=False
)
ones = expose(
    _plain("ones", 1, "A tensor of ones.", "vistorch.ones(2)\n        tensor([1., 1.])"), method=False
)
empty = expose(
    _plain(
        "empty",
        None,
        "A tensor whose elements are whatever was in memory.",
        "vistorch.empty(2, 3).shape\n        vistorch.Size([2, 3])",
    ),
    method=False,
)


@public(method=False)
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one value.

    Args:
        size: the sizes, as a tuple or list.
        fill_value: the value, a number or a tensor of no dimensions.
        out: where to write the result.
        dtype: the element type; without it, what the value needs.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.full((2,), 3), vistorch.full((2,), 3.5)
        (tensor([3, 3]), tensor([3.5000, 3.5000]))
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "full")
    shape = size_tuple(size, "full")
    value = as_scalar(fill_value, "full", "fill_value", 2)
    if out is not None:
        return into(out, shape, dtype, "full", lambda d: d.fill(fit(value, d.dtype)), requires_grad)
    check_layout(layout, "full")
    dt = filled_type(value) if dtype is None else dtypes.as_np(dtype, "full")
    place = place_of(device, "full")
    fitted = fit(value, dt)
    d = allocate(place.xp.empty, shape, dt, place)
    d.fill(fitted)
    return leaf(bare(d, place), requires_grad, "full")


def _new(name: str, shown: str) -> None:
    """`new_zeros`, `new_ones` and `new_empty`."""

    def make(
        self: Tensor,
        *size: Any,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        **named: Any,
    ) -> Tensor:
        if pin_memory is not False:
            check_pinned(pin_memory, name)
        shape = sizes(size, name, named)
        check_layout(layout, name)
        dt = self._data.dtype if dtype is None else dtypes.as_np(dtype, name)
        place = self._place if device is None else place_of(device, name)
        d = allocate(getattr(place.xp, name[4:]), shape, dt, place)
        return leaf(bare(d, place), requires_grad, name)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""`vistorch.{name[4:]}` with this tensor's dtype and device where they are not named.

    Args:
        self: the tensor to take after.
        *size: the sizes, one by one or as one sequence.
        dtype: the element type.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        **named: `size`, where the sizes are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([5]).{name}(2){shown}
    """
    METHODS[name] = make


_new("new_zeros", "\n        tensor([0, 0])")
_new("new_ones", "\n        tensor([1, 1])")
_new("new_empty", ".dtype\n        vistorch.int64")


@public(function=False)
def new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`vistorch.full` with this tensor's dtype and device where they are not named.

    Args:
        self: the tensor to take after.
        size: the sizes, as a tuple or list.
        fill_value: the value.
        dtype: the element type.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(1, dtype=vistorch.int8).new_full((2,), 3)
        tensor([3, 3], dtype=vistorch.int8)
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "new_full")
    shape = size_tuple(size, "new_full")
    value = as_scalar(fill_value, "new_full", "fill_value", 2)
    check_layout(layout, "new_full")
    dt = self._data.dtype if dtype is None else dtypes.as_np(dtype, "new_full")
    place = self._place if device is None else place_of(device, "new_full")
    fitted = fit(value, dt)
    d = allocate(place.xp.empty, shape, dt, place)
    d.fill(fitted)
    return leaf(bare(d, place), requires_grad, "new_full")


@public(method=False)
def eye(
    n: Any,
    m: Any = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere.

    Args:
        n: how many rows.
        m: how many columns; without it as many.
        out: where to write the result.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "eye")
    rows = whole(n, "eye", "n", 1)
    columns = rows if m is None else whole(m, "eye", "m", 2)
    for value, label in ((rows, "n"), (columns, "m")):
        if value < 0:
            raise RuntimeError(f"{label} must be greater or equal to 0, got {value}")

    def write(d: Any) -> None:
        d[...] = 0
        # a stride of one row and one column walks the diagonal, in any array library
        flat = d.reshape(-1) if d.flags.c_contiguous else None
        if flat is None:
            for i in range(min(rows, columns)):
                d[i, i] = 1
        else:
            flat[: min(rows, columns) * columns : columns + 1] = 1

    if out is not None:
        return into(out, (rows, columns), dtype, "eye", write, requires_grad)
    check_layout(layout, "eye")
    dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "eye")
    place = place_of(device, "eye")
    d = allocate(place.xp.zeros, (rows, columns), dt, place)
    write(d)
    return leaf(bare(d, place), requires_grad, "eye")
