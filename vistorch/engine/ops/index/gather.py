"""Along one dimension: gather, scatter, index_select, take.

A gather's gradient is a scattered addition and the other way round. Invariant: where a place comes several times,
additions happen in the order of the index, on the CPU the same way every time.
"""

from __future__ import annotations

import warnings
from typing import Any

from ... import dims, errors, outs
from ...call import op
from ...face import public
from ...promote import number as plain_number
from ...rules import REC
from ...tensor import Tensor
from . import checks
from .at import add_at, flat_places
from .setitem import number


# ---- kernels ----------------------------------------------------------------------------------------------------
def _cropped(a: Any, shape: tuple) -> Any:
    return a if a.shape == shape else a[tuple([slice(0, n) for n in shape])]


def _gather(xp: Any, input: Any, index: Any, dim: int) -> Any:
    if not index.size:
        return xp.empty(index.shape, input.dtype)
    a = input if input.ndim else input.reshape(1)
    i = index if index.ndim else index.reshape(1)
    if i.ndim == 1:
        return a.take(i).reshape(index.shape)
    rest = tuple([slice(0, n) if d != dim else slice(None) for d, n in enumerate(i.shape)])
    return xp.take_along_axis(a[rest], i, dim)


def _gather_backward(xp: Any, g: Any, index: Any, dim: int, shape: tuple) -> Any:
    return _added(xp, xp.zeros(shape, g.dtype), index, g, dim)


def _gather_padded(xp: Any, g: Any, index: Any, dim: int, shape: tuple) -> Any:
    found = _gather(xp, g, index, dim)
    if found.shape == shape:
        return found
    out = xp.zeros(shape, g.dtype)
    out[tuple([slice(0, n) for n in index.shape])] = found
    return out


def _added(xp: Any, out: Any, index: Any, src: Any, dim: int) -> Any:
    """`out` (contiguous, our own) with `src` added at `index` along `dim`."""
    if index.size:
        flat = out.reshape(-1)
        values = _cropped(src, index.shape).reshape(-1)
        add_at(xp, flat, flat_places(xp, index, dim, out.shape), values)
    return out


