"""Writing along one dimension: scatter, scatter_add.

Invariant: where an index names a place several times, the last element written stays, and additions happen in order.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...base import dims, errors
from ...base.casting import casting
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import number as plain_number
from ...library_name import named
from ..create.arguments import type_name
from ..create.numbers import fit
from . import checks
from .add_at import add_at, flat_places
from .gather import cropped
from .reduce import scatter_reduce_row


def _gather_backward(xp: Any, g: Any, index: Any, dim: int, shape: tuple) -> Any:
    return _added(xp, xp.zeros(shape, g.dtype), index, g, dim)


def _added(xp: Any, out: Any, index: Any, src: Any, dim: int) -> Any:
    """`out` (contiguous, our own) with `src` added at `index` along `dim`."""
    if index.size:
        flat = out.reshape(-1)
        values = cropped(src, index.shape).reshape(-1)
        add_at(xp, flat, flat_places(xp, index, dim, out.shape), values)
    return out


def _scatter_add(xp: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    return _added(xp, xp.array(input, order="C"), index, src, dim)


def _scatter(xp: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    out = xp.array(input, order="C")
    if index.size:
        out.reshape(-1)[flat_places(xp, index, dim, out.shape)] = cropped(src, index.shape).reshape(-1)
    return out


def _scatter_value(xp: Any, input: Any, index: Any, dim: int, value: Any) -> Any:
    out = xp.array(input, order="C")
    if index.size:
        out.reshape(-1)[flat_places(xp, index, dim, out.shape)] = value
    return out


op(
    "gather_backward",
    _gather_backward,
    inputs="g index",
    name_in_graph="ScatterAddBackward0",
    formula=r"\bar x = \bar y_i",
    g=lambda F, g, index, dim: F.gather(g, index, dim),
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


@public()
@checks.in_place
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
        checks.check_out("scatter", out, input, (index, src))
    if isinstance(src, Tensor):
        if reduce is not None:
            warnings.warn(named(REDUCE), UserWarning, stacklevel=3)
            result = _scatter_reduced(input, dim, index, src, reduce)
        else:
            dim, src = checks.scatter("scatter", input, dim, index, src)
            checks.bounded("scatter", input, dim, index)
            result = _scatter_row(input, index, src, dim)
    else:
        result = _scatter_number(input, dim, index, src, reduce)
    return result if out is None else out_argument.deliver(out, result)


def _scatter_number(input: Any, dim: Any, index: Any, value: Any, reduce: Any) -> Tensor:
    n = plain_number(value)
    checks.tensors("scatter", ("input", 1, input), ("index", 3, index))
    if n is None:
        raise TypeError(
            f"scatter() received an invalid combination of arguments - got (Tensor, int, Tensor, "
            f"{type_name(value)}), but "
            "expected one of:\n * (Tensor input, int dim, Tensor index, Tensor src)\n * (Tensor input, int "
            "dim, Tensor index, "
            "Number value)\n"
        )
    dim = dims.one(dim, input._data.ndim, "scatter", position=2)
    checks.same_place("scatter", input, index)
    checks.scatter_index("scatter", input, dim, index, None, "self")
    fitted = fit(n, input._data.dtype)
    if reduce is not None:
        xp = input._place.xp
        src = wrap(xp.full(index._data.shape, fitted, input._data.dtype), input._place)
        return _scatter_reduced(input, dim, index, src, reduce)
    checks.bounded("scatter", input, dim, index)
    return _scatter_value_row(input, index, dim, fitted)


def _scatter_reduced(input: Any, dim: Any, index: Any, src: Any, reduce: str) -> Tensor:
    """The older way to write scatter_reduce, which PyTorch gives no gradient."""
    dim, src = checks.scatter("scatter", input, dim, index, src)
    if reduce not in ("add", "multiply"):
        if not isinstance(reduce, str):
            raise errors.must_be_str("scatter", "reduce", 0, reduce)
        raise RuntimeError("reduce argument must be either add or multiply.")
    checks.bounded("scatter", input, dim, index)
    return scatter_reduce_row(input, index, src, dim, "sum" if reduce == "add" else "prod", True)


REDUCE = (
    "The reduce argument of vistorch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
    "release. Use vistorch.scatter_reduce instead for more reduction options."
)


@public()
@checks.in_place
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
    if casting.on and (recast := casting.ask(scatter_add, locals())):
        return recast[0]
    if out is not None:
        checks.check_out("scatter_add", out, input, (index, src))
    dim, src = checks.scatter("scatter_add", input, dim, index, src)
    checks.bounded("scatter_add", input, dim, index)
    result = _scatter_add_row(input, index, src, dim)
    return result if out is None else out_argument.deliver(out, result)
