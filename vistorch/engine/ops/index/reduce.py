"""scatter_reduce and index_reduce: sum, prod, mean, amax and amin of what meets at one place.

The formulas are PyTorch's: ties of a maximum share its gradient, and a product finds the gradient of a single zero by
leaving it out. Invariant: index_reduce is scatter_reduce with its index repeated along the other dims.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dims, dtypes, errors
from ...base.dims import flag
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from . import checks
from .add_at import add_at, combine_at, flat_places
from .gather import cropped, gathered

UFUNC = {"prod": "multiply", "amax": "maximum", "amin": "minimum"}


# ---- kernels ----------------------------------------------------------------------------------------------------
def _start(xp: Any, how: str, dtype: Any) -> Any:
    """What a reduction of nothing is."""
    if how in ("sum", "mean"):
        return 0
    if how == "prod":
        return 1
    if dtype.kind == "b":
        return how == "amin"
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.min if how == "amax" else info.max
    return -np.inf if how == "amax" else np.inf


def _reduce(xp: Any, input: Any, index: Any, src: Any, dim: int, how: str, include_self: bool) -> Any:
    out = xp.array(input, order="C")
    if not index.size:
        return out
    flat = out.reshape(-1)
    places = flat_places(xp, index, dim, out.shape)
    values = cropped(src, index.shape).reshape(-1)
    if not include_self:
        flat[places] = _start(xp, how, out.dtype)
    if how in UFUNC:
        combine_at(xp, UFUNC[how], flat, places, values)
        return out
    add_at(xp, flat, places, values)
    if how == "mean":
        count = _count(xp, input, index, dim, include_self, np.dtype("i8"))
        return out // count.astype(out.dtype) if out.dtype.kind in "iu" else (out / count).astype(out.dtype)
    return out


def _count(xp: Any, g: Any, index: Any, dim: int, include_self: bool, dtype: Any = None) -> Any:
    """How many values meet at each place, one at least."""
    count = (xp.ones if include_self else xp.zeros)(g.shape, np.int64)
    if index.size:
        places = flat_places(xp, index, dim, g.shape)
        add_at(xp, count.reshape(-1), places, xp.ones(places.shape, np.int64))
    return xp.maximum(count, 1).astype(dtype or g.real.dtype)


def _equal(xp: Any, input: Any, out: Any) -> Any:
    return (input == out).astype(out.dtype)


def _equal_at(xp: Any, src: Any, index: Any, out: Any, dim: int) -> Any:
    """Where the source is what came out, in the source's shape."""
    found = xp.zeros(src.shape, out.dtype)
    if index.size:
        region = tuple([slice(0, n) for n in index.shape])
        found[region] = gathered(xp, out, index, dim) == src[region]
    return found


def _single_zeros(xp: Any, src: Any, index: Any, dim: int, shape: tuple) -> Any:
    """Where the source is the only zero of its place."""
    zero = src == 0
    found = xp.zeros(src.shape, bool)
    if index.size:
        region = tuple([slice(0, n) for n in index.shape])
        count = xp.zeros(shape, np.int64)
        places = flat_places(xp, index, dim, shape)
        add_at(xp, count.reshape(-1), places, zero[region].reshape(-1).astype(np.int64))
        found[region] = zero[region] & (gathered(xp, count, index, dim) == 1)
    return found


def _spread(xp: Any, index: Any, shape: tuple, dim: int) -> Any:
    if not shape:
        return index.reshape(())
    return xp.array(xp.broadcast_to(index.reshape([-1 if d == dim else 1 for d in range(len(shape))]), shape))


def _index_reduce(xp: Any, input: Any, index: Any, src: Any, dim: int, how: str, include_self: bool) -> Any:
    return _reduce(xp, input, _spread(xp, index, src.shape, dim), src, dim, how, include_self)


op("scatter_count", _count, inputs="g index", widen=False)
op("equal_mask", _equal, inputs="input out", widen=False)
op("equal_at", _equal_at, inputs="src index out", widen=False)
op("is_zero", lambda xp, input: xp.asarray(input == 0), widen=False)
op("single_zeros", _single_zeros, inputs="src index", widen=False)
op("spread_index", _spread, inputs="index", widen=False)


# ---- formulas ---------------------------------------------------------------------------------------------------
def _shared(F: Any, g: Any, input: Any, index: Any, src: Any, out: Any, dim: int) -> tuple:
    """amax, amin: the gradient's equal parts, and who gets one."""
    mine, theirs = F.equal_mask(input, out), F.equal_at(src, index, out, dim)
    return g / F.scatter_add(mine, index, theirs, dim), mine, theirs


def _to_input(F, g, input, index, src, out, dim, how, include_self):
    if how == "sum":
        back = g
    elif how == "mean":
        back = g / F.scatter_count(g, index, dim, include_self)
    elif how == "prod":
        safe = F.masked_fill(input, F.is_zero(input), 1)
        back = g * F.scatter_reduce(safe, index, src, dim, "prod", include_self) / safe
    else:
        part, mine, _ = _shared(F, g, input, index, src, out, dim)
        back = part * mine
    return back if include_self else F.scatter_value(back, index, dim, 0)


