"""Reading along one dimension: gather, index_select, take.

Their gradients add up what was read several times. Invariant: additions to one place happen in the order of the index,
on the CPU the same way every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dims, errors
from ...core import out_argument
from ...core.base_ops import expand
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...kernels.fast.copies import by_rows
from ...kernels.strides import strides_of
from ...library_name import library
from ...memory.lanes import all_samples
from . import checks
from .add_at import add_at


def cropped(a: Any, shape: tuple) -> Any:
    """The first elements of an array, as many as an index has."""
    return a if a.shape == shape else a[tuple([slice(0, n) for n in shape])]


def gathered(xp: Any, input: Any, index: Any, dim: int) -> Any:
    """One element along `dim` for each place of the index."""
    if not index.size:
        return xp.empty(index.shape, input.dtype)
    a = input if input.ndim else input.reshape(1)
    i = index if index.ndim else index.reshape(1)
    if i.ndim == 1:
        return a.take(i).reshape(index.shape)
    if xp is np and a.flags.c_contiguous:
        return _read(a, i, dim)
    places: list = [i] * i.ndim
    for d, n in enumerate(i.shape):
        if d != dim:
            places[d] = xp.arange(n).reshape((1,) * d + (n,) + (1,) * (i.ndim - d - 1))
    return a[tuple(places)]


def _read(a: np.ndarray, index: np.ndarray, dim: int) -> np.ndarray:
    """As `gathered`, of contiguous memory: one place for each element, in range, as the op has checked."""
    steps = strides_of(a)
    start: Any = 0  # where the line begins in which an element is read
    for d, n in enumerate(index.shape):
        if d != dim:
            start = start + np.arange(0, n * steps[d], steps[d]).reshape(n, *(1,) * (index.ndim - d - 1))
    places = index + start if steps[dim] == 1 else index * steps[dim] + start
    return a.reshape(-1).take(places, mode="clip")  # which looks at each once less than "raise"


def _gather_padded(xp: Any, g: Any, index: Any, dim: int, shape: tuple) -> Any:
    found = gathered(xp, g, index, dim)
    if found.shape == shape:
        return found
    out = xp.zeros(shape, g.dtype)
    out[tuple([slice(0, n) for n in index.shape])] = found
    return out


def _index_select(xp: Any, input: Any, index: Any, dim: int) -> Any:
    if not input.ndim:
        return xp.array(input)
    return input.take(index.reshape(-1), dim)


def _index_added(xp: Any, g: Any, index: Any, dim: int, shape: tuple) -> Any:
    out = xp.zeros(shape, g.dtype)
    along(xp, out, index, g, dim)
    return out


def along(xp: Any, out: Any, index: Any, source: Any, dim: int) -> None:
    """Add the slices of `source` to the slices of `out` (contiguous) that `index` names."""
    index = index.reshape(-1)
    if not index.size:
        return
    if not out.ndim:
        out[...] += source.reshape(()) if source.size == 1 else source.sum()
    elif dim == 0:
        add_at(xp, out, index, source.reshape(index.shape[0], *out.shape[1:]))
    else:
        moved = _by_rows(xp, xp.moveaxis(out, dim, 0))
        add_at(xp, moved, index, _by_rows(xp, xp.moveaxis(source, dim, 0)))
        out[...] = _by_rows(xp, xp.moveaxis(moved, 0, dim))


def _by_rows(xp: Any, a: Any) -> Any:
    return by_rows(a) if a.__class__ is np.ndarray else xp.array(a, order="C")


def _take(xp: Any, input: Any, index: Any) -> Any:
    return input.reshape(-1).take(index) if index.size else xp.empty(index.shape, input.dtype)


def _take_backward(xp: Any, g: Any, index: Any, shape: tuple) -> Any:
    out = xp.zeros(shape, g.dtype)
    if index.size:
        add_at(xp, out.reshape(-1), index.reshape(-1) % max(out.size, 1), g.reshape(-1))
    return out


_gather_row = op(
    "gather",
    gathered,
    inputs="input index",
    widen=False,
    formula=r"\bar x_{i} = \textstyle\sum \bar y",
    input=lambda F, g, index, dim, input_shape: F.gather_backward(g, index, dim, input_shape),
)


op(
    "gather_padded",
    _gather_padded,
    inputs="g index",
    widen=False,
    name_in_graph="GatherBackward0",
    formula=r"\bar x_{i} = \textstyle\sum \bar y",
    g=lambda F, g, index, dim, g_shape: F.gather_backward(g, index, dim, g_shape),
)


_index_select_row = op(
    "index_select",
    _index_select,
    inputs="input index",
    widen=False,
    formula=r"\bar x_{i} = \textstyle\sum \bar y",
    input=lambda F, g, index, dim, input_shape: F.index_select_backward(g, index, dim, input_shape),
)


op(
    "index_select_backward",
    _index_added,
    inputs="g index",
    name_in_graph="IndexAddBackward0",
    formula=r"\bar x = \bar y_i",
    g=lambda F, g, index, dim, g_shape: F.reshape(F.index_select(g, index, dim), g_shape),
)


_take_row = op(
    "take",
    _take,
    inputs="input index",
    widen=False,
    formula=r"\bar x_{i} = \textstyle\sum \bar y",
    input=lambda F, g, index, input_shape: F.take_backward(g, index, input_shape),
)


op(
    "take_backward",
    _take_backward,
    inputs="g index",
    name_in_graph="PutBackward0",
    formula=r"\bar x = \bar y_i",
    g=lambda F, g, index: F.take(g, index),
)


@public()
def gather(input, dim, index, *, sparse_grad=False, out=None):
    """Pick one element along a dim for every place of an index.

    Args:
        input: the tensor to read.
        dim: the dim that `index` counts along.
        index: positions; as many dims as `input`, no larger in the others.
        sparse_grad: accepted; the gradient is dense.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.gather(vistorch.tensor([[1, 2], [3, 4]]), 1, vistorch.tensor([[0], [1]]))
        tensor([[1],
                [4]])
    """
    if input.__class__ is not Tensor or index.__class__ is not Tensor:
        checks.tensors("gather", ("input", 1, input), ("index", 3, index))
    if sparse_grad is not False:
        dims.flag(sparse_grad, "gather", "sparse_grad")
    if out is not None:
        checks.check_out("gather", out, input, (input, index))
        out_argument.refuse_grown(out, index._data.shape, (input, index))
    dim = dims.one(dim, input._data.ndim, "gather", position=2)
    if index._place is not input._place:
        checks.same_place("gather", input, index)
    if input._data.ndim != 1 or index._data.ndim != 1 or index._data.dtype is not checks.LONG:
        checks.scatter_index("gather", input, dim, index, None, "input")
    checks.bounded("gather", input, dim, index)
    result = _gather_row(input, index, dim)
    return result if out is None else out_argument.deliver(out, result)


@public()
def index_select(input, dim, index, *, out=None):
    """Copy the slices along a dim that an index names.

    Args:
        input: the tensor to read.
        dim: the dim.
        index: a vector of positions.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.index_select(vistorch.tensor([[1, 2], [3, 4]]), 1, vistorch.tensor([1, 1]))
        tensor([[2, 2],
                [4, 4]])
    """
    if input.__class__ is not Tensor or index.__class__ is not Tensor:
        checks.tensors("index_select", ("input", 1, input), ("index", 3, index))
    if out is not None:
        checks.check_out(
            "index_select",
            out,
            input,
            (input, index),
            "index_select(): self and result must have the same scalar type",
        )
    x, i = input._data, index._data
    dim = dims.one(dim, x.ndim, "index_select", position=2)
    if index._place is not input._place:
        checks.same_place("index_select", input, index)
    if i.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if i.dtype is not checks.LONG and i.dtype != checks.INT:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not x.ndim and i.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {i.size} value(s)")
    if checks.reach(i, x.shape[dim] if x.ndim else 1, input._place, 0, "index_select") is not None:
        raise IndexError("index out of range in self")
    result = _index_select_row(input, index, dim)
    return result if out is None else out_argument.deliver(out, result)


@public()
def take(input, index, *, out=None):
    """Elements of the flat tensor, in the shape of the index.

    Args:
        input: the tensor to read.
        index: positions in the flat tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.take(vistorch.tensor([[1, 2], [3, 4]]), vistorch.tensor([0, -1]))
        tensor([1, 4])
    """
    checks.tensors("take", ("input", 1, input), ("index", 2, index))
    if out is not None:
        out_argument.check_out("take", out)
        said = (
            "take(): self and out expected to have the same dtype, but got self.dtype = {} and out.dtype = {}"
        )
        checks.check_out(
            "take",
            out,
            input,
            (input, index),
            said.format(checks.scalar_name(input), checks.scalar_name(out)),
        )
    checks.same_place("take", input, index)
    checks.flat_index("take", input, index)
    result = _take_row(input, index)
    return result if out is None else out_argument.deliver(out, result)


@public()
def take_along_dim(input, indices, dim=None, *, out=None):
    """`gather` with broadcasting, and with negative positions.

    Args:
        input: the tensor to read.
        indices: positions along `dim`.
        dim: the dim; None reads the flat tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[3, 1], [2, 4]])
        >>> vistorch.take_along_dim(x, vistorch.tensor([[1]]), dim=1)
        tensor([[1],
                [4]])
    """
    checks.tensors("take_along_dim", ("input", 1, input), ("indices", 2, indices))
    if out is not None:
        checks.check_out("gather", out, input, (input, indices))
    x, i = input._data, indices._data
    if i.dtype != checks.LONG:
        raise RuntimeError(
            f"{library}.take_along_dim(): dtype of indices should be Long but got {checks.scalar_name(indices)}"
        )
    checks.same_place("take_along_dim", input, indices)
    if dim is None:
        input, indices, dim = input.view(-1), indices.view(-1), 0
    else:
        if x.ndim != i.ndim:
            raise RuntimeError(
                f"{library}.take_along_dim(): input and indices should have the same number of dimensions, but got "
                f"{x.ndim} dimensions for input, and {i.ndim} dimensions for indices"
            )
        dim = dims.one(dim, x.ndim, "take_along_dim", position=3)
        if x.ndim:
            input, indices = _broadcast(input, indices, dim)
    n = input._data.shape[dim] if input._data.ndim else 1
    bad = checks.reach(indices._data, n, input._place, -n, "take_along_dim")
    if bad is not None:
        raise RuntimeError(checks.out_of_bounds(bad, dim, n))
    i = indices._data
    if i.size and all_samples(i).min() < 0:
        indices = wrap(indices._place.xp.where(i < 0, i + n, i), input._place)
    result = _gather_row(input, indices, dim)
    return result if out is None else out_argument.deliver(out, result)


def _broadcast(x: Tensor, i: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Both, as large as the larger in every dim but one."""
    a, b = list(x._data.shape), list(i._data.shape)
    for d in range(len(a)):
        if d != dim and a[d] != b[d]:
            if a[d] != 1 and b[d] != 1:
                a[dim] = b[dim] = 1
                raise RuntimeError(errors.broadcast(tuple(a), tuple(b)))
            a[d] = b[d] = b[d] if a[d] == 1 else a[d]
    return expand(x, tuple(a)), expand(i, tuple(b))
