"""Where a mask says so: masked_fill, masked_select, masked_scatter.

Invariant: a mask is broadcast with the tensor it masks, and is of dtype bool.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...base import dtypes, errors, type_names
from ...base.modes import mode
from ...core import out_argument
from ...core.base_ops import to_dtype, to_place
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.sharing import in_samples
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import FLOATS
from ...core.type_promotion import number as plain_number
from ...kernels import masks
from ...library_name import library
from ..create.arguments import type_name
from ..create.numbers import fit
from . import checks

BOOL = np.dtype(bool)
_REAL = frozenset((float, int))
_INFINITE = (math.inf, -math.inf)


def _full(xp: Any, a: Any, mask: Any) -> Any:
    shape = a.shape if a.shape == mask.shape else np.broadcast_shapes(a.shape, mask.shape)
    out = xp.empty(shape, a.dtype)
    out[...] = a
    return out


def _masked_fill(xp: Any, input: Any, mask: Any, value: Any) -> Any:
    if input.shape == mask.shape and input.dtype in FLOATS:
        return masks.chosen(xp, mask, xp.asarray(value, input.dtype), input)
    out = _full(xp, input, mask)
    if xp is np:
        np.copyto(out, value, where=mask)
    else:
        out[xp.broadcast_to(mask, out.shape)] = value
    return out


def _masked_fill_by(xp: Any, input: Any, mask: Any, value: Any) -> Any:
    return _masked_fill(xp, input, mask, value)


def _kept(xp: Any, g: Any, mask: Any) -> Any:
    return xp.where(mask, g, g.dtype.type(0))


def _spread(xp: Any, a: Any, shape: tuple) -> Any:
    return a if a.shape == shape else xp.broadcast_to(a, shape)


def _masked_select(xp: Any, input: Any, mask: Any) -> Any:
    shape = np.broadcast_shapes(input.shape, mask.shape)
    return _spread(xp, input, shape)[_spread(xp, mask, shape)].reshape(-1)


def _masked_placed(xp: Any, g: Any, mask: Any, shape: tuple) -> Any:
    shape = np.broadcast_shapes(shape, mask.shape)
    out = xp.zeros(shape, g.dtype)
    out[_spread(xp, mask, shape)] = g
    return out


def _masked_scatter(xp: Any, input: Any, mask: Any, source: Any) -> Any:
    out = _full(xp, input, mask)
    mask = _spread(xp, mask, out.shape)
    out[mask] = source.reshape(-1)[: int(mask.sum())]
    return out


def _masked_taken(xp: Any, g: Any, mask: Any, shape: tuple) -> Any:
    found = g[_spread(xp, mask, g.shape)].reshape(-1)
    size = 1
    for n in shape:
        size *= n
    out = xp.zeros(size, g.dtype)
    out[: found.size] = found
    return out.reshape(shape)


def _masked_returned(xp: Any, g: Any, mask: Any, shape: tuple) -> Any:
    out = xp.zeros(shape, g.dtype)
    mask = _spread(xp, mask, shape)
    out[mask] = g.reshape(-1)[: int(mask.sum())]
    return out


_fill_row = op(
    "masked_fill",
    _masked_fill,
    inputs="input mask",
    widen=False,
    formula=r"\bar x = \bar y,\ 0\text{ where masked}",
    input=lambda F, g, mask: F.masked_fill(g, mask, 0),
)


_fill_by_row = op(
    "masked_fill_by",
    _masked_fill_by,
    inputs="input mask value",
    widen=False,
    name_in_graph="MaskedFillBackward1",
    formula={
        "input": r"\bar x = \bar y,\ 0\text{ where masked}",
        "value": r"\bar v = \textstyle\sum_m \bar y",
    },
    input=lambda F, g, mask: F.masked_fill(g, mask, 0),
    value=lambda F, g, mask: F.sum_to(F.masked_kept(g, mask), ()),
)


op(
    "masked_kept",
    _kept,
    inputs="g mask",
    widen=False,
    name_in_graph="WhereBackward0",
    formula=r"\bar x = \bar y,\ 0\text{ where not masked}",
    g=lambda F, g, mask: F.masked_kept(g, mask),
)


_select_row = op(
    "masked_select",
    _masked_select,
    inputs="input mask",
    widen=False,
    formula=r"\bar x_m = \bar y,\ 0\text{ elsewhere}",
    input=lambda F, g, mask, input_shape: F.masked_placed(g, mask, input_shape),
)


op(
    "masked_placed",
    _masked_placed,
    inputs="g mask",
    widen=False,
    name_in_graph="MaskedScatterBackward0",
    formula=r"\bar x = \bar y_m",
    g=lambda F, g, mask: F.masked_select(g, mask),
)


_scatter_row = op(
    "masked_scatter",
    _masked_scatter,
    inputs="input mask source",
    widen=False,
    formula={"input": r"\bar x = \bar y,\ 0\text{ where masked}", "source": r"\bar s = \bar y_m"},
    input=lambda F, g, mask: F.masked_fill(g, mask, 0),
    source=lambda F, g, mask, source_shape: F.masked_taken(g, mask, source_shape),
)


op(
    "masked_taken",
    _masked_taken,
    inputs="g mask",
    widen=False,
    name_in_graph="MaskedScatterBackwardBackward0",
    formula=r"\bar x_m = \bar y",
    g=lambda F, g, mask, g_shape: F.masked_returned(g, mask, g_shape),
)


op(
    "masked_returned",
    _masked_returned,
    inputs="g mask",
    widen=False,
    name_in_graph="MaskedScatterBackward0",
    formula=r"\bar s = \bar y_m",
    g=lambda F, g, mask, g_shape: F.masked_taken(g, mask, g_shape),
)


def _fits(a: tuple, b: tuple) -> None:
    said = errors.broadcast(a, b)
    if said is not None:
        raise RuntimeError(said)


def _fill(input: Any, mask: Any, value: Any, inplace: bool) -> Tensor:
    checks.tensors("masked_fill", ("input", 1, input), ("mask", 2, mask))
    if not inplace:
        input, mask, value = in_samples("masked_fill", input, mask, value)
    checks.same_place("masked_fill", input, mask)
    dt = input._data.dtype
    if isinstance(value, Tensor):
        v = value._data
        if v.ndim:
            raise RuntimeError(
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{v.ndim} dimension(s)."
            )
        if value._place is not input._place:
            value = to_place(value, input._place)
        if value._place.kind != errors.BATCHED and not (mode.on and sync_rg(value)):
            fitted = fit(v.item(), dt) if v.dtype != dt else v
            value = wrap(input._place.xp.asarray(fitted, dt), input._place)
        elif v.dtype != dt:
            value = to_dtype(value, dt)
    else:
        n = plain_number(value)
        if n is None:
            raise TypeError(
                f"masked_fill() received an invalid combination of arguments - got (Tensor, Tensor, "
                f"{type_name(value)}), "
                "but expected one of:\n * (Tensor input, Tensor mask, Tensor value)\n * (Tensor input, Tensor "
                "mask, Number "
                "value)\n"
            )
        if isinstance(n, int) and not -(2**63) <= n < 2**63:
            raise OverflowError("int too big to convert")
        value = n
    if inplace:
        _masks(mask)
        _fits(input._data.shape, mask._data.shape)
        shape = np.broadcast_shapes(input._data.shape, mask._data.shape)
        if shape != input._data.shape:
            raise RuntimeError(
                f"output with shape {errors.sizes(input._data.shape)} doesn't match the broadcast shape "
                f"{errors.sizes(shape)}"
            )
    else:
        _fits(mask._data.shape, input._data.shape)
        _masks(mask)
    if isinstance(value, Tensor):
        return _fill_by_row(input, mask, value)
    return _fill_row(input, mask, fit(value, dt))


def _masks(mask: Tensor) -> None:
    if mask._data.dtype != BOOL:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {checks.cpp_name(mask)}"
        )


@public()
def masked_fill(input, mask, value):
    """A copy with one value wherever the mask is True.

    Args:
        input: what is kept where the mask is False.
        mask: a bool tensor that broadcasts with `input`.
        value: a number, or a tensor of no dimensions.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0, 3.0])
        >>> vistorch.masked_fill(x, x > 1.5, 0)
        tensor([1., 0., 0.])
    """
    if value.__class__ in _REAL and input.__class__ is Tensor and mask.__class__ is Tensor:
        a, m = input._data, mask._data
        plain = a.dtype in FLOATS and m.dtype is BOOL and a.shape == m.shape and input._place is mask._place
        if plain and (-1e18 < value < 1e18 or value in _INFINITE):
            return _fill_row(input, mask, value)
    return _fill(input, mask, value, False)


def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`masked_fill` in place."""
    return checks.written(_filled_in_place, input, (mask, value))


