"""Writing by index tensors: index_put, put, index_add, index_copy, index_fill.

Invariant: what is overwritten gets no gradient, what is added to keeps it; a value written twice to one place gets the
gradient of that place each time, as in PyTorch.
"""

from __future__ import annotations

from typing import Any


from ... import dims, errors, outs
from ...call import op
from ...face import FUNCTIONS, METHODS, public
from ...modes import mode
from ...promote import number as plain_number
from ...promote import sync_rg
from ...tensor import Tensor
from ..core import to_dtype, to_place
from . import checks
from . import where as _where
from .at import add_at
from .gather import along
from .parse import checked, gathered
from .setitem import index_put_at, index_put_row, number


# ---- kernels ----------------------------------------------------------------------------------------------------
def _along(dim: int, index: Any) -> tuple:
    return (*[slice(None)] * dim, index.reshape(-1))


def _index_add(xp: Any, input: Any, index: Any, source: Any, dim: int, alpha: Any) -> Any:
    out = xp.array(input, order="C")
    along(xp, out, index, source if alpha == 1 else (source * alpha).astype(source.dtype), dim)
    return out


def _index_copy(xp: Any, input: Any, index: Any, source: Any, dim: int) -> Any:
    out = xp.array(input, order="C")
    if not out.ndim:
        if index.size:
            out[...] = source.reshape(-1)[-1]
    else:
        out[_along(dim, index)] = source
    return out


def _index_fill(xp: Any, input: Any, index: Any, dim: int, value: Any) -> Any:
    out = xp.array(input, order="C")
    if not out.ndim:
        if index.size:
            out[...] = value
    else:
        out[_along(dim, index)] = value
    return out


def _index_fill_by(xp: Any, input: Any, index: Any, value: Any, dim: int) -> Any:
    return _index_fill(xp, input, index, dim, value)


def _index_kept(xp: Any, g: Any, index: Any, dim: int) -> Any:
    mask = xp.zeros(g.shape, bool)
    if g.ndim:
        mask[_along(dim, index)] = True
    elif index.size:
        mask[...] = True
    return xp.where(mask, g, g.dtype.type(0))


def _put(xp: Any, input: Any, index: Any, source: Any, accumulate: bool) -> Any:
    out = xp.array(input, order="C")
    if index.size:
        flat, places = out.reshape(-1), index.reshape(-1) % out.size
        if accumulate:
            add_at(xp, flat, places, source.reshape(-1))
        else:
            flat[places] = source.reshape(-1)
    return out


def _put_zero(xp: Any, g: Any, index: Any) -> Any:
    out = xp.array(g, order="C")
    if index.size:
        out.reshape(-1)[index.reshape(-1)] = 0
    return out


