"""A tensor as Python and numpy see it: numbers, lists, arrays, text.

Invariant: what is handed out as an array is the tensor's own memory, unless the caller asked for a copy.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, errors, type_names
from ..base.dims import flag
from ..base.events import listeners
from ..base.modes import mode
from ..core.registry import METHODS, public
from ..core.tensor import Tensor, ndarray, wrap
from ..kernels.cuda import capture, faults
from ..memory.placement import BATCHED, CPU, META, NO_DATA, move
from .format import elements_text, tensor_text

REQUIRES_GRAD = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
TO_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
ONLY_ONE = "only one element tensors can be converted to Python scalars"


def host(t: Tensor) -> ndarray:
    """The elements as a numpy array on the host, the tensor's own memory where that is possible."""
    place = t._place
    if place is META:
        raise NotImplementedError(NO_DATA)
    if place.kind == BATCHED:
        raise errors.Unbatchable("the values of a sample")
    return t._data if not place.kind else move(t._data, place, CPU)


@public(function=False)
def numpy(self: Tensor, *, force: bool = False) -> ndarray:
    """The elements as a numpy array on the same memory.

    Args:
        self: the tensor, on the CPU and without gradient unless `force`.
        force: also from another device or with a gradient, by `detach().cpu()`.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).numpy()
        array([1., 1.], dtype=float32)
    """
    if not flag(force, "numpy", "force"):
        if self._place is not CPU:
            if self._place.kind == BATCHED:
                host(self)
            raise TypeError(
                f"can't convert {self._place.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
                "to host memory first."
            )
        if mode.on and self.requires_grad:
            raise RuntimeError(REQUIRES_GRAD)
    a = host(self)
    if a.dtype is dtypes.bfloat16.np:
        raise TypeError("Got unsupported ScalarType BFloat16")
    if (emit := listeners.cut) is not None:
        emit("numpy", self)
    return a if self._place is CPU or self._place.kind else a.copy()


@public(function=False)
def item(self: Tensor) -> Any:
    """The only element as a Python number.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([2.5]).item()
        2.5
    """
    d = self._data
    if self._place.kind == BATCHED:
        raise RuntimeError(errors.VMAP_ITEM)
    if d.size != 1:
        raise RuntimeError(f"a Tensor with {d.size} elements cannot be converted to Scalar")
    if (emit := listeners.cut) is not None:
        emit("item", self)
    if self._place.kind:
        capture.refuse("reads a number of the device")
    value = d.item() if d.dtype.kind != "V" else float(host(self).reshape(()))
    if self._place is not CPU:
        if self._place is META:
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")
        faults.report()
    return value


@public(function=False)
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers; a single number for a tensor of no dimensions.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
    """
    a = host(self)
    if (emit := listeners.cut) is not None:
        emit("tolist", self)
    return (a.astype(np.float32) if a.dtype.kind == "V" else a).tolist()


def _repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The tensor's text."""
    place = self._place
    if place.kind == BATCHED:
        d = self._data
        values = "\n".join("    " + line for line in _repr(wrap(d.array)).splitlines())
        return f"BatchedTensor(lvl={d.lead}, bdim=0, value=\n{values}\n)"
    cls = type(self)
    name = "tensor" if cls is Tensor else cls.__dict__.get("_shown_as", cls.__name__)
    try:
        node = self.grad_fn
        made_by = None if node is None else node.name()
    except RuntimeError:  # a view whose history is no longer known
        made_by = "Invalid"
    if place is META and tensor_contents is None:
        tensor_contents = "..."
    return tensor_text(
        self._data,
        name=name,
        device=None if place is CPU else place.name,
        requires_grad=self.requires_grad if made_by is None else False,
        grad_fn=made_by,
        contents=tensor_contents,
    )


def text_with(t: Tensor, shown: ndarray) -> str:
    """The text of a tensor of a device whose printed part has been fetched already.

    Args:
        t: a tensor or a parameter, of no class with a text of its own.
        shown: what `format.printed` gives of its array, on the host.
    """
    name = "tensor" if type(t) is Tensor else type(t).__dict__.get("_shown_as", type(t).__name__)
    return t.__repr__(tensor_contents=elements_text(t._data, len(name) + 1, shown))


def _format(self: Tensor, spec: str) -> str:
    """A tensor of no dimensions is formatted as its number."""
    if self._data.ndim == 0 and type(self) is Tensor and self._place is not META:
        return item(self).__format__(spec)
    return object.__format__(self, spec)


# ---- Python's numbers ------------------------------------------------------------------------------------------
def _single(self: Tensor) -> Any:
    """The only element, for `float(t)` and the like."""
    d = self._data
    if d.size != 1:
        raise ValueError(ONLY_ONE)
    if self._rg:
        warnings.warn(TO_SCALAR, UserWarning, stacklevel=3)
    return item(self)


def _float(self: Tensor) -> float:
    value = _single(self)
    if value.__class__ is complex:
        if value.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        value = value.real
    return float(value)


def _int(self: Tensor) -> int:
    value = _single(self)
    if value.__class__ is complex:
        if value.imag:
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        value = value.real
    return int(value)


def _complex(self: Tensor) -> complex:
    return complex(_single(self))


def _bool(self: Tensor) -> bool:
    n = self._data.size
    if self._place.kind == BATCHED:
        raise RuntimeError(errors.VMAP_CONTROL_FLOW)
    if n != 1:
        many = "more than one value" if n else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    return bool(item(self))


def _index(self: Tensor) -> int:
    d = self._data
    if d.size != 1 or d.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))


def _len(self: Tensor) -> int:
    shape = self._data.shape
    if not shape:
        raise TypeError("len() of a 0-d tensor")
    return shape[0]


def _iter(self: Tensor) -> Iterator[Tensor]:
    if self._data.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))  # type: ignore[attr-defined]


def _reversed(self: Tensor) -> Tensor:
    """The elements back to front, along every dimension."""
    return self.flip(tuple(range(self._data.ndim))) if self._data.ndim else self  # type: ignore[attr-defined]


def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, complex, np.number, np.bool_)):
        return bool((self == element).any().item())  # type: ignore[attr-defined]
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


# ---- numpy's protocols -----------------------------------------------------------------------------------------
def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> ndarray:
    """`numpy.asarray(t)`."""
    a = numpy(self)
    if dtype is not None and a.dtype != dtype:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return a.astype(dtype)
    return a.copy() if copy else a


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What a numpy ufunc makes of a tensor is a tensor again."""
    a = np.asarray(array)
    return wrap(a.astype(np.uint8) if a.dtype == bool else a)


def _cuda_interface(self: Tensor) -> dict:
    """CUDA's array protocol; absent on the CPU and on simulated devices."""
    if not self._place.kind:
        raise AttributeError(
            "Can't get __cuda_array_interface__ on non-CUDA tensor type: "
            f"{type_names.type_name(dtypes.of(self._data.dtype), self._place.device.type)} If CUDA data is required "
            "use tensor.cuda() to copy tensor to device memory."
        )
    return self._data.__cuda_array_interface__


METHODS.update(
    {
        "__repr__": _repr,
        "__format__": _format,
        "__float__": _float,
        "__int__": _int,
        "__complex__": _complex,
        "__bool__": _bool,
        "__index__": _index,
        "__len__": _len,
        "__iter__": _iter,
        "__contains__": _contains,
        "__reversed__": _reversed,
        "__nonzero__": _bool,
        "__array__": _array,
        "__array_wrap__": _array_wrap,
        "__cuda_array_interface__": property(_cuda_interface),
    }
)
Tensor.__module__ = "vistorch"
