"""What is between the brackets: an index taken apart into views and, where there are any, arrays.

Invariant: whole numbers, slices, None and Ellipsis become steps (row, constants) with normalised constants; arrays,
lists and masks are left over, one entry per dimension of what the steps give.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import dtypes, errors, type_names
from ...core.tensor import Tensor
from ...library_name import named
from ...memory.placement import CPU, move
from ..shape import rows
from .where import Where

ONE = np.zeros(1, np.int64)
NONE = np.zeros(0, np.int64)
BYTE = np.dtype("u1")

TUPLE_MEANT = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
    "x[vistorch.tensor(seq)], which will result either in an error or a different result"
)
BYTE_MASK = "indexing with dtype vistorch.uint8 is now deprecated, please use a dtype vistorch.bool instead."
SCALAR = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
    "tensor to a number"
)


def outside(index: int, position: int, size: int) -> Exception:
    """A whole number that is no position of its dimension."""
    if not -(2**63) <= index < 2**63:
        return ValueError("Overflow when unpacking long long")
    return IndexError(f"index {index} is out of bounds for dimension {position} with size {size}")


def bounds(s: slice, n: int) -> tuple[int, int, int]:
    """A slice of a dimension of `n`: start <= stop <= n, and a step above zero."""
    step = s.step
    if step is not None and step.__class__ is int and step < 0:
        raise ValueError("step must be greater than zero")
    start, stop, step = s.indices(n)
    if step < 0:
        raise ValueError("step must be greater than zero")
    return start, (stop if stop > start else start), step


def is_whole(s: slice, n: int) -> bool:
    """Whether a slice takes all of a dimension of `n`, as it was written."""
    return (
        (s.start is None or s.start == 0)
        and (s.stop is None or s.stop >= n)
        and (s.step is None or s.step == 1)
    )


def items_of(index: Any) -> tuple:
    """The items between the brackets; a list that holds more than numbers means a tuple, as numpy once had it."""
    if index.__class__ is tuple or isinstance(index, tuple):
        return tuple(index)
    if isinstance(index, (Tensor, np.ndarray)) or not _is_sequence(index) or len(index) >= 32:
        return (index,)
    for i in index:
        if i is None or i is Ellipsis or isinstance(i, (Tensor, slice)) or _is_sequence(i):
            warnings.warn(named(TUPLE_MEANT), UserWarning, stacklevel=4)
            return tuple(index)
    return (index,)


def _is_sequence(value: Any) -> bool:
    cls = type(value)
    if cls is list or cls is tuple or cls is str:
        return True
    return (
        hasattr(cls, "__getitem__") and hasattr(cls, "__len__") and not isinstance(value, (dict, np.generic))
    )


def plan(t: Tensor, items: tuple) -> tuple[list, Where | None]:
    """The steps and the advanced rest of an index of `t`."""
    shape = t._data.shape
    found, specified = _readable(items)
    if specified > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    steps: list = []
    sizes = list(shape)
    entries: dict[int, Any] = {}
    sources: list = []
    dim = 0
    for position, item in enumerate(found):
        cls = item.__class__
        if cls is int:
            n = sizes[dim] if dim < len(sizes) else 0
            if not -n <= item < n:
                raise outside(item, position, n)
            steps.append((rows.select, (dim, item + n if item < 0 else item)))
            del sizes[dim]
        elif cls is slice:
            n = sizes[dim] if dim < len(sizes) else 0
            if not is_whole(item, n):
                start, stop, step = bounds(item, n)
                steps.append((rows.slice_, (dim, start, stop, step)))
                sizes[dim] = -((start - stop) // step)
            dim += 1
        elif item is Ellipsis:
            dim += len(shape) - specified
        elif item is None or cls is bool:
            steps.append((rows.unsqueeze, (dim,)))
            sizes.insert(dim, 1)
            if cls is bool:
                entries[dim] = ONE if item else NONE
            dim += 1
        else:
            array, source = item
            entries[dim] = array
            if source is not None:
                sources.append((source, 0 if source._ver is None else source._ver.n))
            dim += array.ndim if array.dtype.kind == "b" else 1
    if not entries:
        return steps, None
    return steps, gathered(entries, tuple(sizes), sources, t._place)


def gathered(entries: dict, shape: tuple, sources: list, place: Any) -> Where:
    """A `Where` of arrays by dimension, the masks checked."""
    listed: list = []
    for dim, array in sorted(entries.items()):
        listed += [None] * (dim - sum(1 if e is None or e.dtype.kind != "b" else e.ndim for e in listed))
        if array.dtype.kind == "b":
            for j, n in enumerate(array.shape):
                if dim + j >= len(shape):
                    raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
                if n != shape[dim + j]:
                    raise IndexError(
                        f"The shape of the mask {errors.sizes(array.shape)} at index {j} does not match the shape of "
                        ""
                        f"the indexed tensor {errors.sizes(shape)} at index {dim + j}"
                    )
        if dim >= len(shape):
            raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {dim + 1})")
        listed.append(array if place.kind == 0 else place.xp.asarray(array))
    return Where(listed, tuple(sources))


def _readable(items: tuple) -> tuple[list, int]:
    """The items with numbers as int, truth values as bool and arrays as (array, tensor it came from); their dims."""
    found: list = []
    specified = 0
    for item in items:
        cls = item.__class__
        if cls is int or cls is slice:
            specified += 1
        elif item is None or item is Ellipsis or cls is bool:
            pass
        elif isinstance(item, np.integer):
            item = int(item)
            specified += 1
        else:
            if isinstance(item, Tensor):
                array, source = checked(item), item
            elif isinstance(item, slice) or not _is_sequence(item):
                raise IndexError(
                    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
                    "indices (got "
                    f"{type_name(item)})"
                )
            else:
                array, source = from_sequence(item), None
            if array.ndim:
                item = (array, source)
                specified += array.ndim if array.dtype.kind == "b" else 1
            elif array.dtype.kind == "b":
                item = bool(array)
            else:
                item = int(array)
                specified += 1
        found.append(item)
    return found, specified


def checked(t: Tensor, place: Any = None) -> Any:
    """The array of an index tensor: whole numbers or a mask."""
    a = t._data
    if place is not None and t._place is not place and t._place is not CPU:
        if t._place.kind == errors.BATCHED:
            raise errors.Unbatchable("an index with other batch dims")
        raise RuntimeError(
            f"indices should be either on {CPU.device} or on the same device as the indexed tensor ({place.device})"
        )
    if t._place.kind and (place is None or place.kind == 0):
        a = move(a, t._place, CPU)
    dt = a.dtype
    if dt == BYTE:
        if a.ndim:
            warnings.warn(named(BYTE_MASK), UserWarning, stacklevel=5)
        return a.astype(bool)
    if dt.kind == "b" or (dt.kind == "i" and dt.itemsize >= 4):
        return a
    raise IndexError("tensors used as indices must be long, int, byte or bool tensors")


def from_sequence(value: Any) -> np.ndarray:
    """A list, an array or a range as an index; numbers that are not whole are cut, as PyTorch does."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if isinstance(value, np.ndarray):
        a = value
        if a.dtype.kind not in "bifcu":
            raise TypeError(
                f"can't convert np.ndarray of type numpy.{a.dtype.type.__name__}. The only supported types are: "
                "float64, "
                "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
                "uint8, and "
                "bool."
            )
    else:
        a = _nested(value)
    if a.dtype.kind == "b":
        return a
    if a.dtype == BYTE:
        warnings.warn(named(BYTE_MASK), UserWarning, stacklevel=5)
        return a.astype(bool)
    return np.real(a).astype(np.int64)