def _scatter_add(xp: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    return _added(xp, xp.array(input, order="C"), index, src, dim)


def _scatter(xp: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    out = xp.array(input, order="C")
    if index.size:
        out.reshape(-1)[flat_places(xp, index, dim, out.shape)] = _cropped(src, index.shape).reshape(-1)
    return out


def _scatter_value(xp: Any, input: Any, index: Any, dim: int, value: Any) -> Any:
    out = xp.array(input, order="C")
    if index.size:
        out.reshape(-1)[flat_places(xp, index, dim, out.shape)] = value
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
        moved = xp.array(xp.moveaxis(out, dim, 0), order="C")
        add_at(xp, moved, index, xp.moveaxis(source, dim, 0))
        out[...] = xp.moveaxis(moved, 0, dim)


def _take(xp: Any, input: Any, index: Any) -> Any:
    return input.reshape(-1).take(index) if index.size else xp.empty(index.shape, input.dtype)


def _take_backward(xp: Any, g: Any, index: Any, shape: tuple) -> Any:
    out = xp.zeros(shape, g.dtype)
    if index.size:
        add_at(xp, out.reshape(-1), index.reshape(-1) % max(out.size, 1), g.reshape(-1))
    return out


# ---- rows -------------------------------------------------------------------------------------------------------
_gather_row = op(
    "gather",
    _gather,
    inputs="input index",
    widen=False,
    formula=r"\bar x_{i} = \textstyle\sum \bar y",
    input=lambda F, g, index, dim, input_shape: F.gather_backward(g, index, dim, input_shape),
)
op(
    "gather_backward",
    _gather_backward,
    inputs="g index",
    name_in_graph="ScatterAddBackward0",
    formula=r"\bar x = \bar y_i",
    g=lambda F, g, index, dim: F.gather(g, index, dim),
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
_scatter_row = op(
    "scatter",
    _scatter,
    inputs="input index src",
    widen=False,
    formula={"input": r"\bar x = \bar y,\ 0\text{ at } i", "src": r"\bar s = \bar y_i"},
    input=lambda F, g, index, dim: F.scatter_value(g, index, dim, 0),
    src=lambda F, g, index, dim, src_shape: F.gather_padded(g, index, dim, src_shape),
)
_scatter_value_row = op(
    "scatter_value",
    _scatter_value,
    inputs="input index",
    widen=False,
    name_in_graph="ScatterBackward1",
    formula=r"\bar x = \bar y,\ 0\text{ at } i",
    input=lambda F, g, index, dim: F.scatter_value(g, index, dim, 0),
)
_scatter_add_row = op(
    "scatter_add",
    _scatter_add,
    inputs="input index src",
    formula={"input": r"\bar x = \bar y", "src": r"\bar s = \bar y_i"},
    input=lambda F, g: g,
    src=lambda F, g, index, dim, src_shape: F.gather_padded(g, index, dim, src_shape),
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


# ---- public -----------------------------------------------------------------------------------------------------
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
    checks.tensors("gather", ("input", 1, input), ("index", 3, index))
    if out is not None:
        outs.check_out("gather", out, (input,))
    dim = dims.one(dim, input._data.ndim, "gather", position=2)
    checks.same_place("gather", input, index)
    checks.scatter_index("gather", input, dim, index, None, "input")
    checks.bounded(input, dim, index)
    result = _gather_row(input, index, dim)
    return result if out is None else outs.deliver(out, result)


def _checked(name: str, input: Any, dim: Any, index: Any, src: Any, func: str = "scatter") -> int:
    checks.tensors(name, ("input", 1, input), ("index", 3, index), ("src", 4, src))
    dim = dims.one(dim, input._data.ndim, name, position=2)
    dims.one(dim, index._data.ndim)
    if index._data.size:
        dims.one(dim, src._data.ndim)
    checks.same_place(name, input, index, src)
    if src._data.dtype != input._data.dtype:
        raise RuntimeError(f"{func}(): Expected self.dtype to be equal to src.dtype")
    checks.scatter_index(func, input, dim, index, src, "self")
    checks.bounded(input, dim, index)
    return dim


@public(inplace=True)
def scatter(input, dim, index, src=None, *, value=None, reduce=None, out=None):
    """Write elements where an index points along a dim.

    Args:
        input: what is kept elsewhere.
        dim: the dim that `index` counts along.
        index: positions; as many dims as `input`.
        src: the elements, or a number.
        value: a number, as a name of its own.
        reduce: "add" or "multiply" instead of writing.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.scatter(vistorch.zeros(2, 3), 1, vistorch.tensor([[0], [2]]), 5.0)
        tensor([[5., 0., 0.],
                [0., 0., 5.]])
    """
    if src is None:
        src = value
    if out is not None:
        outs.check_out("scatter", out, (input, src))
    if isinstance(src, Tensor):
        if reduce is not None:
            result = _scatter_reduced(input, dim, index, src, reduce)
        else:
            dim = _checked("scatter", input, dim, index, src)
            result = _scatter_row(input, index, src, dim)
    else:
        result = _scatter_number(input, dim, index, src, reduce)
    return result if out is None else outs.deliver(out, result)


def _scatter_number(input: Any, dim: Any, index: Any, value: Any, reduce: Any) -> Tensor:
    n = plain_number(value)
    checks.tensors("scatter", ("input", 1, input), ("index", 3, index))
    if n is None:
        from ..create.arguments import type_name

        raise TypeError(
            f"scatter() received an invalid combination of arguments - got (Tensor, int, Tensor, {type_name(value)}), but "
            "expected one of:\n * (Tensor input, int dim, Tensor index, Tensor src)\n * (Tensor input, int dim, Tensor index, "
            "Number value)\n"
        )
    dim = dims.one(dim, input._data.ndim, "scatter", position=2)
    checks.same_place("scatter", input, index)
    checks.scatter_index("scatter", input, dim, index, None, "self")
    checks.bounded(input, dim, index)
    if reduce is not None:
        from ..create.data import tensor

        filled = tensor(number(n, input._data.dtype).item() if input._data.dtype.itemsize == 2 and input._data.dtype.kind not in "iu" else number(n, input._data.dtype))
        src = REC.expand(REC.cast(filled, input._data.dtype), index._data.shape)
        return _scatter_reduced(input, dim, index, src, reduce)
    return _scatter_value_row(input, index, dim, number(n, input._data.dtype))


def _scatter_reduced(input: Any, dim: Any, index: Any, src: Any, reduce: str) -> Tensor:
    """The older way to write scatter_reduce, which PyTorch gives no gradient."""
    from .reduce import scatter_reduce_row

    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    dim = _checked("scatter", input, dim, index, src)
    warnings.warn(REDUCE, UserWarning, stacklevel=3)
    return scatter_reduce_row(input, index, src, dim, "sum" if reduce == "add" else "prod", True)


REDUCE = (
    "The reduce argument of vistorch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
    "release. Use vistorch.scatter_reduce instead for more reduction options."
)


@public(inplace=True)
def scatter_add(input, dim, index, src, *, out=None):
    """Add elements where an index points along a dim; places that come twice add up.

    Args:
        input: what is added to.
        dim: the dim that `index` counts along.
        index: positions; as many dims as `input`.
        src: the elements.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.scatter_add(vistorch.zeros(3), 0, vistorch.tensor([0, 2, 0]), vistorch.ones(3))
        tensor([2., 0., 1.])
    """
    if out is not None:
        outs.check_out("scatter_add", out, (input, src))
    result = _scatter_add_row(input, index, src, _checked("scatter_add", input, dim, index, src))
    return result if out is None else outs.deliver(out, result)


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
    checks.tensors("index_select", ("input", 1, input), ("index", 3, index))
    if out is not None:
        outs.check_out("index_select", out, (input,))
    x, i = input._data, index._data
    dim = dims.one(dim, x.ndim, "index_select", position=2)
    checks.same_place("index_select", input, index)
    if i.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if i.dtype not in (checks.LONG, checks.INT):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not x.ndim and i.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {i.size} value(s)"
        )
    if checks.reach(i, x.shape[dim] if x.ndim else 1, input._place) is not None:
        raise IndexError("index out of range in self")
    result = _index_select_row(input, index, dim)
    return result if out is None else outs.deliver(out, result)


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
        outs.check_out("take", out, (input,))
    checks.same_place("take", input, index)
    checks.flat_index("take", input, index)
    result = _take_row(input, index)
    return result if out is None else outs.deliver(out, result)


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
        outs.check_out("take_along_dim", out, (input,))
    x, i = input._data, indices._data
    if i.dtype != checks.LONG:
        raise RuntimeError(
            f"vistorch.take_along_dim(): dtype of indices should be Long but got {checks.scalar_name(indices)}"
        )
    checks.same_place("take_along_dim", input, indices)
    if dim is None:
        input, indices, dim = REC.reshape(input, (x.size,)), REC.reshape(indices, (i.size,)), 0
    else:
        if x.ndim != i.ndim:
            raise RuntimeError(
                "vistorch.take_along_dim(): input and indices should have the same number of dimensions, but got "
                f"{x.ndim} dimensions for input, and {i.ndim} dimensions for indices"
            )
        dim = dims.one(dim, x.ndim, "take_along_dim", position=3)
        if x.ndim:
            input, indices = _broadcast(input, indices, dim)
    n = input._data.shape[dim] if input._data.ndim else 1
    bad = checks.reach(indices._data, n, input._place, -n)
    if bad is not None:
        raise RuntimeError(checks.out_of_bounds(bad, dim, n))
    i = indices._data
    if i.size and i.min() < 0:
        from ...tensor import wrap

        indices = wrap(input._place.xp.where(i < 0, i + n, i), input._place)
    result = _gather_row(input, indices, dim)
    return result if out is None else outs.deliver(out, result)


def _broadcast(x: Tensor, i: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Both, as large as the larger in every dim but one."""
    a, b = list(x._data.shape), list(i._data.shape)
    for d in range(len(a)):
        if d != dim and a[d] != b[d]:
            if a[d] != 1 and b[d] != 1:
                a[dim] = b[dim] = 1
                raise RuntimeError(errors.broadcast(tuple(a), tuple(b)))
            a[d] = b[d] = b[d] if a[d] == 1 else a[d]
    return REC.expand(x, tuple(a)), REC.expand(i, tuple(b))
