"""One tensor as several slices of it: tensor_split and the like.

Invariant: each piece is a slice with a node of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dims import one, sizes, whole
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from ...library_name import library
from .rows import key
from .views import one_by_one, slice_of, tensor


def sliced(x: Tensor, ends: list, dim: int) -> tuple[Tensor, ...]:
    """Slices of their own between the given indices (as Python's slices read them)."""
    d = x._data
    n = d.shape[dim]
    found, at = [], 0
    for end in [*ends, n]:
        start, stop, _ = slice(at, end).indices(n)
        stop = max(start, stop)
        found.append(slice_of(x, d[key(dim, slice(start, stop))], (dim, start, stop, 1)))
        at = end
    return tuple(found)


def _sections(x: Tensor, given: Any, dim: int) -> tuple[Tensor, ...]:
    """`tensor_split` once the dim is known: into a number of pieces, or at indices."""
    n = x._data.shape[dim]
    if not isinstance(given, (tuple, list)):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        size, more = divmod(n, given)
        return sliced(x, [i * size + min(i, more) for i in range(1, given)], dim)
    return sliced(x, list(given), dim)


@public()
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """A number of pieces as equal as can be, or the pieces between indices.

    Args:
        input: the tensor.
        indices_or_sections: how many pieces, or where each but the first begins; also as a tensor on the CPU.
        dim: which dim.
        indices: the same, by its other name.
        sections: the same, by its other name.

    Example:
        >>> import vistorch
        >>> vistorch.arange(5).tensor_split(3)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    shape = tensor(input, "tensor_split").shape
    what = next((w for w in (indices_or_sections, indices, sections) if w is not None), None)
    if not shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = one(dim, len(shape), "tensor_split", "dim", 3)
    if isinstance(what, Tensor):
        what = _listed(what)
    elif isinstance(what, (tuple, list)):
        what = sizes((tuple(what),), "tensor_split", "indices", 2) if what else ()
    elif isinstance(what, bool) or not isinstance(what, (int, np.integer)):
        kind = "NoneType" if what is None else type(what).__name__
        raise TypeError(f"tensor_split() received an invalid combination of arguments - got ({kind})")
    else:
        what = whole(what, "tensor_split", "sections", 2)
    return _sections(input, what, dim)


def _listed(t: Tensor) -> Any:
    """Sections or indices that came as a tensor."""
    from ...base import dtypes

    d = t._data
    if t._place.device.type != "cpu":
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {t._place.device}"
        )
    if d.dtype != np.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{dtypes.of(d.dtype).scalar_name}"
        )
    if d.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {d.ndim} dims"
        )
    return d.tolist()


def _numpy_like(name: str, least: int, axis: int, what: str) -> Any:
    def call(
        input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
    ) -> tuple[Tensor, ...]:
        what = [w for w in (indices_or_sections, indices, sections) if w is not None]
        if len(what) != 1:
            raise TypeError(
                f"{name}() takes one of indices_or_sections, indices and sections, but got {len(what)}"
            )
        (what,) = what
        shape = tensor(input, name).shape
        n = len(shape)
        if n < least:
            if not isinstance(what, (tuple, list)):
                whole(what, name, "sections", 2)
            raise RuntimeError(
                f"{library}.{name} requires a tensor with at least {least} dimension, but got a tensor with {n} "
                "dimensions!"
            )
        dim = 0 if n == 1 else axis
        if not isinstance(what, (tuple, list)):
            count = whole(what, name, "sections", 2)
            if count == 0 or shape[dim] % count:
                raise RuntimeError(
                    f"{library}.{name} attempted to split along dimension {dim}, but the size of the dimension "
                    f"{shape[dim]} is not divisible by the split_size {count}!"
                )
        return tensor_split(input, what, dim)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Pieces along {what}, as `tensor_split`.

    Args:
        input: the tensor.
        indices_or_sections: how many pieces of one length, or where each but the first begins.
        indices: the same, by its other name.
        sections: the same, by its other name.

    Example:
        >>> import vistorch
        >>> len(vistorch.zeros(4, 4, 4).{name}(2))
        2
    """
    METHODS[name] = one_by_one(call)
    return public(method=False)(call)


hsplit = _numpy_like("hsplit", 1, 1, "the second dim, or the first of a 1-d tensor")
vsplit = _numpy_like("vsplit", 2, 0, "the first dim")
dsplit = _numpy_like("dsplit", 3, 2, "the third dim")
