"""The constructor of the class, `Tensor(2, 3)` and `Tensor([1, 2])`, and its typed forms: FloatTensor, LongTensor, ...

The forms are types only for `isinstance` and for calling: what they make is a plain Tensor. Invariant: sizes give a
tensor that is not initialised, data give a copy, a tensor gives an alias.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import dtypes, type_names
from ...base.device import device, set_default_device
from ...base.layout import strided
from ...base.size import Size
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor, become
from ...library_name import library
from ...memory.placement import CPU, place_of
from .arguments import allocate, sizes, type_name
from .constants import bare
from .data import copied

alias = op(
    "alias",
    lambda xp, input: input[...] if input.ndim else input.reshape(()),
    view=True,
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)


def legacy_new(cls: Any, *data: Any, **kwargs: Any) -> Tensor:
    """`Tensor(2, 3)` or `Tensor([1, 2])`, as in PyTorch of old; for the class itself and for its subclasses."""
    made = _built(data, kwargs, dtypes.default.np, "cpu", "Tensor")
    if cls is not Tensor:
        made = bare(made._data, made._place) if isinstance(data[0] if data else None, Tensor) else made
        become(made, cls)
    return made


# Set from here, so that the class need not import its constructors. A file that calls `Tensor(...)` while the engine
# is still being imported would get an empty object: call `wrap` there.
Tensor.__new__ = staticmethod(legacy_new)  # type: ignore[assignment]


def _built(data: tuple, named: dict, dt: Any, device_type: str, name: str) -> Tensor:
    """What every legacy constructor does."""
    for key in named:
        if key not in ("device", "data", "size"):
            got = ", ".join([type_name(x) for x in data] + [f"{k}={type_name(v)}" for k, v in named.items()])
            raise TypeError(
                f"new() received an invalid combination of arguments - got ({got}), but expected one of:\n"
                f" * (*, {library}.device device = None)\n * (Tensor other)\n"
                f" * (tuple of ints size, *, {library}.device device = None)\n"
                f" * (object data, *, {library}.device device = None)\n"
            )
    if "data" in named:
        data = (named["data"],)
    where = named.get("device")
    if where is None:
        place = CPU if device_type == "cpu" else place_of(device_type)
    else:
        asked = device(where) if isinstance(where, (str, int, device)) else place_of(where, "new").device
        if asked.type != device_type:
            raise RuntimeError(
                f"legacy constructor expects device type: {device_type} but device type: {asked.type} was passed"
            )
        place = place_of(asked)
    if "size" in named:
        return _unfilled(sizes((named["size"],), "new"), dt, place)
    if not data:
        return _unfilled((0,), dt, place)
    first = data[0]
    if len(data) > 1 or isinstance(first, Size) or (isinstance(first, int) and not isinstance(first, bool)):
        return _unfilled(sizes(data, "new"), dt, place)
    if isinstance(first, Tensor):
        if name != "Tensor" and first._data.dtype != dt:
            raise TypeError(
                f"expected a tensor of {dtypes.of(dt)} (got a tensor of {dtypes.of(first._data.dtype)})"
            )
        return alias(first)
    if isinstance(first, np.integer):
        return _unfilled((int(first),), dt, place)
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type_name(first)}'")
    if not hasattr(type(first), "__getitem__") or isinstance(first, (dict, np.generic)):
        raise TypeError(f"new(): data must be a sequence (got {type_name(first)})")
    return copied(first, dt, place.device, False, "new")


def _unfilled(shape: tuple, dt: Any, place: Any) -> Tensor:
    return bare(allocate(place.xp.empty, shape, dt, place), place)


@public(function=False)
def new(self: Tensor, *data: Any, **named: Any) -> Tensor:
    """`Tensor(...)` with this tensor's dtype and device.

    Args:
        self: the tensor to take after.
        *data: sizes, or a sequence of numbers.
        **named: `device`.

    Example:
        >>> import vistorch
        >>> vistorch.ones(1, dtype=vistorch.int8).new([1, 2])
        tensor([1, 2], dtype=vistorch.int8)
    """
    return _built(data, named, self._data.dtype, self._place.device.type, "Tensor")


class tensortype(type):
    """The type of FloatTensor and the like: `isinstance` asks for dtype and device."""

    dtype: Any
    is_cuda: bool
    layout: Any
    is_sparse: bool

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype is cls.dtype
            and (instance._place.device.type == "cuda") == cls.is_cuda
        )

    def __call__(cls, *data: Any, **named: Any) -> Tensor:
        """Make a tensor of this type."""
        return _built(data, named, cls.dtype.np, "cuda" if cls.is_cuda else "cpu", cls.__name__)


tensortype.__module__ = "vistorch"


def _doc(d: Any, module: str) -> str:
    first, last = ("", "")
    if module.endswith("cuda"):
        first, last = "\n    >>> vistorch.cuda.simulate(1)", "\n    >>> vistorch.cuda.simulate(None)"
    return f"""Tensors of {d!r} made from sizes or from data; `vistorch.tensor` is the usual way.

Example:
    >>> import vistorch{first}
    >>> {module}.{d.scalar_name}Tensor(2, 3).shape
    vistorch.Size([2, 3])
    >>> {module}.{d.scalar_name}Tensor([1, 0]).dtype
    {d!r}{last}
"""


def _kind(d: Any, module: str) -> Any:
    """One typed constructor."""
    members = {
        "__module__": module,
        "__doc__": _doc(d, module),
        "dtype": d,
        "is_cuda": module.endswith("cuda"),
        "layout": strided,
        "is_sparse": False,
    }
    return tensortype(d.scalar_name + "Tensor", (), members)


TYPES = {f"{d.scalar_name}Tensor": _kind(d, "vistorch") for d in dtypes.ALL if not d.is_complex}
CUDA_TYPES = {f"{d.scalar_name}Tensor": _kind(d, "vistorch.cuda") for d in dtypes.ALL if not d.is_complex}
FUNCTIONS.update(TYPES)


@public(method=False)
def set_default_tensor_type(t: Any, /) -> None:
    """Choose the default dtype by the name of a tensor type; deprecated in favour of `set_default_dtype`.

    Args:
        t: a type such as `vistorch.DoubleTensor`, or its name.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.set_default_tensor_type("vistorch.DoubleTensor")
        >>> vistorch.tensor([1.0]).dtype
        vistorch.float64
        >>> vistorch.set_default_dtype(vistorch.float32)
    """
    warnings.warn(
        f"{library}.set_default_tensor_type() is deprecated, please use {library}.set_default_dtype() and "
        f"{library}.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    if isinstance(t, str):
        d, where = type_names.of_type_name(t)
    elif isinstance(t, tensortype):
        d, where = t.dtype, "cuda" if t.is_cuda else "cpu"
    else:
        raise TypeError("invalid type object")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if where == "cuda":
        place_of("cuda")  # raises where there is none
    dtypes.set_default_dtype(d)
    set_default_device(None if where == "cpu" else where)


@public(method=False)
def typename(obj: Any, /) -> str:
    """The name of a tensor's type, or the qualified name of an object's class.

    Args:
        obj: anything.

    Example:
        >>> import vistorch
        >>> vistorch.typename(vistorch.ones(1))
        'vistorch.FloatTensor'
    """
    if isinstance(obj, Tensor):
        return type_names.type_name(obj.dtype, obj._place.device.type)
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", "") or ""
    return (
        named.__qualname__ if module in ("", "builtins", "__builtin__") else f"{module}.{named.__qualname__}"
    )
