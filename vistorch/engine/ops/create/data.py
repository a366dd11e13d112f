"""Tensors from data: `tensor` copies, `as_tensor` and `asarray` share where they can, `from_numpy` always shares."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.dims import flag
from ...base.events import listeners
from ...base.modes import mode
from ...base.numpy_warnings import without_warnings
from ...core import graph, views
from ...core.base_ops import to_dtype, to_place
from ...core.graph import sync_rg
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, ndarray, new, wrap
from ...library_name import library
from ...memory.array_memory import check_array
from ...memory.placement import BATCHED, CPU, array_place, move, place_of
from .arguments import leaf, no_more
from .nested import array_of

COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)
READ_ONLY = (
    "The given NumPy array is not writable, and vistorch does not support non-writable tensors. This means writing to "
    "this tensor will result in undefined behavior. You may want to copy the array to protect its data or make it "
    "writable before converting it to a tensor."
)
LIST_OF_ARRAYS = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a "
    "single numpy.ndarray with numpy.array() before converting to a tensor."
)


def cast_array(a: Any, dt: Any) -> Any:
    """A copy of an array in another type, in its own order of memory."""
    with without_warnings():
        if a.dtype.kind == "c" and dt.kind not in "cb":
            a = a.real
        return a.astype(dt)


def put(a: Any, place: Any) -> Any:
    """An array of numpy, or one drawn on a device, at a place."""
    if place.kind == BATCHED:
        return move(a, CPU, place)
    if not place.kind or (type(a) is place.xp.ndarray and a.device.id == place.index):
        return a
    return move(a, CPU if isinstance(a, np.ndarray) else array_place(a), place)


@public(method=False)
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """Make a tensor by copying data; it has no history.

    Args:
        data: a number, a nested sequence of numbers, a numpy array, a tensor.
        dtype: the element type; without it, what the data needs.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.
        pin_memory: accepted; memory of the CPU is not page-locked here.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2.5], [True, 4]])
        tensor([[1.0000, 2.5000],
                [1.0000, 4.0000]])
    """
    if pin_memory is not False or requires_grad is not False:
        flag(pin_memory, "tensor", "pin_memory")
        requires_grad = flag(requires_grad, "tensor", "requires_grad")
    dt = None if dtype is None else dtypes.as_np(dtype, "tensor")
    if data.__class__ is list:
        if device is None and requires_grad is False and dt is None:
            return _flat(data)
    elif isinstance(data, Tensor):
        warnings.warn(COPY_CONSTRUCT.format(f"{library}.tensor"), UserWarning, stacklevel=2)
    return copied(data, dt, device, requires_grad, "tensor")


def _flat(data: list) -> Tensor:
    """The commonest case: a list, and nothing said."""
    o = new(Tensor)
    o._place = place = place_of(None)
    _warn_of_arrays(data)
    o._data = put(array_of(data, None), place)
    o._rg = False
    o._grad = o._node = o._view = o._more = None
    o._ver = None if mode.on is not None else graph.UNTRACKED
    if (emit := listeners.data) is not None:
        emit(o, "tensor")
    return o


def _warn_of_arrays(data: Any) -> None:
    if data and data[0].__class__ is ndarray and data[0].ndim:
        warnings.warn(LIST_OF_ARRAYS, UserWarning, stacklevel=4)


def copied(data: Any, dt: Any, device: Any, requires_grad: Any, name: str) -> Tensor:
    """A new tensor from any data, at its own place if that is not named; listeners learn what no op made."""
    o = _copied(data, dt, device, requires_grad, name)
    if (emit := listeners.data) is not None and not isinstance(data, Tensor):
        emit(o, name)
    return o


def _copied(data: Any, dt: Any, device: Any, requires_grad: Any, name: str) -> Tensor:
    if isinstance(data, Tensor):
        if (emit := listeners.cut) is not None:
            emit("tensor(t)", data)
        source, target = data._place, data._place if device is None else place_of(device, name)
        a = move(data._data, source, target, copy=True)
        if dt is not None and a.dtype != dt:
            a = cast_array(a, dt)
        return leaf(wrap(a, target), requires_grad, name)
    if isinstance(data, ndarray):
        check_array(data)
        place = place_of(device, name)
        with without_warnings():
            a = dtypes.own(np.array(data)) if dt is None or dt == data.dtype else cast_array(data, dt)
        return leaf(wrap(put(a, place), place), requires_grad, name)
    if isinstance(data, np.generic) and not isinstance(data, (np.str_, np.bytes_)):
        own = dtypes.of(data.dtype).np
        a = np.array(data) if dt is None or own == dt else array_of(data.item(), dt)
    elif hasattr(data, "__cuda_array_interface__"):
        return _from_device(data, dt, device, requires_grad, name)
    elif hasattr(data, "__array_interface__") and not isinstance(data, (list, tuple)):
        return _copied(np.asarray(data), dt, device, requires_grad, name)
    else:
        if isinstance(data, (list, tuple)):
            _warn_of_arrays(data)
        a = array_of(data, dt)
    place = place_of(device, name)
    return leaf(wrap(put(a, place), place), requires_grad, name)


def _from_device(data: Any, dt: Any, device: Any, requires_grad: Any, name: str) -> Tensor:
    """A copy of a cupy array."""
    source = array_place(data)
    target = source if device is None else place_of(device, name)
    a = move(data, source, target, copy=True)
    return leaf(wrap(a if dt is None else a.astype(dt), target), requires_grad, name)


@public(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Make a tensor, sharing memory and history with the data where dtype and device allow.

    Args:
        data: as for `tensor`.
        dtype: the element type; without it, what the data has or needs.
        device: where the tensor will be; without it, where the data is.

    Example:
        >>> import numpy, vistorch
        >>> a = numpy.zeros(2)
        >>> vistorch.as_tensor(a)[0] = 1
        >>> a
        array([1., 0.])
    """
    dt = None if dtype is None else dtypes.as_np(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return converted(data, dt, data._place if device is None else place_of(device, "as_tensor"))
    if isinstance(data, ndarray):
        place = place_of(device, "as_tensor")
        check_array(data)
        if place is CPU and (dt is None or dt == data.dtype):
            return from_numpy(data)
    return copied(data, dt, device, False, "as_tensor")


def converted(t: Tensor, dt: Any, place: Any) -> Tensor:
    """`t` itself if nothing changes, else a copy with history."""
    if dt is not None and t._data.dtype != dt:
        t = to_dtype(t, dt)
    return t if t._place is place else to_place(t, place)


def from_numpy(a: Any, /) -> Tensor:
    """Make a tensor on the memory of a numpy array.

    Args:
        a: the array; what is written to one is seen in the other.

    Example:
        >>> import numpy, vistorch
        >>> a = numpy.zeros(2)
        >>> t = vistorch.from_numpy(a)
        >>> a[0] = 7
        >>> t
        tensor([7., 0.], dtype=vistorch.float64)
    """
    if not isinstance(a, ndarray):
        module, name = type(a).__module__, type(a).__name__
        raise TypeError(f"expected np.ndarray (got {f'numpy.{name}' if module == 'numpy' else name})")
    check_array(a)
    if not a.flags.writeable:
        _warn_read_only()
    if isinstance(a.base, ndarray) and a.dtype.kind != "V":  # the protocol has no name for bfloat16
        a = np.asarray(_Lent(a))
    o = views.expanded(wrap(dtypes.own(np.asarray(a))))
    if (emit := listeners.data) is not None:
        emit(o, "from_numpy")
    return o


class _Lent:
    """Part of an array in the form of numpy's protocol: the tensor's storage is then this part, not the whole."""

    def __init__(self, array: ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


def _warn_read_only() -> None:
    warnings.warn(READ_ONLY, UserWarning, stacklevel=3)


public(method=False)(from_numpy)


@public()
def detach(self: Tensor) -> Tensor:
    """The same memory without history; the version count stays common.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> (x * 2).detach()
        tensor([2., 2.])
    """
    try:
        o = wrap(self._data, self._place)
    except AttributeError:
        raise errors.must_be_tensor("detach", "input", 1, self) from None
    v = graph.version(self)
    o._ver = v if v is not graph.UNTRACKED else graph.loose(o)
    if (emit := listeners.cut) is not None:
        emit("detach", self)
    return views.expanded(o) if self._view is not None and 0 in o._data.strides else o


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """A tensor from data, of this one's dtype and device where they are not named.

    Args:
        self: the tensor to take after.
        data: as for `vistorch.tensor`.
        dtype: the element type.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.
        **named: `layout` and `pin_memory`, accepted.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, dtype=vistorch.int8).new_tensor([1.5, 2])
        tensor([1, 2], dtype=vistorch.int8)
    """
    if named:
        no_more("new_tensor", named, ("layout", "pin_memory"))
        flag(named.get("pin_memory", False), "new_tensor", "pin_memory")
    if requires_grad is not False:
        requires_grad = flag(requires_grad, "new_tensor", "requires_grad")
    if isinstance(data, Tensor):
        warnings.warn(COPY_CONSTRUCT.format("tensor.new_tensor"), UserWarning, stacklevel=2)
    dt = self._data.dtype if dtype is None else dtypes.as_np(dtype, "new_tensor")
    return copied(data, dt, self._place.device if device is None else device, requires_grad, "new_tensor")


METHODS["new_tensor"] = new_tensor


def needs_grad(t: Tensor) -> bool:
    """Whether `t` requires grad now."""
    return sync_rg(t)
