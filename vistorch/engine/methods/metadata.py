"""What one can ask of a tensor without touching its elements: sizes, strides, memory.

Invariant: nothing here copies an element or emits an event.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ..base import dims, errors
from ..base.layout import RANKS, axes_last, contiguous_format
from ..base.size import size_of
from ..core import views
from ..core.private_order import READERS
from ..core.registry import METHODS, public
from ..core.tensor import Tensor
from ..memory.array_memory import owner, start
from ..memory.memory_users import SLOTS, share
from ..memory.placement import META
from ..memory.storage import UntypedStorage
from .typed_storage import TypedStorage, warn_typed_storage_removal

SLOTS[Tensor] = "_data"


@public(function=False)
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory behind the tensor.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).untyped_storage().nbytes()
        24
    """
    return UntypedStorage._of(owner(self._data), self._place)


@public(function=False)
def storage(self: Tensor) -> Any:
    """The memory behind the tensor, as elements of its type; PyTorch advises `untyped_storage()`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     len(vistorch.ones(2, 3).storage())
        6
    """
    warn_typed_storage_removal()
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)


@public(function=False)
def _typed_storage(self: Tensor) -> Any:
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)


@public(function=False)
def is_shared(self: Tensor) -> bool:
    """Whether other processes can see the tensor's memory; always True on a CUDA device.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).is_shared()
        False
    """
    return self.untyped_storage().is_shared()


@public(function=False)
def share_memory_(self: Tensor) -> Tensor:
    """Move the memory, and all tensors on it, to where other processes can see it; nothing on a CUDA device.

    A process that is started then, or that the tensor is sent to, reads and writes the same elements.

    Example:
        >>> import vistorch
        >>> x = vistorch.zeros(2, 3)
        >>> row = x[1]
        >>> x.share_memory_()[1, 0] = 5
        >>> row, row.is_shared()
        (tensor([5., 0., 0.]), True)
    """
    if self._place.device.type != "cuda":
        share(self)
    return self


@public(function=False)
def data_ptr(self: Tensor) -> int:
    """The address of the first element; 0 for a tensor without elements.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(4)
        >>> x[1:].data_ptr() - x.data_ptr()
        4
    """
    return start(self._data) if self._data.size and self._place is not META else 0


@public(function=False)
def storage_offset(self: Tensor) -> int:
    """How many elements of the storage come before the first one.

    Example:
        >>> import vistorch
        >>> vistorch.ones(4)[1:].storage_offset()
        1
    """
    return views.begins(self)


@public(function=False, aliases="ndimension")
def dim(self: Tensor) -> int:
    """The number of dimensions.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).dim()
        2
    """
    return self._data.ndim


@public(function=False)
def size(self: Tensor, dim: int | None = None) -> Any:
    """The sizes, or the size of one dimension.

    Args:
        self: the tensor.
        dim: which dimension.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).size(), vistorch.ones(2, 3).size(-1)
        (vistorch.Size([2, 3]), 3)
    """
    shape = self._data.shape
    if dim is None:
        return size_of(shape)
    if dim.__class__ is int and -len(shape) <= dim < len(shape):
        return shape[dim]
    return shape[_dim(dim, shape, "size")]