def _to_src(F, g, input, index, src, out, dim, how, include_self):
    shape = tuple(src.shape)
    if how == "sum":
        return F.gather_padded(g, index, dim, shape)
    if how == "mean":
        return F.gather_padded(g / F.scatter_count(g, index, dim, include_self), index, dim, shape)
    if how == "prod":
        single = F.single_zeros(src, index, dim, tuple(input.shape))
        without = F.scatter_reduce(input, index, F.masked_fill(src, single, 1), dim, "prod", include_self)
        alone = F.gather_padded(g * without, index, dim, shape)
        rest = F.gather_padded(g * out, index, dim, shape) / F.masked_fill(src, F.is_zero(src), 1)
        return F.masked_kept(alone, single) + F.masked_fill(rest, single, 0)
    part, _, theirs = _shared(F, g, input, index, src, out, dim)
    return F.gather_padded(part, index, dim, shape) * theirs


FORMULA = {
    "input": r"\bar x = \bar y\,\partial y/\partial x",
    "src": r"\bar s = (\bar y\,\partial y/\partial s)_i",
}
scatter_reduce_row = op(
    "scatter_reduce", _reduce, inputs="input index src", formula=FORMULA, input=_to_input, src=_to_src
)
_index_reduce_row = op(
    "index_reduce",
    _index_reduce,
    inputs="input index src",
    formula=FORMULA,
    input=lambda F, g, input, index, src, out, dim, how, include_self: _to_input(
        F, g, input, F.spread_index(index, tuple(src.shape), dim), src, out, dim, how, include_self
    ),
    src=lambda F, g, input, index, src, out, dim, how, include_self: _to_src(
        F, g, input, F.spread_index(index, tuple(src.shape), dim), src, out, dim, how, include_self
    ),
)


# ---- public -----------------------------------------------------------------------------------------------------
def _supported(dtype: Any, how: str, kernel: str) -> None:
    """What PyTorch's kernels refuse."""
    if (dtype.kind == "c" and how in ("amax", "amin")) or (dtype.kind == "b" and how == "mean"):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(dtype).scalar_name}'")


@public()
@checks.in_place
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None):
    """Reduce the elements that an index sends to the same place along a dim.

    Args:
        input: what is there before.
        dim: the dim that `index` counts along.
        index: positions; as many dims as `input`.
        src: the elements.
        reduce: "sum", "prod", "mean", "amax" or "amin".
        include_self: whether what is there before takes part.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> index = vistorch.tensor([0, 0, 1])
        >>> src = vistorch.tensor([1.0, 4.0, 2.0])
        >>> vistorch.scatter_reduce(vistorch.zeros(2), 0, index, src, "amax")
        tensor([4., 2.])
    """
    include_self = flag(include_self, "scatter_reduce", "include_self")
    if out is not None:
        checks.check_out("scatter_reduce", out, input, (index, src))
    dim, src = checks.scatter("scatter_reduce", input, dim, index, src)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        if not isinstance(reduce, str):
            raise errors.must_be_str("scatter_reduce", "reduce", 5, reduce)
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    checks.bounded("scatter_reduce", input, dim, index)
    _supported(input._data.dtype, reduce, f"scatter_gather_tensor_cpu_reduce_{reduce}")
    result = scatter_reduce_row(input, index, src, dim, reduce, include_self)
    return result if out is None else out_argument.deliver(out, result)


@public()
@checks.in_place
def index_reduce(input, dim, index, source, reduce, *, include_self=True, out=None):
    """Reduce the slices along a dim that an index sends to the same place.

    Args:
        input: what is there before.
        dim: the dim.
        index: a vector of positions.
        source: as many slices as positions.
        reduce: "prod", "mean", "amax" or "amin".
        include_self: whether what is there before takes part.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> index = vistorch.tensor([0, 0, 1])
        >>> source = vistorch.tensor([2.0, 4.0, 3.0])
        >>> vistorch.index_reduce(vistorch.ones(2), 0, index, source, "prod")
        tensor([8., 3.])
    """
    from .slices import slices

    include_self = flag(include_self, "index_reduce", "include_self")
    if out is not None:
        checks.check_out("index_reduce", out, input, (index, source))
    checks.tensors("index_reduce", ("input", 1, input), ("index", 3, index), ("source", 4, source))
    if reduce not in ("prod", "mean", "amax", "amin"):
        if not isinstance(reduce, str):
            raise errors.must_be_str("index_reduce", "reduce", 5, reduce)
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    dim = dims.one(dim, input._data.ndim, "index_reduce", position=2)
    slices("index_reduce", input, dim, index, source)
    size = input._data.shape[dim] if input._data.ndim else 1
    if checks.reach(index._data, size, input._place, 0, "index_reduce") is not None:
        raise IndexError("index out of range in self")
    kernel = {"mean": "div_floor_cpu", "amax": "maximum_cpu", "amin": "minimum_cpu"}.get(reduce, "")
    _supported(input._data.dtype, reduce, kernel)
    result = _index_reduce_row(input, index, source, dim, reduce, include_self)
    return result if out is None else out_argument.deliver(out, result)
