"""Tensors that share with what they are made of, by rule: asarray and frombuffer; and tensors of chosen strides."""

from __future__ import annotations

import warnings
from operator import index
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.dims import flag
from ...base.events import listeners
from ...core import views
from ...core.base_ops import clone_
from ...core.graph import sync_rg
from ...core.registry import public
from ...core.tensor import Tensor, ndarray, wrap
from ...kernels.strides import extent, laid
from ...library_name import named
from ...memory.array_memory import check_array
from ...memory.placement import place_of
from ...methods.dlpack import from_dlpack
from .arguments import allocate, check_bool, check_pinned, leaf, size_tuple
from .constants import bare
from .data import converted, copied, from_numpy, put
from .numbers import as_scalar, fit

READ_ONLY = (
    "The given buffer is not writable, and vistorch does not support non-writable tensors. This means you can write to "
    "the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to protect its "
    "data or make it writable before converting it to a tensor."
)
ASARRAY_GRAD = (
    "vistorch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
    "requires_grad=False explicitly to get the old behavior and silence this warning."
)


# ---- asarray -------------------------------------------------------------------------------------------------
@public(method=False)
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Make a tensor, sharing the memory of tensors, arrays and buffers where that is possible.

    Args:
        obj: a tensor, an array, an object with `__dlpack__`, a buffer, or numbers.
        dtype: the element type; without it, what the data has.
        device: where the tensor will be.
        copy: True always copies, False raises where a copy is needed.
        requires_grad: whether the result requires grad; without it, whether `obj` does.

    Example:
        >>> import numpy, vistorch
        >>> a = numpy.zeros(2)
        >>> vistorch.asarray(a)[0] = 1
        >>> a
        array([1., 0.])
    """
    dt = None if dtype is None else dtypes.as_np(dtype, "asarray")
    place = None if device is None else place_of(device, "asarray")
    if requires_grad is not None:
        check_bool(requires_grad, "asarray")
    if copy is not None:
        copy = flag(copy, "asarray", "copy")
    found = _shared(obj, dt)
    if found is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return leaf(copied(obj, dt, device, False, "asarray"), bool(requires_grad), "asarray")
    if copy is False:
        if dt is not None and found._data.dtype != dt:
            raise ValueError(
                f"can't alias tensor with dtype '{found.dtype.scalar_name}' into dtype '{dtypes.of(dt).scalar_name}'."
            )
        if place is not None and place is not found._place:
            raise ValueError(f"can't alias tensor from device '{found._place.device}' to '{device}'.")
    had = sync_rg(found)
    result = converted(found, dt, found._place if place is None else place)
    if copy and result is found:
        result = clone_(found)
    if requires_grad is None:
        if had:
            warnings.warn(named(ASARRAY_GRAD), UserWarning, stacklevel=2)
        return result
    if not requires_grad:
        return result.detach() if sync_rg(result) else result  # type: ignore[attr-defined]
    return result if sync_rg(result) else leaf(result, True, "asarray")


def _shared(obj: Any, dt: Any) -> Tensor | None:
    """A tensor on `obj`'s memory, or None where it has none to share."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, ndarray):
        check_array(obj)
        return from_numpy(obj)
    if isinstance(obj, np.generic):
        return None
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    if isinstance(obj, (bytes, bytearray, memoryview)):
        kind = dtypes.default.dtype if dt is None else dtypes.of(dt)
        return frombuffer(obj, dtype=kind)
    return None


