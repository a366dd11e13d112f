"""From objects to a pickle that PyTorch reads: tensors become views of numbered storages, our names become PyTorch's.

Invariant: two tensors on the same memory name the same storage, and no element is copied here.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np

from ..engine.base.dtypes import uint8
from ..engine.base.layout import strided
from ..engine.core.tensor import Tensor
from ..engine.library_name import library
from ..engine.memory.array_memory import bytes_of, owner, reach, start
from ..engine.memory.placement import CPU, move
from ..engine.memory.storage import UntypedStorage
from ..engine.methods.typed_storage import STORAGE_CLASSES, TypedStorage
from .locations import location_tag
from .names import layout_named, translated, written_as
from .rebuild import (
    rebuild_from_type_v2,
    rebuild_parameter,
    rebuild_parameter_with_state,
    rebuild_tensor_v2,
    rebuild_tensor_v3,
    state_of,
)

STORAGES = (TypedStorage, UntypedStorage)
TWO_TYPES = "Cannot save multiple tensors or storages that view the same data as different types"


class Storages:
    """The storages that a pickle names, in the order in which they were met.

    Args:
        legacy: whether the names are those of files before 1.6, which end with a field for views.
    """

    def __init__(self, legacy: bool = False) -> None:
        self.found: dict[str, UntypedStorage] = {}
        self.sizes: dict[str, int] = {}  # of an element
        self._legacy = legacy
        self._keys: dict[Any, str] = {}
        self._dtypes: dict[Any, Any] = {}

    def name(self, obj: Any) -> tuple:
        """What stands in the pickle for a storage."""
        if isinstance(obj, TypedStorage):
            storage, kind = obj._untyped_storage, obj.dtype
            written: Any = STORAGE_CLASSES[obj.pickle_storage_type()]
        else:
            storage, kind, written = obj, uint8, UntypedStorage
        place, array = storage._place, storage._array
        address, length = reach(array)
        if address and self._dtypes.setdefault((place, address), kind) is not kind:
            raise RuntimeError(TWO_TYPES)
        same = (place, address, length) if address else id(array)
        key = self._keys.setdefault(same, str(len(self._keys)))
        self.found.setdefault(key, storage)
        self.sizes.setdefault(key, kind.itemsize)
        named = ("storage", written, key, location_tag(storage), length // kind.itemsize)
        return (*named, None) if self._legacy else named


def bytes_on_host(storage: UntypedStorage) -> Any:
    """A storage's bytes where they can be written to a file from: a copy only if they are on a device."""
    if not storage._place.kind:
        return bytes_of(storage._array)
    return move(bytes_of(storage._array), storage._place, CPU)


def pickled(obj: Any, storages: Storages, module: Any, protocol: int) -> bytes:
    """The pickle of an object, without its storages.

    Args:
        obj: the object.
        storages: collects the storages it holds.
        module: a module with a `Pickler`, as `pickle`.
        protocol: of pickle.
    """
    out = io.BytesIO()
    used: dict[int, Any] = {}
    base: Any = module.Pickler

    class Pickler(base):
        """The module's pickler, which knows tensors."""

        def persistent_id(self, obj: Any) -> Any:
            return storages.name(obj) if obj.__class__ in STORAGES else None

        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, Tensor):
                found = _tensor(obj)
                if found is not None:
                    return found
            elif obj is strided:
                return layout_named, ("torch.strided",)
            named = written_as(obj)
            if named is not None:
                used[id(obj)] = named
            inherited = getattr(super(), "reducer_override", None)
            return NotImplemented if inherited is None else inherited(obj)

    Pickler(out, protocol=protocol).dump(obj)
    return translated(out.getvalue(), used.values())


def _tensor(t: Any) -> tuple | None:
    """How PyTorch's files make a tensor; None for one whose class says so itself."""
    cls = type(t)
    parameter_module: Any = sys.modules.get("vistorch.nn.parameter")
    if parameter_module is not None and isinstance(t, parameter_module._Waiting):
        return cls, (t.requires_grad,)
    if cls is not Tensor and (
        cls.__reduce_ex__ is not Tensor.__reduce_ex__ or cls.__reduce__ is not Tensor.__reduce__
    ):
        return None
    state = state_of(t)
    hooks: OrderedDict = OrderedDict()
    if parameter_module is not None and issubclass(cls, parameter_module.Parameter):
        if not state:
            return rebuild_parameter, (t.data, t.requires_grad, hooks)
        return rebuild_parameter_with_state, (t.data, t.requires_grad, hooks, state)
    _warn_of_hooks(t)
    storage, offset, strides = _lies(t)
    args = (storage, offset, tuple(t._data.shape), strides, t.requires_grad, hooks)
    how: Any = rebuild_tensor_v2
    if storage.pickle_storage_type() not in STORAGE_CLASSES:  # the type is written beside bytes of no type
        how, args = rebuild_tensor_v3, (storage._untyped_storage, *args[1:], t.dtype)
    if cls is Tensor and not state:
        return how, args
    return rebuild_from_type_v2, (how, cls, args, state)


def _lies(t: Tensor) -> tuple[TypedStorage, int, tuple]:
    """A tensor's storage, and how it lies there."""
    a, root = t._data, owner(t._data)
    size = a.itemsize
    strides = t.stride()
    storage = UntypedStorage._of(root, t._place)
    offset = start(a) - reach(root)[0] if a.size and root is not a else 0
    if offset % size or any(s % size or s < 0 for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        # Memory that came from elsewhere and cannot be said in elements: its values are kept.
        a = t._place.xp.ascontiguousarray(a)
        storage, offset = UntypedStorage._of(a, t._place), 0
        strides = None
    if strides is None or any(s < 0 for s in strides):
        strides = tuple(int(np.prod(a.shape[i + 1 :])) for i in range(a.ndim))
    return TypedStorage(wrap_storage=storage, dtype=t.dtype, _internal=True), offset // size, tuple(strides)


def _warn_of_hooks(t: Tensor) -> None:
    """Say which backward hooks the file will not hold."""
    if t._more is None or t._more.hooks is None:
        return
    for hook in t._more.hooks.tensor.values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                f"function with @{library}.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )
