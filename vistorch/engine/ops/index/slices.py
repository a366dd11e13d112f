"""Whole slices along a dim: index_add, index_copy, index_fill.

Invariant: an index is a vector (or a number) of positions along the dim; what is overwritten gets no gradient.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, errors
from ...base.casting import casting
from ...base.modes import mode
from ...core import out_argument
from ...core.base_ops import to_dtype, to_place
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import number as plain_number
from ..create.arguments import type_name
from ..create.numbers import fit
from . import checks
from .gather import along


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


def _scaled(g: Any, alpha: Any) -> Any:
    return g if alpha == 1 else g * alpha


def slices(func: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """index_add and index_reduce: an index that is a vector, and as many slices that fit."""
    i, s = index._data, source._data
    if i.ndim > 1:
        raise IndexError(
            f"{func}_(): Index is supposed to be a vector, but got dim: {i.ndim} with type: "
            f"{checks.scalar_name(index)} and "
            f"size: {errors.sizes(i.shape)}"
        )
    if i.dtype not in (checks.LONG, checks.INT):
        raise RuntimeError(
            f"{func}_(): Expected dtype int32/int64 for index but got: {checks.scalar_name(index)}"
        )
    if input._data.dtype != s.dtype:
        raise RuntimeError(
            f"{func}_(): self ({checks.scalar_name(input)}) and source ({checks.scalar_name(source)}) must "
            "have the same "
            "scalar type"
        )
    if dim and dim >= s.ndim:
        raise RuntimeError(
            f"{func}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {s.ndim}"
        )
    shape = input._data.shape
    if not s.ndim and shape and i.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
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


@public()
@checks.in_place
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
        checks.check_out("index_add", out, input, (index, source))
    checks.tensors("index_add", ("input", 1, input), ("index", 3, index), ("source", 4, source))
    dim = dims.one(dim, input._data.ndim, "index_add", position=2)
    slices("index_add", input, dim, index, source)
    checks.bounded("index_add", input, dim, index)
    if alpha != 1:
        alpha = fit(plain_number(alpha), input._data.dtype)
    result = _index_add_row(input, index, source, dim, alpha)
    return result if out is None else out_argument.deliver(out, result)


@public()
@checks.in_place
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
    if casting.on and (recast := casting.ask(index_copy, locals())):
        return recast[0]
    if out is not None:
        checks.check_out("index_copy", out, input, (index, source))
    checks.tensors("index_copy", ("input", 1, input), ("index", 3, index), ("source", 4, source))
    dim = dims.one(dim, input._data.ndim, "index_copy", position=2)
    _copies(input, dim, index, source)
    size = input._data.shape[dim] if input._data.ndim else 1
    bad = checks.reach(index._data, size, input._place, 0, "index_copy")
    if bad is not None:
        raise IndexError("index_copy_(): " + checks.out_of_bounds(bad, dim, size))
    result = _index_copy_row(input, index, source, dim)
    return result if out is None else out_argument.deliver(out, result)


def _copies(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    x, i, s = input._data, index._data, source._data
    if i.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {i.ndim})")
    if not s.ndim and i.size != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got {i.size})"
        )
    if s.ndim and x.ndim and s.ndim != x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({s.ndim}), destination dimensionality ({x.ndim})"
        )
    if i.dtype != checks.LONG:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {checks.scalar_name(index)}"
        )
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


@public()
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
            dims.whole(dim, "index_fill", position=2)
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value._data.ndim} dimension(s)."
            )
        is_complex = value._data.dtype.kind == "c"
    else:
        n = plain_number(value)
        if n is None:
            raise TypeError(
                f"index_fill() received an invalid combination of arguments - got (Tensor, int, Tensor, "
                f"{type_name(value)}), "
                "but expected one of:\n * (Tensor input, int dim, Tensor index, Tensor value)\n * (Tensor input, "
                "int dim, "
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
    bad = checks.reach(i, size, input._place, -size, "index_fill")
    if bad is not None:
        raise IndexError(checks.out_of_bounds(bad, dim, size))
    if isinstance(value, Tensor):
        if value._place is not input._place:
            value = to_place(value, input._place)
        if value._data.dtype != dt:
            if mode.on and sync_rg(value):
                value = to_dtype(value, dt)
            else:
                value = wrap(input._place.xp.asarray(fit(value._data.item(), dt), dt), input._place)
        return _index_fill_by_row(input, index, value, dim)
    return _index_fill_row(input, index, dim, fit(value, dt))


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """`index_fill` in place."""
    return checks.written(index_fill, input, (dim, index, value))


METHODS["index_fill_"] = index_fill_