def _nested(value: Any) -> np.ndarray:
    shape: list[int] = []
    inner = value
    while _is_sequence(inner) and not isinstance(inner, (Tensor, np.ndarray)):
        if isinstance(inner, (str, bytes)):
            break
        shape.append(len(inner))
        if not shape[-1]:
            return np.zeros(shape, np.int64)
        inner = inner[0]
    flat: list = []
    _flatten(value, shape, 0, flat)
    found = np.array(flat)
    return found.reshape(*shape, *found.shape[1:])


def _flatten(value: Any, shape: list, depth: int, into: list) -> None:
    if depth == len(shape):
        if isinstance(value, Tensor):
            value = value._data
        if isinstance(value, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
        if not isinstance(value, (int, float, complex, np.generic, np.ndarray)):
            raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")
        into.append(value)
        return
    if not _is_sequence(value):
        raise TypeError("not a sequence")
    if len(value) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(value)})")
    for v in value:
        _flatten(v, shape, depth + 1, into)


def type_name(value: Any) -> str:
    """A type as PyTorch's index errors name it: numpy's with their module."""
    cls = type(value)
    return f"numpy.{cls.__name__}" if isinstance(value, (np.generic, np.ndarray)) else cls.__name__


def tensor_type(t: Tensor) -> str:
    """`vistorch.FloatTensor`."""
    return type_names.type_name(dtypes.of(t._data.dtype), t._place.device.type)
