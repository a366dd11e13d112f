"""What PyTorch's files call to make tensors: the functions that stand behind `torch._utils._rebuild_*` here.

Invariant: every argument is taken for a stranger's: no tensor reaches beyond its storage, none makes a copy larger
than its storage, and nothing is called that came out of the file.
"""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from ..engine.base import dtypes, errors
from ..engine.base.device import device as named_device
from ..engine.core import views
from ..engine.core.tensor import Tensor, new, wrap
from ..engine.methods.typed_storage import TypedStorage
from .budget import budget, refuse

MOST_DIMS = 64  # of a numpy array
COST = 1000  # bytes of a tensor besides its elements


def _whole(values: Any, what: str) -> tuple[int, ...]:
    """A tuple of ints."""
    if not isinstance(values, (tuple, list)) or not all(type(n) is int for n in values):
        raise refuse(f"the {what} of a tensor must be a tuple of ints, not {_short(values)}")
    if len(values) > MOST_DIMS:
        raise refuse(f"a tensor of {len(values)} dimensions: the most is {MOST_DIMS}")
    return tuple(values)


def _short(value: Any) -> str:
    """A value for a sentence: plain numbers as they are, of others the type."""
    if isinstance(value, (tuple, list)) and len(value) <= 8 and all(type(v) in (int, str) for v in value):
        return repr(value)[:100]
    return f"{value}"[:40] if type(value) in (int, float, bool, dtypes.dtype) else type(value).__name__


def tensor_of(storage: Any, offset: Any, size: Any, stride: Any, dtype: Any = None) -> Tensor:
    """A tensor on a storage, if it fits.

    Args:
        storage: a TypedStorage.
        offset: how many elements come before its first one.
        size: its sizes.
        stride: how many elements lie between neighbours.
        dtype: its type, if not the storage's.
    """
    if not isinstance(storage, TypedStorage):
        raise refuse(f"a tensor needs a storage, not {_short(storage)}")
    kind = storage.dtype if dtype is None else dtype
    if type(kind) is not dtypes.dtype or (kind is dtypes.bool and storage.dtype is not kind):
        raise refuse(f"a tensor of a {storage.dtype} storage cannot be one of {_short(kind)}")
    size, stride = _whole(size, "size"), _whole(stride, "stride")
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if type(offset) is not int or offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {_short(offset)}")
    if min(size, default=0) < 0 or min(stride, default=0) < 0:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={errors.sizes(size)} and strides={errors.sizes(stride)}"
        )
    budget.spend(COST)
    memory, place = storage._untyped_storage, storage._untyped_storage._place
    held, itemsize = memory.nbytes(), kind.itemsize
    reach = offset
    if 0 not in size:
        reach += 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if reach * itemsize > held:
        raise RuntimeError(
            f"setStorage: sizes {errors.sizes(size)}, strides {errors.sizes(stride)}, storage offset {offset}, and "
            f"itemsize {itemsize} requiring a storage size of {reach * itemsize} are out of bounds for storage of "
            f"size {held}"
        )
    try:
        return wrap(_seen(memory._array, kind.np, offset, size, stride, place), place)
    except (
        ValueError,
        OverflowError,
        MemoryError,
    ):  # numpy counts elements in 63 bits, the repeated ones too
        raise RuntimeError("numel: integer multiplication overflow") from None


def _seen(root: Any, kind: Any, offset: int, size: tuple, stride: tuple, place: Any) -> Any:
    """Part of an array's memory, with other sizes and strides."""
    strides = tuple([s * kind.itemsize for s in stride])
    if 0 in size and root.dtype != kind:
        return place.xp.empty(size, kind)
    if place.kind:  # cupy: pointers count from the memory's own start
        return place.xp.ndarray(size, kind, root.data + offset * kind.itemsize, strides)
    if 0 not in size and root.dtype == kind and root.shape == size and not offset and root.strides == strides:
        return root[...]
    return np.ndarray(size, kind, root, offset * kind.itemsize, strides)


def _finished(t: Tensor, requires_grad: Any, metadata: Any) -> Tensor:
    """Give a tensor its flag, and the conjugation or sign that PyTorch keeps beside the numbers."""
    if metadata:
        t = _resolved(t, metadata)
    t = views.expanded(t)
    if type(requires_grad) is not bool:
        raise refuse(f"requires_grad must be a bool, not {_short(requires_grad)}")
    if requires_grad:
        t.requires_grad = True
    return t


def _resolved(t: Tensor, metadata: Any) -> Tensor:
    """Conjugate or negate a tensor's numbers: there is no tensor here that is seen so."""
    if type(metadata) is not dict or not metadata.keys() <= {"conj", "neg"}:
        raise refuse(f"unknown metadata of a tensor: {_short(metadata)}")
    # A repeated element stays repeated: a copy is never longer than the memory it is of.
    once = t[
        tuple(
            slice(0, 1) if s == 0 and n > 1 else slice(None) for n, s in zip(t.shape, t.stride(), strict=True)
        )
    ]
    budget.spend(2 * once._data.nbytes)
    made = once.clone()

    def write() -> None:
        values = once.conj() if metadata.get("conj") and t.is_complex() else once
        made._data[...] = (values.neg() if metadata.get("neg") else values)._data

    if budget.late is None:
        write()
    else:
        budget.late.append(write)  # the storages of old files are filled after the pickle is read
    return wrap(made.expand(t.shape)._data, t._place)


def rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    """`torch._utils._rebuild_tensor`, of the oldest files."""
    return views.expanded(tensor_of(storage, storage_offset, size, stride))


def rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """`torch._utils._rebuild_tensor_v2`: a tensor of its storage's type."""
    return _finished(tensor_of(storage, storage_offset, size, stride), requires_grad, metadata)


def rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """`torch._utils._rebuild_tensor_v3`: a tensor of a type that has no storage class."""
    return _finished(tensor_of(storage, storage_offset, size, stride, dtype), requires_grad, metadata)


def rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    """`torch._utils._rebuild_parameter`."""
    from ..nn.parameter import Parameter

    if not isinstance(data, Tensor) or type(requires_grad) is not bool:
        raise refuse(f"a parameter needs a tensor and a bool, not {_short(data)} and {_short(requires_grad)}")
    return Parameter(data, requires_grad)


def rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    """`torch._utils._rebuild_parameter_with_state`: a parameter that carries attributes."""
    return give_state(rebuild_parameter(data, requires_grad, backward_hooks), state)


def rebuild_moved(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    """`torch._utils._rebuild_device_tensor_from_cpu_tensor`: a tensor of a device without storages."""
    if not isinstance(data, Tensor) or type(dtype) is not dtypes.dtype:
        raise refuse(f"a tensor needs a tensor and a dtype, not {_short(data)} and {_short(dtype)}")
    if not isinstance(device, (str, named_device)):
        raise refuse(f"a tensor's device is a text, not {_short(device)}")
    from .locations import remapped_device, validated

    budget.spend(data._data.size * max(dtype.itemsize, data._data.itemsize))
    if budget.late is not None:
        raise refuse("a tensor of another device in a file from before 1.6")
    return _finished(
        data.to(device=validated(str(remapped_device(device))), dtype=dtype), requires_grad, None
    )


def not_here(kind: str) -> Any:
    """A function that refuses: tensors of a kind that vistorch does not have."""

    def rebuild(*args: Any) -> Any:
        raise RuntimeError(f"the file holds {kind} tensors; vistorch has dense tensors with a storage only")

    return rebuild


REBUILDERS = {
    "_rebuild_tensor": rebuild_tensor,
    "_rebuild_tensor_v2": rebuild_tensor_v2,
    "_rebuild_tensor_v3": rebuild_tensor_v3,
    "_rebuild_parameter": rebuild_parameter,
    "_rebuild_parameter_with_state": rebuild_parameter_with_state,
    "_rebuild_device_tensor_from_cpu_tensor": rebuild_moved,
    "_rebuild_sparse_tensor": not_here("sparse"),
    "_rebuild_qtensor": not_here("quantized"),
    "_rebuild_nested_tensor": not_here("nested"),
    "_rebuild_meta_tensor_no_storage": not_here("meta"),
    "_rebuild_wrapper_subclass": not_here("wrapped"),
}
"""By their names in `torch._utils`."""


def rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """`torch._tensor._rebuild_from_type_v2`: a tensor of a subclass, or one that carries attributes."""
    if not any(func is known for known in REBUILDERS.values()):
        raise refuse(f"a tensor cannot be rebuilt by {_short(func)}")
    if not isinstance(new_type, type) or not issubclass(new_type, Tensor) or type(args) is not tuple:
        raise refuse(f"a tensor cannot be rebuilt as {_short(new_type)} of {_short(args)}")
    made = func(*args)
    if type(made) is not new_type:
        made = _as(new_type, made)
    own = getattr(new_type, "__setstate__", None)
    if own is not None and own is not getattr(Tensor, "__setstate__", None):
        made.__setstate__(state)  # of a class that the reader trusts
        return made
    return give_state(made, state)


def _as(cls: Any, t: Tensor) -> Any:
    """A fresh tensor as one of a subclass."""
    o = new(cls)
    for name in Tensor.__slots__:
        if name[:2] != "__":
            setattr(o, name, getattr(t, name))
    return o


def give_state(t: Any, state: Any) -> Any:
    """Give a tensor the attributes that a file kept for it: entries of its `__dict__`, or its class's own slots.

    Args:
        t: the tensor.
        state: a dict of attributes, or a pair: that, and a dict of slots.
    """
    slots: Any = {}
    if type(state) is tuple and len(state) == 2:
        state, slots = state
    for part in (state, slots):
        if part and (type(part) is not dict or not all(type(name) is str for name in part)):
            raise refuse("the attributes of a tensor must be a dict with texts as keys")
    # Written past `setattr`: no property of Tensor is called, and Tensor's own slots stay what they are.
    budget.spend(100 * len(state or ()))
    t.__dict__.update(state or {})
    allowed = {*_slots(type(t))} - {*_slots(Tensor)}
    for name, value in (slots or {}).items():
        if name not in allowed:
            raise refuse(f"a {type(t).__name__} has no slot {name[:40]!r}")
        setattr(t, name, value)
    return t


def _slots(cls: type) -> list[str]:
    """The slots of a class and those it inherits."""
    return copyreg._slotnames(cls)  # type: ignore[attr-defined]


def state_of(t: Any) -> Any:
    """The attributes of a tensor that a file keeps: None, a dict, or a pair with the slots of its class."""
    own = dict(t.__dict__)
    slots = {
        name: getattr(t, name)
        for name in _slots(type(t))
        if name not in Tensor.__slots__ and hasattr(t, name)
    }
    return (own or None, slots) if slots else own


def device_of(kind: Any, index: Any = None) -> named_device:
    """A device out of a file: a type, and an index or none."""
    if type(kind) is not str or type(index) not in (int, type(None)):
        raise refuse(f"a device cannot be made of {_short(kind)} and {_short(index)}")
    return named_device(kind) if index is None else named_device(kind, index)