# ---- rows -------------------------------------------------------------------------------------------------------
_index_add_row = op(
    "index_add",
    _index_add,
    inputs="input index source",
    formula={"input": r"\bar x = \bar y", "source": r"\bar s = \alpha\,\bar y_i"},
    input=lambda F, g: g,
    source=lambda F, g, index, dim, alpha, source_shape: _scaled(
        F.reshape(F.index_select(g, index, dim), source_shape), alpha
    ),
)
_index_copy_row = op(
    "index_copy",
    _index_copy,
    inputs="input index source",
    widen=False,
    formula={"input": r"\bar x = \bar y,\ 0\text{ at } i", "source": r"\bar s = \bar y_i"},
    input=lambda F, g, index, dim: F.index_fill(g, index, dim, 0),
    source=lambda F, g, index, dim, source_shape: F.reshape(F.index_select(g, index, dim), source_shape),
)
_index_fill_row = op(
    "index_fill",
    _index_fill,
    inputs="input index",
    widen=False,
    formula=r"\bar x = \bar y,\ 0\text{ at } i",
    input=lambda F, g, index, dim: F.index_fill(g, index, dim, 0),
)
_index_fill_by_row = op(
    "index_fill_by",
    _index_fill_by,
    inputs="input index value",
    widen=False,
    name_in_graph="IndexFillBackward1",
    formula={"input": r"\bar x = \bar y,\ 0\text{ at } i", "value": r"\bar v = \textstyle\sum_i \bar y"},
    input=lambda F, g, index, dim: F.index_fill(g, index, dim, 0),
    value=lambda F, g, index, dim: F.sum_to(F.index_kept(g, index, dim), ()),
)
op(
    "index_kept",
    _index_kept,
    inputs="g index",
    widen=False,
    name_in_graph="IndexSelectBackward0",
    formula=r"\bar x = \bar y,\ 0\text{ not at } i",
    g=lambda F, g, index, dim: F.index_kept(g, index, dim),
)
_put_row = op(
    "put",
    _put,
    inputs="input index source",
    formula={"input": r"\bar x = \bar y,\ 0\text{ at } i", "source": r"\bar s = \bar y_i"},
    input=lambda F, g, index, accumulate: g if accumulate else F.put_zeros(g, index),
    source=lambda F, g, index, source_shape: F.reshape(F.take(g, index), source_shape),
)
op(
    "put_zeros",
    _put_zero,
    inputs="g index",
    widen=False,
    name_in_graph="PutBackward0",
    formula=r"\bar x = \bar y,\ 0\text{ at } i",
    g=lambda F, g, index: F.put_zeros(g, index),
)


def _scaled(g: Any, alpha: Any) -> Any:
    return g if alpha == 1 else g * alpha


# ---- index_put --------------------------------------------------------------------------------------------------
def _indices(func: str, input: Tensor, indices: Any) -> _where.Where:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{func}(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    entries: dict[int, Any] = {}
    sources: list = []
    dim = 0
    for at, t in enumerate(indices):
        if not isinstance(t, Tensor):
            kind = "NoneType" if t is None else type(t).__name__
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {kind}")
        array = checked(t, input._place)
        entries[dim] = array
        dim += array.ndim if array.dtype.kind == "b" else 1
        sources.append((t, 0 if t._ver is None else t._ver.n))
    if not entries:
        raise RuntimeError("sym_strides() called on an undefined Tensor")
    return gathered(entries, input._data.shape, sources, input._place)


@public()
def index_put(input, indices, values, accumulate=False):
    """A copy with values written, or added, where index tensors point.

    Args:
        input: what is kept elsewhere.
        indices: one index tensor (or mask) per dim, from the first.
        values: what to write; it broadcasts.
        accumulate: add instead of writing.

    Example:
        >>> import vistorch
        >>> index = vistorch.tensor([0, 0, 2])
        >>> vistorch.index_put(vistorch.zeros(3), (index,), vistorch.ones(3), accumulate=True)
        tensor([2., 0., 1.])
    """
    checks.tensors("index_put", ("input", 1, input), ("values", 2, values))
    where = _indices("index_put", input, indices)
    _where.check_types(input._data, values._data)
    if values._place is not input._place:
        if not checks.is_cpu_number(values):
            raise RuntimeError(errors.devices(input._place, values._place))
        values = to_place(values, input._place)
    _where.check_values(where, input._data.shape, values._data)
    return index_put_row(input, values, where, bool(accumulate))


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """`index_put` in place.

    Args:
        input: the tensor to write to.
        indices: one index tensor (or mask) per dim, from the first.
        values: what to write; it broadcasts.
        accumulate: add instead of writing.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(3).index_put_((vistorch.tensor([1]),), vistorch.tensor(4.0))
        tensor([0., 4., 0.])
    """
    checks.tensors("index_put_", ("self", 1, input), ("values", 2, values))
    records = bool(mode.on and (sync_rg(input) | sync_rg(values)))
    index_put_at(input, _indices("index_put_", input, indices), values, bool(accumulate), records)
    return input


METHODS["index_put_"] = FUNCTIONS["index_put_"] = index_put_


@public(inplace=True, function=False)
def put(input, index, source, accumulate=False):
    """A copy with elements written, or added, at positions of the flat tensor.

    Args:
        input: what is kept elsewhere.
        index: positions in the flat tensor.
        source: as many elements as positions.
        accumulate: add instead of writing.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 2).put(vistorch.tensor([1, -1]), vistorch.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [0., 6.]])
    """
    checks.tensors("put", ("input", 1, input), ("index", 2, index), ("source", 3, source))
    checks.same_place("put", input, index, source)
    if index._data.dtype != checks.LONG:
        checks.flat_index("put_", input, index)
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{checks.scalar_name(input)} and source.dtype = {checks.scalar_name(source)}"
        )
    if source._data.size != index._data.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._data.size}, index.numel() = {index._data.size}"
        )
    checks.flat_index("put_", input, index)
    return _put_row(input, index, source, bool(accumulate))


