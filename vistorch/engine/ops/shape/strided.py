"""Memory seen through any strides: as_strided, sliding windows, and the diagonal.

Invariant: no result reaches beyond the memory that its input's storage has.
"""

from __future__ import annotations

from typing import Any

from ...base import errors
from ...base.dims import LARGEST, one, sequence, whole
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, ndarray
from ...kernels.strides import extent, start, strides_of
from ...memory.array_memory import offset_of, owner
from . import rows
from .inplace import reshaped
from .views import tensor

as_strided_of = rows.as_strided.of
diagonal_of_input = rows.diagonal.of
OVERFLOWED = "Storage size calculation overflowed with sizes={} and strides={}"


def _all_there_is(d: Any) -> bool:
    """Whether an array is its whole storage, in row-major order."""
    root = d.base
    return d.flags.c_contiguous and (
        root is None
        or (root.__class__ is ndarray and root.nbytes == d.nbytes and root.flags.c_contiguous and d.size > 0)
    )


def _checked_by_numpy(d: Any, size: tuple, stride: tuple) -> bool:
    """Whether numpy sees by itself what does not fit: not in memory of no bytes, nor beyond 64 bits (see `lay`)."""
    return d.size > 0 and min(stride) >= 0 and max(stride) * max(size) * len(stride) < 2**58


def available(d: Any) -> int:
    """How many elements the storage of an array has from its first element on."""
    root = owner(d)
    if not root.size:
        return 0
    held = extent(root.shape, root.strides) + root.itemsize
    return (held - (start(d) - start(root))) // d.itemsize


def _within_sample(d: Any, size: tuple, stride: tuple, here: int, offset: int) -> None:
    """Refuse what begins before a sample or ends behind it: that memory is another sample's, or nobody's."""
    most, last = here + extent(d.shape, strides_of(d)) + 1, offset + extent(size, stride) + 1
    if 0 not in size and (offset < here or last > most):
        raise RuntimeError(
            f"result = tensor.as_strided({errors.sizes(size)}, {errors.sizes(stride)}, {offset}) can "
            f"access memory outside of `tensor`. `result` can access some memory in range [{offset}, {last}], but "
            f"`tensor` can only access some memory in range [{here}, {most}]. This is not supported inside of vmap, "
            "please try to rewrite the `as_strided` call as a sequence of PyTorch view operations"
        )


@public()
def as_strided(
    input: Tensor, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int | None = None
) -> Tensor:
    """The storage of a tensor seen with other sizes and strides.

    Args:
        input: the tensor.
        size: the sizes.
        stride: how many elements lie between neighbours, for each dim.
        storage_offset: where in the storage to begin; the tensor's own beginning if None.

    Example:
        >>> import vistorch
        >>> vistorch.arange(4).as_strided((3, 2), (1, 1))
        tensor([[0, 1],
                [1, 2],
                [2, 3]])
    """
    d = tensor(input, "as_strided")
    if storage_offset is None and d.__class__ is ndarray and _all_there_is(d):
        try:
            if _checked_by_numpy(d, size, stride):
                made = ndarray(size, d.dtype, d, 0, [s * d.itemsize for s in stride])
                size, stride = made.shape, tuple(stride)
                return as_strided_of(input, made, (size, stride, 0, (d.strides, d.itemsize)))
        except (TypeError, ValueError):
            pass  # what follows says what is wrong
    size, stride = sequence(size, "as_strided"), sequence(stride, "as_strided", "stride", 3)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{errors.sizes(stride)}"
        )
    if any(n < 0 for n in size):
        raise RuntimeError(OVERFLOWED.format(errors.sizes(size), errors.sizes(stride)))
    here = offset_of(d)
    offset = here if storage_offset is None else whole(storage_offset, "as_strided", "storage_offset", 4)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if input._place.kind == errors.BATCHED:
        _within_sample(d, size, stride, here, offset)
        return rows.as_strided(input, size, stride, offset - here, (d.strides, d.itemsize))
    root = owner(d)
    held = extent(root.shape, root.strides) + root.itemsize if root.size else 0
    needed = (offset + extent(size, stride) + 1) * d.itemsize
    if 0 not in size and needed > held:
        if needed >= 2**63:
            raise RuntimeError(OVERFLOWED.format(errors.sizes(size), errors.sizes(stride)))
        raise RuntimeError(
            f"setStorage: sizes {errors.sizes(size)}, strides {errors.sizes(stride)}, storage offset {offset}, and "
            f"itemsize {d.itemsize} requiring a storage size of {needed} are out of bounds for storage of size {held}"
        )
    try:
        return rows.as_strided(input, size, stride, offset - here, (d.strides, d.itemsize))
    except ValueError:  # numpy counts elements and strides in 63 bits, the repeated ones too
        raise RuntimeError(OVERFLOWED.format(errors.sizes(size), errors.sizes(stride))) from None


METHODS["as_strided_"] = reshaped(as_strided, "as_strided_")


@public(function=False)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of one dim, each in a new last dim.

    Args:
        self: the tensor.
        dimension: which dim.
        size: how long a window is.
        step: how far it is to the next one.

    Example:
        >>> import vistorch
        >>> vistorch.arange(5).unfold(0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3],
                [2, 3, 4]])
    """
    shape = self._data.shape
    dim = one(dimension, len(shape), "unfold", "dimension")
    size, step = whole(size, "unfold", "size", 2), whole(step, "unfold", "step", 3)
    n = shape[dim] if shape else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return rows.unfold(self, dim, size, min(step, max(n, 1)))  # a longer step finds one window too


def diagonal_of(x: Tensor, offset: int, dim1: Any, dim2: Any) -> tuple:
    """The arguments of a diagonal, checked."""
    n = tensor(x, "diagonal").ndim
    offset = whole(offset, "diagonal", "offset", 2)
    p, q = one(dim1, n, "diagonal", "dim1", 3), one(dim2, n, "diagonal", "dim2", 4)
    if p == q:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return offset, p, q


@public()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dims, as a view; it becomes the last dim.

    Args:
        input: the tensor.
        offset: how far above the main diagonal; negative for below.
        dim1: the dim that counts rows.
        dim2: the dim that counts columns.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).diagonal()
        tensor([1, 4])
    """
    d = tensor(input, "diagonal")
    if offset.__class__ is int and dim1 == 0 and dim2 == 1 and d.ndim == 2 and -LARGEST <= offset <= LARGEST:
        at = (offset, 0, 1)
    else:
        at = diagonal_of(input, offset, dim1, dim2)
    return diagonal_of_input(input, rows.writable_diagonal(None, d, *at), at)
