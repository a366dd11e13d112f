"""Quantiles: sort, then lerp between the two neighbours of a rank.

Invariant: places in the sorted rows are constants of the graph; values and q are differentiable.
"""

from __future__ import annotations

from typing import Any

from ...base.casting import casting
from ...base.dims import flag
from ...base.modes import mode
from ...core import out_argument
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import number
from ...kernels import search
from .frame import axis_of, copied_into, tensor
from .order import sort_dim


def _rows(xp, input, dim):
    """Rows along the last axis; all values in one row where dim is None."""
    if dim is None or input.ndim == 0:
        return input.reshape(-1)
    return xp.ascontiguousarray(xp.moveaxis(input, dim, -1))


def _unrows(xp, input, dim, shape):
    if dim is None or not shape:
        return input.reshape(shape)
    return xp.moveaxis(input, -1, dim)


op("from_rows", _unrows, widen=False, input=lambda F, g, dim: F.to_rows(g, dim))
to_rows = op(
    "to_rows", _rows, widen=False, input=lambda F, g, dim, input_shape: F.from_rows(g, dim, input_shape)
)


def _take(xp, placed, below, above, weight):
    out = xp.take_along_axis(placed, below, axis=-1)
    if above is None:
        return out
    end = xp.take_along_axis(placed, above, axis=-1)
    gap = end - out
    # from the nearer end, so that both ends are exact
    return xp.where(weight < 0.5, out + weight * gap, end - gap * (1 - weight))


def _put(xp, g, below, above, weight, shape):
    out = xp.zeros(shape, g.dtype)
    where = list(xp.ogrid[tuple([slice(n) for n in g.shape])])
    where[-1] = below
    xp.add.at(out, tuple(where), g if above is None else g * (1 - weight))
    if above is not None:
        where[-1] = above
        xp.add.at(out, tuple(where), g * weight)
    return out


_LERP = r"\bar x_{\lfloor r \rfloor} = \bar y (1 - w),\quad \bar x_{\lceil r \rceil} = \bar y w"
op(
    "quantile_put",
    _put,
    inputs="g",
    formula=_LERP,
    g=lambda F, g, below, above, weight: F.quantile_take(g, below, above, weight),
)
op(
    "quantile_take",
    _take,
    inputs="placed",
    formula=_LERP,
    placed=lambda F, g, below, above, weight, placed_shape: F.quantile_put(
        g, below, above, weight, placed_shape
    ),
)


def _q_vjp(F: Any, g: Any, placed: Any, below: Any, above: Any, span: Any) -> Any:
    if span is None:
        return None
    gap = F.quantile_take(placed, above, None, None) - F.quantile_take(placed, below, None, None)
    return F.times_array(g * gap, span)


op(
    "times_array",
    lambda xp, input, factor: input * factor,
    input=lambda F, g, factor: F.times_array(g, factor),
)
quantile_at = op(
    "quantile_at",
    lambda xp, placed, q, below, above, weight, span: _take(xp, placed, below, above, weight),
    inputs="placed q",
    formula={
        "placed": _LERP,
        "q": r"\bar q = (n - 1) \sum \bar y (x_{\lceil r \rceil} - x_{\lfloor r \rfloor})",
    },
    placed=lambda F, g, below, above, weight, placed_shape: F.quantile_put(
        g, below, above, weight, placed_shape
    ),
    q=_q_vjp,
)


def _arranged(xp, input, shape):
    return xp.moveaxis(input, -1, 0).reshape(shape)


def _unarranged(xp, input, shape):
    return xp.moveaxis(input.reshape((shape[-1], *shape[:-1])), 0, -1)


arranged = op(
    "quantile_shape",
    _arranged,
    name_in_graph="SqueezeBackward4",
    input=lambda F, g, input_shape: F.quantile_unshape(g, input_shape),
)
op("quantile_unshape", _unarranged, input=lambda F, g, input_shape: _inverse(F, g, input_shape))


def _inverse(F: Any, g: Any, shape: tuple) -> Any:
    return F.quantile_shape(g, shape)


def _quantile(name: str, input: Any, q: Any, dim: Any, keepdim: Any, interpolation: str, out: Any) -> Tensor:
    a = tensor(name, input)
    keepdim = flag(keepdim, name, "keepdim")
    place = input._place
    xp = place.xp
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    if out is not None and not isinstance(out, Tensor):
        out_argument.check_out(name, out)
    if not isinstance(q, Tensor):
        if number(q) is None:
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got (Tensor, {type(q).__name__})"
            )
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = wrap(xp.asarray(q, a.dtype if a.dtype.kind == "f" else "f4"), place)
    if a.size and q._data.ndim < 2 and a.dtype.char not in "fd":
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    search.check_quantile(xp, a, q._data, interpolation)
    if out is not None:
        if out._data.dtype != a.dtype:
            raise RuntimeError("quantile() out tensor must be same dtype as the input tensor")
    axis = None if dim is None else axis_of(input, dim, name)
    rows = to_rows(input, axis)
    placed = sort_dim(rows, rows._data.ndim - 1, False)[0]
    ignore = name == "nanquantile"
    below, above, weight = search.quantile_places(xp, placed._data, q._data, interpolation, ignore)
    span = None
    if interpolation == "linear":
        span = a.dtype.type(placed._data.shape[-1] - 1)
        if ignore:
            span = (placed._data == placed._data).sum(-1, keepdims=True).astype(a.dtype) - 1
    flat = q if q._data.ndim else q.reshape(1)  # type: ignore[attr-defined]
    if span is not None and mode.on and sync_rg(flat):
        o = _between(placed, flat, (below, above), weight, span)
    else:
        o = quantile_at(placed, flat, below, above, weight, span)
    o = arranged(o, _shape(a.shape, q._data.shape, axis, keepdim))
    return o if out is None else copied_into(out, o)


def _between(placed: Tensor, q: Tensor, places: tuple, weight: Any, span: Any) -> Tensor:
    """The values between two places with a weight that is a function of q, in its graph."""
    at = placed._place
    low, high = (FUNCTIONS["gather"](placed, -1, wrap(p, at)) for p in places)
    rank = FUNCTIONS["mul"](q, wrap(at.xp.asarray(span), at))
    share = rank - wrap(rank._data - weight, at)
    return FUNCTIONS["lerp"](low, high, share)


def _shape(shape: tuple, q_shape: tuple, axis: int | None, keepdim: bool) -> tuple:
    if keepdim:
        return q_shape + tuple([1 if axis is None or i == axis else n for i, n in enumerate(shape)])
    return q_shape if axis is None else q_shape + shape[:axis] + shape[axis + 1 :]


@public()
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The q-th quantiles of all elements, or along a dim; nan where there is one.

    Args:
        input: a float32 or float64 tensor.
        q: a number or a 1-D tensor, in [0, 1].
        dim: a dim, or None for all.
        keepdim: keep the dim with size 1.
        interpolation: linear, lower, higher, midpoint or nearest.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 2.0, 4.0]).quantile(0.75)
        tensor(3.)
    """
    if casting.on and (recast := casting.ask(quantile, locals())):
        return recast[0]
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out)


@public()
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The q-th quantiles of the elements that are not nan.

    Args:
        input: a float32 or float64 tensor.
        q: a number or a 1-D tensor, in [0, 1].
        dim: a dim, or None for all.
        keepdim: keep the dim with size 1.
        interpolation: linear, lower, higher, midpoint or nearest.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, float("nan"), 2.0]).nanquantile(0.5)
        tensor(1.5000)
    """
    if casting.on and (recast := casting.ask(nanquantile, locals())):
        return recast[0]
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out)
