"""`set_`: a tensor lets go of its memory and takes another's, without a copy.

Invariant: no element is written; a tensor that shared the old memory keeps it, and its version shows the change.
"""

from __future__ import annotations

from typing import Any

from ...base import errors
from ...base.events import listeners
from ...base.modes import mode
from ...core import views
from ...core.graph import sync_rg, version
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...kernels.strides import extent
from ...library_name import named
from ...memory.array_memory import bytes_of, owner
from ...memory.storage import UntypedStorage
from .strided import as_strided

FORMS = """expected one of:
 * ()
 * (vistorch.Storage source)
 * (vistorch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None)
 * (Tensor source)
 * (Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)
"""
# how PyTorch's sentences here spell the types: as C++ does
SPELLED = {
    "Byte": "unsigned char",
    "Char": "signed char",
    "Short": "short int",
    "Long": "long int",
    "Half": "c10::Half",
    "BFloat16": "c10::BFloat16",
    "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
}


@public(function=False)
def set_(
    self: Tensor, source: Any = None, storage_offset: Any = None, size: Any = None, stride: Any = None
) -> Tensor:
    """Take the memory of another tensor or of a storage; both then see the same elements.

    Args:
        self: the tensor; it may get other sizes, its type stays.
        source: where the memory comes from; None empties the tensor.
        storage_offset: how many elements come before the first one, counted from the source's own first one.
        size: the sizes.
        stride: how many elements lie between neighbours; row-major order if None.

    Example:
        >>> import vistorch
        >>> x, y = vistorch.zeros(1), vistorch.ones(2)
        >>> x.set_(y)
        tensor([1., 1.])
        >>> x.data_ptr() == y.data_ptr()
        True
    """
    typed = getattr(source, "_is_typed_storage", False)
    placed = _check_form(source, typed, storage_offset, size, stride)
    _check_fits(self, source, typed)
    records = bool(mode.on) and (sync_rg(self) or (isinstance(source, Tensor) and sync_rg(source)))
    views.before_write(self, records)
    if records:  # PyTorch says it in the backward pass, when it is late
        raise RuntimeError("derivative for set_ is not implemented")
    d = self._data
    if source is None:
        self._data = self._place.xp.empty(0, d.dtype)
    elif isinstance(source, Tensor) and not placed:
        self._data = source._data
    else:
        self._data = _seen(self, source.untyped() if typed else source, storage_offset, size, stride)
    self._view = None  # what it was a view of keeps the old memory
    views.expanded(self)
    version(self).n += 1
    if (emit := listeners.write) is not None:
        emit(self, None)
    return self


def _check_form(source: Any, typed: bool, offset: Any, size: Any, stride: Any) -> bool:
    """Whether a place in the memory is given; arguments that are none of PyTorch's forms are refused."""
    placed = offset is not None and isinstance(size, tuple | list)
    fits = source is None or typed or isinstance(source, Tensor | UntypedStorage)
    if placed:
        fits = fits and source is not None and all(map(_is_whole, (offset, *size, *(stride or ()))))
    elif not (offset is None and size is None and stride is None):
        fits = False
    if fits:
        return placed
    given = ", ".join([type(v).__name__ for v in (source, offset, size, stride) if v is not None])
    raise TypeError(
        f"set_() received an invalid combination of arguments - got ({given}), but {named(FORMS)}"
    )


def _is_whole(n: Any) -> bool:
    return hasattr(n, "__index__") and not isinstance(n, bool)


def _check_fits(x: Tensor, source: Any, typed: bool) -> None:
    """Refuse memory of another type or at another place."""
    if source is None:
        return
    kind, other = x.dtype, x.dtype if isinstance(source, UntypedStorage) else source.dtype
    if other is not kind:
        name = SPELLED.get(kind.scalar_name, kind.scalar_name.lower())
        if typed:
            raise RuntimeError(
                f"Expected a Storage of type {name} or an UntypedStorage, but got type {other.scalar_name} for "
                "argument 1 'storage'"
            )
        spelled = SPELLED.get(other.scalar_name, other.scalar_name.lower())
        raise RuntimeError(f"Could not set tensor of type {spelled} to a tensor of type {name}")
    if source.device != x.device:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{x.device}" to a storage on different device '
            f'"{source.device}".  This is no longer allowed; the devices must match.'
        )


def _seen(x: Tensor, source: Any, offset: Any, size: Any, stride: Any) -> Any:
    """The memory of a tensor or of a storage, as an array of the type of `x`."""
    dtype = x._data.dtype
    held = bytes_of(owner(source._data) if isinstance(source, Tensor) else source._array)
    count = held.size // dtype.itemsize
    flat = held[: count * dtype.itemsize].view(dtype)
    if size is None:
        return flat
    size = tuple(size)
    if isinstance(source, Tensor):
        offset += source.storage_offset()
    if stride is None:
        stride, step = [], 1
        for n in reversed(size):
            stride.insert(0, step)
            step *= max(n, 1)
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={errors.sizes(size)} and strides={errors.sizes(stride)}"
        )
    if 0 not in size and offset + extent(size, stride) + 1 > count:
        raise RuntimeError("Trying to resize storage that is not resizable")  # PyTorch would make it longer
    return as_strided(wrap(flat, x._place), size, tuple(stride), offset)._data