@public(function=False)
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours, along each dimension or one.

    Args:
        self: the tensor.
        dim: which dimension.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).stride()
        (3, 1)
    """
    a = self._data
    if dim is not None:
        dim = _dim(dim, a.shape, "stride")
    if a.size:
        strides = tuple(n // a.itemsize for n in a.strides)
    else:  # numpy's strides of an empty array say nothing
        strides = tuple(prod(max(n, 1) for n in a.shape[i + 1 :]) for i in range(a.ndim))
    return strides if dim is None else strides[dim]


def _dim(dim: Any, shape: tuple, name: str) -> int:
    """A dimension that exists, counted from the front."""
    if isinstance(dim, bool) or not hasattr(dim, "__index__") or getattr(dim, "ndim", 0):
        raise TypeError(f"{name}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    n = len(shape)
    if not -n <= dim < n:
        dims.fits(dim)
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim % n


@public()
def numel(input: Tensor) -> int:
    """The number of elements.

    Args:
        input: the tensor.

    Example:
        >>> import vistorch
        >>> vistorch.numel(vistorch.ones(2, 3))
        6
    """
    return needs_tensor(input, "numel")._data.size


METHODS["nelement"] = numel
READERS.update([fn.__code__ for fn in (dim, size, numel)])


@public(function=False)
def element_size(self: Tensor) -> int:
    """Bytes of one element.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).element_size(), vistorch.tensor([True]).element_size()
        (4, 1)
    """
    return self._data.itemsize


@public(function=False)
def is_contiguous(self: Tensor, *, memory_format: Any = contiguous_format) -> bool:
    """Whether the elements lie in memory in the order of the dimensions.

    Args:
        self: the tensor.
        memory_format: another order to ask about, such as `vistorch.channels_last`.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).is_contiguous()
        True
    """
    a = self._data
    if memory_format not in RANKS:
        return a.flags.c_contiguous
    if RANKS[memory_format] != a.ndim:
        return False
    return a.transpose(axes_last(a.ndim)[0]).flags.c_contiguous


@public(function=False)
def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions from the slowest to the fastest in memory.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).t().dim_order()
        (1, 0)
    """
    strides = self._data.strides
    return tuple(sorted(range(len(strides)), key=lambda i: -strides[i]))


@public(function=False)
def get_device(self: Tensor) -> int:
    """The index of a CUDA device; -1 for the CPU.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).get_device()
        -1
    """
    index = self._place.device.index
    return -1 if index is None else index


@public()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes.

    Args:
        input: one tensor.
        other: the other.

    Example:
        >>> import vistorch
        >>> vistorch.is_same_size(vistorch.ones(2), vistorch.zeros(2))
        True
    """
    return (
        needs_tensor(input, "is_same_size")._data.shape == needs_tensor(other, "is_same_size", 2)._data.shape
    )


@public(function=False)
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same stretch of memory, seen the same way.

    Args:
        self: one tensor.
        tensor: the other.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(4)
        >>> x.is_set_to(x.view(4)), x.is_set_to(x[1:]), x.is_set_to(x.clone())
        (True, False, False)
    """
    if not isinstance(tensor, Tensor):
        raise errors.must_be_tensor("is_set_to", "tensor", 1, tensor)
    a, b = self._data, tensor._data
    return a.shape == b.shape and a.strides == b.strides and start(a) == start(b)


@public()
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero.

    Args:
        input: a tensor of one element.

    Example:
        >>> import vistorch
        >>> vistorch.is_nonzero(vistorch.tensor([0.5]))
        True
    """
    return bool(needs_tensor(input, "is_nonzero"))


@public(method=False)
def is_tensor(obj: Any, /) -> bool:
    """Whether an object is a tensor.

    Args:
        obj: anything.

    Example:
        >>> import vistorch
        >>> vistorch.is_tensor(vistorch.ones(1)), vistorch.is_tensor(1)
        (True, False)
    """
    return isinstance(obj, Tensor)


@public(method=False)
def is_storage(obj: Any, /) -> bool:
    """Whether an object is a storage.

    Args:
        obj: anything.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2)
        >>> vistorch.is_storage(x), vistorch.is_storage(x.untyped_storage())
        (False, True)
    """
    return isinstance(obj, UntypedStorage) or getattr(obj, "_is_typed_storage", False) is True


def needs_tensor(t: Any, name: str, position: int = 1) -> Tensor:
    """Refuse what is no tensor."""
    if not isinstance(t, Tensor):
        raise errors.must_be_tensor(name, "input" if position == 1 else "other", position, t)
    return t
