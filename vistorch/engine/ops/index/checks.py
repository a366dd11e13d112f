"""What index tensors must be: PyTorch's sentences for their dtype, dims, sizes and range.

Invariant: nothing here changes a tensor; what passes can be given to numpy, which never sees an index out of range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...places import CPU
from ...tensor import Tensor

LONG = np.dtype("i8")
INT = np.dtype("i4")


def tensors(func: str, *given: tuple) -> None:
    """Refuse arguments that are no tensors: (argument, position, value)."""
    for argument, position, value in given:
        if not isinstance(value, Tensor):
            raise errors.must_be_tensor(func, argument, position, value)


def scalar_name(t: Tensor) -> str:
    """`Float`, as the sentences name a dtype."""
    return dtypes.of(t._data.dtype).scalar_name


def reach(index: Any, size: int, place: Any, low: int = 0) -> Any:
    """The first index outside `low` <= i < `size`, or None. A device is not asked, as PyTorch asks only there."""
    if place.kind or not index.size:
        return None
    if index.min() >= low and index.max() < size:
        return None
    flat = index.reshape(-1)
    return flat[((flat < low) | (flat >= size)).argmax()]


def out_of_bounds(bad: Any, dim: int, size: int) -> str:
    """The sentence for an index outside its dimension."""
    return f"index {bad} is out of bounds for dimension {dim} with size {size}"


def scatter_index(func: str, input: Tensor, dim: int, index: Tensor, src: Tensor | None, what: str) -> None:
    """gather and scatter: dtype, dims and sizes of an index, and of the source that goes with it."""
    i = index._data
    if i.dtype != LONG and i.dtype != INT and i.size:
        raise RuntimeError(f"{func}(): Expected dtype int32/int64 for index")
    if not i.size:
        return
    x = input._data
    if (i.ndim or 1) != (x.ndim or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if func == 'gather' else what} tensor"
        )
    if src is not None and (src._data.ndim or 1) != (i.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if not (x.ndim and i.ndim):
        return
    if func == "gather":
        for d, n in enumerate(i.shape):
            if d != dim and n > x.shape[d]:
                raise RuntimeError(
                    f"Size does not match at dimension {d} expected index {errors.sizes(i.shape)} to be no larger than self "
                    f"{errors.sizes(x.shape)} apart from dimension {dim}"
                )
        return
    s = src._data.shape if src is not None else None
    for d, n in enumerate(i.shape):
        if (d != dim and n > x.shape[d]) or (s is not None and n > (s[d] if s else 1)):
            larger = "" if s is None else f" and to be no larger size than src {errors.sizes(s)}"
            raise RuntimeError(
                f"Expected index {errors.sizes(i.shape)} to be no larger than self {errors.sizes(x.shape)} apart from "
                f"dimension {dim}{larger}"
            )


def bounded(input: Tensor, dim: int, index: Tensor, error: Any = RuntimeError) -> None:
    """Refuse positions outside the dimension; negative ones do not count from the end."""
    size = input._data.shape[dim] if input._data.ndim else 1
    bad = reach(index._data, size, input._place)
    if bad is not None:
        raise error(out_of_bounds(bad, dim, size))


def flat_index(func: str, input: Tensor, index: Tensor) -> None:
    """take and put: long positions in the flat tensor, negative ones from the end."""
    i = index._data
    if i.dtype != LONG:
        raise RuntimeError(f"{func}(): Expected a long tensor for index, but got {scalar_name(index)}")
    n = input._data.size
    if func == "take" and n == 0 and i.size:
        raise IndexError("take(): tried to take from an empty tensor")
    bad = reach(i, n, input._place, -n)
    if bad is not None:
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {n} elements.")


def same_place(func: str, input: Tensor, *others: Tensor) -> None:
    """Refuse tensors of two devices."""
    for t in others:
        if t._place is not input._place:
            raise RuntimeError(errors.devices(input._place, t._place, func))


def is_cpu_number(t: Tensor) -> bool:
    """Whether a tensor is a number in disguise, which may join a tensor of any device."""
    return t._data.ndim == 0 and t._place is CPU