def _filled_in_place(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    return _fill(input, mask, value, True)


_filled_in_place.__name__ = "masked_fill"


@public()
def masked_select(input, mask, *, out=None):
    """The elements where the mask is True, in a vector.

    Args:
        input: the tensor to read.
        mask: a bool tensor that broadcasts with `input`.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1, 2, 3])
        >>> vistorch.masked_select(x, x > 1)
        tensor([2, 3])
    """
    checks.tensors("masked_select", ("input", 1, input), ("mask", 2, mask))
    if out is not None:
        checks.check_out(
            "masked_select",
            out,
            input,
            (input, mask),
            "masked_select(): self and result must have the same scalar type",
        )
    checks.same_place("masked_select", input, mask)
    if mask._data.dtype != BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    _fits(mask._data.shape, input._data.shape)
    result = _select_row(input, mask)
    return result if out is None else out_argument.deliver(out, result)


def _scatter(input: Any, mask: Any, source: Any, inplace: bool) -> Tensor:
    checks.tensors("masked_scatter", ("input", 1, input), ("mask", 2, mask), ("source", 3, source))
    checks.same_place("masked_scatter", input, mask, source)
    shape, given = input._data.shape, mask._data.shape
    if inplace:
        _same_dtype(input, source)
        if len(given) > len(shape):
            kind = type_names.type_name(dtypes.of(mask._data.dtype)).replace(
                f"{library}.BoolTensor", "CPUBoolType"
            )
            raise RuntimeError(
                f"expand({kind}"
                f"{{{errors.sizes(given)}}}, size={errors.sizes(shape)}): the number of sizes provided "
                f"({len(shape)}) must be "
                f"greater or equal to the number of dimensions in the tensor ({len(given)})"
            )
        lead = len(shape) - len(given)
        for d in range(len(given) - 1, -1, -1):
            if given[d] not in (1, shape[lead + d]):
                raise RuntimeError(
                    f"The expanded size of the tensor ({shape[lead + d]}) must match the existing size ({given[d]}) at "
                    f"non-singleton dimension {lead + d}.  Target sizes: {errors.sizes(shape)}.  Tensor sizes: "
                    f"{errors.sizes(given)}"
                )
    else:
        _fits(given, shape)
        _same_dtype(input, source)
    if mask._data.dtype == np.uint8:
        warnings.warn(
            f"masked_scatter_ received a mask with dtype {library}.uint8, this behavior is now "
            "deprecated,please use a mask "
            f"with dtype {library}.bool instead.",
            UserWarning,
            stacklevel=3,
        )
    if mask._data.dtype != BOOL:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {checks.scalar_name(mask)}"
        )
    full = math.prod(np.broadcast_shapes(shape, given))
    times = full // mask._data.size if mask._data.size else 0
    if source._data.size < int(mask._data.sum()) * times:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return _scatter_row(input, mask, source)


def _same_dtype(input: Tensor, source: Tensor) -> None:
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{checks.scalar_name(input)} and {checks.scalar_name(source)}"
        )


@public()
def masked_scatter(input, mask, source):
    """A copy with the elements of a source, one after the other, where the mask is True.

    Args:
        input: what is kept where the mask is False.
        mask: a bool tensor that broadcasts with `input`.
        source: at least as many elements as there are True.

    Example:
        >>> import vistorch
        >>> mask = vistorch.tensor([True, False, True])
        >>> vistorch.masked_scatter(vistorch.zeros(3), mask, vistorch.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """
    return _scatter(input, mask, source, False)


def _scattered_in_place(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    return _scatter(input, mask, source, True)


_scattered_in_place.__name__ = "masked_scatter"


checks.in_place(_scattered_in_place)


METHODS["masked_fill_"] = masked_fill_