@public(method=False)
def frombuffer(
    buffer: Any, *, dtype: Any = None, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Make a tensor on the memory of a buffer.

    Args:
        buffer: an object with the buffer protocol, such as a bytearray.
        dtype: the element type.
        count: how many elements; -1 for all there are.
        offset: how many bytes to leave out at the start.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.frombuffer(bytearray([1, 2, 3]), dtype=vistorch.uint8)
        tensor([1, 2, 3], dtype=vistorch.uint8)
    """
    if dtype is None:
        raise TypeError('frombuffer() missing 1 required positional arguments: "dtype"')
    dt = dtypes.as_np(dtype, "frombuffer")
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    have, size = view.nbytes, dt.itemsize
    if not have or not count:
        raise ValueError(f"both buffer length ({have}) and count ({count}) must not be 0")
    if not 0 <= offset < have:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({have} bytes) minus 1"
        )
    if count < 0 and (have - offset) % size:
        raise ValueError(
            f"buffer length ({have - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({size})"
        )
    if count > 0 and offset + count * size > have:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({have} bytes)"
        )
    if view.readonly:
        warnings.warn(READ_ONLY, UserWarning, stacklevel=2)
    requires_grad = flag(requires_grad, "frombuffer", "requires_grad")
    o = leaf(wrap(np.frombuffer(buffer, dt, count, offset)), requires_grad, "frombuffer")
    if (emit := listeners.data) is not None:
        emit(o, "frombuffer")
    return o


# ---- strides ---------------------------------------------------------------------------------------------------
def _strided(shape: tuple, strides: Any, dt: np.dtype, place: Any, name: str) -> Any:
    """Memory for a shape and strides in elements."""
    strides = tuple(index(n) for n in strides)
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    total = 1 + extent(shape, strides)
    if min(strides, default=0) < 0 or max(total, *strides, 0) * dt.itemsize >= 2**63:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={errors.sizes(shape)} and strides={errors.sizes(strides)}"
        )
    memory = allocate(place.xp.empty, (total,), dt, place)
    return laid(place.xp, memory, shape, tuple([s * dt.itemsize for s in strides]))


@public(method=False)
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of chosen strides, its elements whatever was in memory.

    Args:
        size: the sizes.
        stride: how many elements lie between neighbours, along each dimension.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.
        pin_memory: accepted; memory of the CPU is not page-locked here.

    Example:
        >>> import vistorch
        >>> vistorch.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "empty_strided")
    shape = size_tuple(size, "empty_strided")
    dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "empty_strided")
    place = place_of(device, "empty_strided")
    made = views.expanded(bare(_strided(shape, stride, dt, place, "empty_strided"), place))
    return leaf(made, requires_grad, "empty_strided")


@public(function=False)
def new_empty_strided(
    self: Tensor,
    size: Any,
    stride: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`vistorch.empty_strided` with this tensor's dtype and device where they are not named.

    Args:
        self: the tensor to take after.
        size: the sizes.
        stride: the strides, in elements.
        dtype: the element type.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.ones(1).new_empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "new_empty_strided")
    kind = self.dtype if dtype is None else dtype
    where = self._place.device if device is None else device
    return empty_strided(size, stride, dtype=kind, device=where, requires_grad=requires_grad)


@public(method=False)
def empty_permuted(
    size: Any,
    physical_layout: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A dense tensor whose dimensions lie in memory in a chosen order, its elements whatever was in memory.

    Args:
        size: the sizes.
        physical_layout: the dimensions from the slowest to the fastest.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.
        pin_memory: accepted; memory of the CPU is not page-locked here.

    Example:
        >>> import vistorch
        >>> vistorch.empty_permuted((2, 3), (1, 0)).stride()
        (1, 2)
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "empty_permuted")
    shape = size_tuple(size, "empty_permuted")
    order = tuple(index(n) for n in physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for n in order:
        if not 0 <= n < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {n} at index "
                f"{order.index(n)}).  NB: negative dims not currently supported; file an issue if you want it."
            )
    if len(set(order)) != len(order):
        raise RuntimeError("Duplicate dim not allowed")
    dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "empty_permuted")
    place = place_of(device, "empty_permuted")
    made = allocate(place.xp.empty, tuple(shape[n] for n in order), dt, place)
    back = [order.index(n) for n in range(len(shape))]
    return leaf(bare(made.transpose(back), place), requires_grad, "empty_permuted")


@public(method=False)
def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of no dimensions.

    Args:
        s: the number.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.scalar_tensor(3)
        tensor(3.)
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "scalar_tensor")
    dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "scalar_tensor")
    place = place_of(device, "scalar_tensor")
    value = np.asarray(fit(as_scalar(s, "scalar_tensor", "s", 1), dt)).astype(dt)
    return leaf(wrap(put(value, place), place), requires_grad, "scalar_tensor")
