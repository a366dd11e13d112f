"""Grids, products and combinations of 1-d tensors, the indices of triangles, and the least number of dims.

Invariant: the tensors of a grid are views; what is stacked from them is a copy.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.dims import check_memory, flag, whole
from ...core.base_ops import expand
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...library_name import library, named
from ...memory.placement import place_of
from ..create.arguments import check_pinned
from . import rows
from .expand import each_tensor
from .join import stack_row
from .repeat import taken
from .views import tensor

_asked: list = []
NO_INDEXING = "vistorch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."


def _grid(tensors: list, swapped: bool) -> tuple[Tensor, ...]:
    """Each 1-d tensor along a dim of its own; `swapped` exchanges the first two dims."""
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    first = tensors[0]
    for t in tensors:
        if t._data.dtype != first._data.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if t._place.device != first._place.device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    for t in tensors:
        if t._data.ndim > 1:
            raise RuntimeError(
                f"{library}.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}"
            )
    n = len(tensors)
    order = [1, 0, *range(2, n)] if swapped and n > 1 else list(range(n))
    shape = [0] * n
    for t, at in zip(tensors, order, strict=True):
        shape[at] = t._data.size
    found = []
    for t, at in zip(tensors, order, strict=True):
        line = tuple([t._data.size if i == at else 1 for i in range(n)])
        found.append(expand(rows.reshape(t, line), tuple(shape)))
    return tuple(found)


@public(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of all points of a grid, one tensor per axis.

    Args:
        *tensors: the positions along each axis.
        indexing: "ij" gives the axes their order; "xy" exchanges the first two.

    Example:
        >>> import vistorch
        >>> x, y = vistorch.meshgrid(vistorch.arange(2), vistorch.arange(3), indexing="ij")
        >>> y
        tensor([[0, 1, 2],
                [0, 1, 2]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    each_tensor(tensors)
    if indexing is None:
        if tensors and not _asked:  # PyTorch asks once in a process
            _asked.append(True)
            warnings.warn(named(NO_INDEXING), UserWarning, stacklevel=2)
    elif indexing not in ("ij", "xy"):
        if not isinstance(indexing, str):
            raise errors.must_be_str("meshgrid", "indexing", 0, indexing)
        raise RuntimeError(
            f'{library}.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    return _grid(list(tensors), indexing == "xy")


def _vector(t: Tensor) -> int:
    shape = t._data.shape
    if len(shape) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {errors.sizes(shape)}")
    return shape[0]


@public(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """All ways to pick one element of each tensor, a row for each.

    Args:
        *tensors: 1-d tensors.

    Example:
        >>> import vistorch
        >>> vistorch.cartesian_prod(vistorch.tensor([1, 2]), vistorch.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    each_tensor(tensors)
    for t in tensors:
        _vector(t)
    if len(tensors) == 1:
        return tensors[0]
    columns = [rows.reshape(t, (t._data.size,)) for t in _grid(list(tensors), False)]
    return stack_row(columns, 1, tuple(range(len(columns))))


@public()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to pick r elements of a tensor without regard to order, a row for each.

    Args:
        input: a 1-d tensor.
        r: how many elements.
        with_replacement: whether an element may be picked again.

    Example:
        >>> import vistorch
        >>> vistorch.combinations(vistorch.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    tensor(input, "combinations")
    n = _vector(input)
    r = whole(r, "combinations", "r", 2)
    with_replacement = flag(with_replacement, "combinations", "with_replacement")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    xp = input._place.xp
    if r == 0:
        return wrap(xp.zeros(0, input._data.dtype), input._place)
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = np.array(list(pick(range(n), r)), np.int64).reshape(-1, r)
    columns = [taken(input, xp.asarray(chosen[:, i]), 0) for i in range(r)]
    return stack_row(columns, 1, tuple(range(r)))


# ---- triangles -------------------------------------------------------------------------------------------------------
def _indices(name: str, row: Any, col: Any, offset: Any, dtype: Any, device: Any, upper: bool) -> Tensor:
    n, m, k = whole(row, name, "row"), whole(col, name, "col", 2), whole(offset, name, "offset", 3)
    for label, size in (("row", n), ("col", m)):
        if size < 0:
            raise RuntimeError(f"{label} must be non-negative, got{size}")
    kind = dtypes.int64 if dtype is None else dtypes.to_dtype(dtype, name)
    if kind not in (dtypes.int64, dtypes.int32, dtypes.int16, dtypes.int8, dtypes.uint8):
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.scalar_name}'")
    place = place_of(device, name)
    check_memory((n, m), 1)
    keep = np.tri(n, m, k - 1 if upper else k, dtype=bool)
    found = np.stack(np.nonzero(~keep if upper else keep)).astype(kind.np)
    return wrap(place.xp.asarray(found), place)


@public(method=False)
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The indices of the lower triangle of a matrix: row indices above column indices.

    Args:
        row: how many rows.
        col: how many columns.
        offset: the highest diagonal of the triangle; 0 is the main one.
        dtype: an integer type; int64 if not given.
        device: where the result will be.
        layout: accepted.
        requires_grad: accepted as False.
        pin_memory: accepted.

    Example:
        >>> import vistorch
        >>> vistorch.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "tril_indices")
    flag(requires_grad is not None and requires_grad, "tril_indices", "requires_grad")
    return _indices("tril_indices", row, col, offset, dtype, device, False)


@public(method=False)
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The indices of the upper triangle of a matrix: row indices above column indices.

    Args:
        row: how many rows.
        col: how many columns.
        offset: the lowest diagonal of the triangle; 0 is the main one.
        dtype: an integer type; int64 if not given.
        device: where the result will be.
        layout: accepted.
        requires_grad: accepted as False.
        pin_memory: accepted.

    Example:
        >>> import vistorch
        >>> vistorch.triu_indices(2, 2)
        tensor([[0, 0, 1],
                [0, 1, 1]])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "triu_indices")
    flag(requires_grad is not None and requires_grad, "triu_indices", "requires_grad")
    return _indices("triu_indices", row, col, offset, dtype, device, True)


# ---- at least so many dims -------------------------------------------------------------------------------------------
def _at_least(least: int, raised: Any) -> Any:
    name = f"atleast_{least}d"

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1:
            if isinstance(tensors[0], (tuple, list)):
                tensors = tuple(tensors[0])
            elif not isinstance(tensors[0], Tensor):
                kind = type(tensors[0]).__name__
                raise TypeError(f"{name}() received an invalid combination of arguments - got ({kind})")
            else:
                return raised(tensors[0], tensors[0]._data.ndim)
        each_tensor(tensors)
        return tuple([raised(t, t._data.ndim) for t in tensors])

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Tensors with {least} dims at least; one that has them is returned as it is.

    Args:
        *tensors: one tensor, several, or a sequence of them.

    Example:
        >>> import vistorch
        >>> vistorch.{name}(vistorch.tensor(1)).dim()
        {least}
    """
    return public(method=False)(call)


def _second(t: Tensor, n: int) -> Tensor:
    return t if n > 1 else rows.unsqueeze(t, 0) if n else rows.reshape(t, (1, 1))


def _third(t: Tensor, n: int) -> Tensor:
    if n > 2:
        return t
    if n == 2:
        return rows.unsqueeze(t, 2)
    return rows.unsqueeze(rows.unsqueeze(t, 0), 2) if n else rows.reshape(t, (1, 1, 1))


atleast_1d = _at_least(1, lambda t, n: t if n else rows.reshape(t, (1,)))
atleast_2d = _at_least(2, _second)
atleast_3d = _at_least(3, _third)