FUNCTIONS["put"] = put


# ---- whole slices along a dim -----------------------------------------------------------------------------------
def slices(func: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """index_add and index_reduce: an index that is a vector, and as many slices that fit."""
    i, s = index._data, source._data
    if i.ndim > 1:
        raise IndexError(
            f"{func}_(): Index is supposed to be a vector, but got dim: {i.ndim} with type: {checks.scalar_name(index)} and "
            f"size: {errors.sizes(i.shape)}"
        )
    if i.dtype not in (checks.LONG, checks.INT):
        raise RuntimeError(
            f"{func}_(): Expected dtype int32/int64 for index but got: {checks.scalar_name(index)}"
        )
    if input._data.dtype != s.dtype:
        raise RuntimeError(
            f"{func}_(): self ({checks.scalar_name(input)}) and source ({checks.scalar_name(source)}) must have the same "
            "scalar type"
        )
    if dim and dim >= s.ndim:
        raise RuntimeError(f"{func}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {s.ndim}")
    shape = input._data.shape
    if shape[:dim] + shape[dim + 1 :] != s.shape[:dim] + s.shape[dim + 1 :] or len(shape) != s.ndim:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{errors.sizes(shape)} source.shape = {errors.sizes(s.shape)}"
        )
    n = s.shape[dim] if s.ndim else 1
    if n != i.size:
        raise RuntimeError(
            f"{func}_(): Number of indices ({i.size}) should be equal to source.size(dim): ({n}), for dim: {dim}"
        )
    checks.same_place(func, input, index, source)


@public(inplace=True)
def index_add(input, dim, index, source, *, alpha=1, out=None):
    """Add slices of a source to the slices along a dim that an index names.

    Args:
        input: what is added to.
        dim: the dim.
        index: a vector of positions; those that come twice add up.
        source: as many slices as positions.
        alpha: a factor for the source.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> index = vistorch.tensor([0, 0, 1])
        >>> vistorch.index_add(vistorch.zeros(2), 0, index, vistorch.tensor([1.0, 2.0, 3.0]))
        tensor([3., 3.])
    """
    if out is not None:
        outs.check_out("index_add", out, (input, source))
    checks.tensors("index_add", ("input", 1, input), ("index", 3, index), ("source", 4, source))
    dim = dims.one(dim, input._data.ndim, "index_add", position=2)
    slices("index_add", input, dim, index, source)
    checks.bounded(input, dim, index)
    if alpha != 1:
        alpha = number(plain_number(alpha), input._data.dtype)
        alpha = alpha.item() if hasattr(alpha, "item") else alpha
    result = _index_add_row(input, index, source, dim, alpha)
    return result if out is None else outs.deliver(out, result)


@public(inplace=True)
def index_copy(input, dim, index, source, *, out=None):
    """A copy with slices of a source where an index points along a dim.

    Args:
        input: what is kept elsewhere.
        dim: the dim.
        index: a vector of positions.
        source: as many slices as positions.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> index = vistorch.tensor([2, 0])
        >>> vistorch.index_copy(vistorch.zeros(3), 0, index, vistorch.tensor([5.0, 7.0]))
        tensor([7., 0., 5.])
    """
    if out is not None:
        outs.check_out("index_copy", out, (input, source))
    checks.tensors("index_copy", ("input", 1, input), ("index", 3, index), ("source", 4, source))
    dim = dims.one(dim, input._data.ndim, "index_copy", position=2)
    _copies(input, dim, index, source)
    size = input._data.shape[dim] if input._data.ndim else 1
    bad = checks.reach(index._data, size, input._place)
    if bad is not None:
        raise IndexError("index_copy_(): " + checks.out_of_bounds(bad, dim, size))
    result = _index_copy_row(input, index, source, dim)
    return result if out is None else outs.deliver(out, result)


def _copies(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    x, i, s = input._data, index._data, source._data
    if i.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {i.ndim})")
    if not s.ndim and i.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {i.size})")
    if s.ndim and x.ndim and s.ndim != x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({s.ndim}), destination dimensionality ({x.ndim})"
        )
    if i.dtype != checks.LONG:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {checks.scalar_name(index)}")
    if x.dtype != s.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{checks.scalar_name(input)} and (source) {checks.scalar_name(source)}"
        )
    mine = x.shape[:dim] + x.shape[dim + 1 :] if x.ndim else ()
    theirs = s.shape[:dim] + s.shape[dim + 1 :] if s.ndim else ()
    if mine != theirs:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, mine))} at dimension {dim} and source slice shape: {' '.join(map(str, theirs))} at "
            "dimension 0."
        )
    if s.ndim and i.size != s.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({i.size}) should be equal to source.size(dim) ({s.shape[dim]})"
        )
    checks.same_place("index_copy", input, index, source)


@public(inplace=True)
def index_fill(input, dim, index, value):
    """A copy with one value in the slices along a dim that an index names.

    Args:
        input: what is kept elsewhere.
        dim: the dim.
        index: a vector of positions.
        value: a number, or a tensor of no dimensions.

    Example:
        >>> import vistorch
        >>> vistorch.index_fill(vistorch.zeros(2, 3), 1, vistorch.tensor([0, 2]), 1.0)
        tensor([[1., 0., 1.],
                [1., 0., 1.]])
    """
    checks.tensors("index_fill", ("input", 1, input), ("index", 3, index))
    dt = input._data.dtype
    if isinstance(value, Tensor):
        if value._data.ndim:
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value._data.ndim} dimension(s)."
            )
        is_complex = value._data.dtype.kind == "c"
    else:
        n = plain_number(value)
        if n is None:
            from ..create.arguments import type_name

            raise TypeError(
                f"index_fill() received an invalid combination of arguments - got (Tensor, int, Tensor, {type_name(value)}), "
                "but expected one of:\n * (Tensor input, int dim, Tensor index, Tensor value)\n * (Tensor input, int dim, "
                "Tensor index, Number value)\n"
            )
        value = n
        is_complex = isinstance(n, complex)
    dim = dims.one(dim, input._data.ndim, "index_fill", position=2)
    i = index._data
    if i.dtype != checks.LONG:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if is_complex and dt.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if i.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    checks.same_place("index_fill", input, index)
    size = input._data.shape[dim] if input._data.ndim else 1
    bad = checks.reach(i, size, input._place, -size)
    if bad is not None:
        raise IndexError(checks.out_of_bounds(bad, dim, size))
    if isinstance(value, Tensor):
        if value._place is not input._place:
            value = to_place(value, input._place)
        if value._data.dtype != dt:
            value = to_dtype(value, dt)
        return _index_fill_by_row(input, index, value, dim)
    return _index_fill_row(input, index, dim, number(value, dt))


