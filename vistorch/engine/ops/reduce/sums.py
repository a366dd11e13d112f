"""Sums, means and products, and those that leave nan out.

Invariant: sums over floats go through `kernels.totals`, so that no memory order makes them less accurate.
"""

from __future__ import annotations

from math import prod as _prod
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.casting import casting
from ...base.dims import flag
from ...core import out_argument
from ...core.base_ops import cast
from ...core.op_factory import FLOATS, op
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import floating
from ...kernels import totals
from ...kernels.strides import expand
from .frame import (
    MISSING,
    axes_of,
    axis_of,
    back,
    keeps_dim,
    label,
    missing,
    numpy_names,
    same_type,
    size_of,
    tensor,
)
from .full_reduction import whole

_SMALL = 4096
_add: Any = np.add.reduce


def _spread_all(xp, input, shape):
    n = _prod(shape)
    if n > _SMALL:
        return expand(xp, input, shape)
    # filled, not broadcast: cheaper when small, and a leaf can keep it as it is
    out = xp.empty(shape, input.dtype)
    out.fill(input)
    return out


_spread = op(
    "spread_all",
    _spread_all,
    widen=False,
    name_in_graph="ExpandBackward0",
    formula=r"\bar x = \sum \bar y",
    input=lambda F, g: F.sum_all(g),
)
sum_all = op(
    "sum_all",
    totals.everything,
    name_in_graph="SumBackward0",
    formula=r"\bar x_i = \bar y",
    input=lambda F, g, input_shape: F.spread_all(g, input_shape),
)


def _sum_dims(xp, input, dims, keepdim):
    if xp is np and input.size < 256 and input.dtype in FLOATS:  # as `total` does, after fewer questions
        return _add(input, dims, None, None, keepdim)
    return totals.total(xp, input, dims, keepdim)


sum_dims = op(
    "sum_dims",
    _sum_dims,
    name_in_graph="SumBackward1",
    formula=r"\bar x_i = \bar y",
    input=lambda F, g, dims, input_shape: F.expand(back(F, g, dims, input_shape), input_shape),
)
mean_all = op(
    "mean_all",
    lambda xp, input: totals.everything(xp, input) / input.dtype.type(input.size),
    name_in_graph="MeanBackward0",
    formula=r"\bar x_i = \bar y / n",
    input=lambda F, g, input_shape: F.spread_all(g / _prod(input_shape), input_shape),
)
mean_dims = op(
    "mean_dims",
    lambda xp, input, dims, keepdim: (
        totals.total(xp, input, dims, keepdim) / input.dtype.type(size_of(input.shape, dims))
    ),
    name_in_graph="MeanBackward1",
    formula=r"\bar x_i = \bar y / n",
    input=lambda F, g, dims, input_shape: F.expand(
        back(F, g / size_of(input_shape, dims), dims, input_shape), input_shape
    ),
)


def _nansum(xp, input, dims, keepdim):
    if input.dtype.kind == "f":
        if xp is np:  # a sum is nan where an addend is: mostly none is
            with np.errstate(invalid="ignore"):
                out = totals.total(np, input, dims, keepdim)
            if not np.isnan(out).any():
                return out
        input = xp.where(xp.isnan(input), input.dtype.type(0), input)
    return totals.total(xp, input, dims, keepdim)


not_nan = op("not_nan", lambda xp, input: (input == input).astype(input.dtype), widen=False)
nansum_dims = op(
    "nansum_dims",
    _nansum,
    name_in_graph="NansumBackward0",
    formula=r"\bar x_i = \bar y\,[x_i \ne \mathrm{nan}]",
    input=lambda F, g, dims, input: back(F, g, dims, input.shape) * F.not_nan(input),
)


# ---- products: exclusive products from both sides, so that zeros need no case of their own ---------------------
def _prefix(xp, input, axis, reverse):
    """The product of all that stands before each element along an axis (behind it, in reverse)."""
    if input.ndim == 0:
        return xp.ones_like(input)
    x = xp.flip(input, axis) if reverse else input
    out = xp.ones_like(x)
    if x.shape[axis] > 1:
        head = (slice(None),) * axis
        out[(*head, slice(1, None))] = xp.cumprod(x[(*head, slice(None, -1))], axis=axis, dtype=x.dtype)
    return xp.flip(out, axis) if reverse else out


def _prefix_vjp(F: Any, g: Any, input: Any, axis: int, reverse: bool) -> Any:
    chain = F.shift(F.linear_scan(input, g, axis, not reverse), axis, 1 if reverse else -1)
    return F.prefix_product(input, axis, reverse) * chain


prefix_product = op(
    "prefix_product",
    _prefix,
    formula=r"\bar x_j = \sum_i \bar y_i\, \partial y_i/\partial x_j",
    input=_prefix_vjp,
)


def _prod_all(xp, input):
    if xp is np:
        return np.multiply.reduce(input, None, None if input.dtype.kind in "fc" else np.int64)
    return input.prod() if input.dtype.kind in "fc" else input.prod(dtype=xp.int64)


def _prod_dim(xp, input, dim, keepdim):
    return totals.product(xp, input, dim, keepdim) if input.ndim else _prod_all(xp, input)


def _others(xp, input, axis):
    """The product of all other elements along an axis."""
    whole = xp.asarray(input.prod(axis, keepdims=True))
    if ((whole != 0) & xp.isfinite(whole)).all():
        return whole / input
    return _prefix(xp, input, axis, False) * _prefix(xp, input, axis, True)


def _others_vjp(F: Any, g: Any, input: Any, axis: int) -> Any:
    before, behind = F.prefix_product(input, axis, False), F.prefix_product(input, axis, True)
    return _prefix_vjp(F, g * behind, input, axis, False) + _prefix_vjp(F, g * before, input, axis, True)


op(
    "product_of_others",
    _others,
    formula=r"\bar x_j = \sum_{i \ne j} \bar y_i \prod_{k \ne i, j} x_k",
    input=_others_vjp,
)


# `out` is not read: PyTorch's formula divides by it, and refuses a backward pass after it was written
def _prod_all_vjp(F: Any, g: Any, input: Any, out: Any) -> Any:
    if input.ndim == 1:
        return g * F.product_of_others(input, 0)
    flat = F.as_shape(input, (_prod(input.shape),))
    return g * F.as_shape(F.product_of_others(flat, 0), input.shape)


prod_all = op(
    "prod_all",
    _prod_all,
    name_in_graph="ProdBackward0",
    formula=r"\bar x_i = \bar y \prod_{j \ne i} x_j",
    input=_prod_all_vjp,
)
prod_dim = op(
    "prod_dim",
    _prod_dim,
    name_in_graph="ProdBackward1",
    formula=r"\bar x_i = \bar y \prod_{j \ne i} x_j",
    input=lambda F, g, input, dim, out: (
        back(F, g, dim, input.shape) * F.product_of_others(input, dim) if input.ndim else g
    ),
)


# ---- the public functions ----------------------------------------------------------------------------------------
def typed(name: str, input: Tensor, dtype: Any, out: Any) -> Tensor:
    """The input in the type that the sum is wanted in: `dtype`, else that of `out`."""
    if dtype is None:
        if out is None:
            return input
        target = out._data.dtype
    else:
        target = dtypes.as_np(dtype, name)
        if out is not None:
            same_type(out, target)
    return input if input._data.dtype == target else cast(input, target)


def _as_asked(o: Tensor, dtype: Any, out: Any) -> Tensor:
    """Integers are summed in int64: bring the result to the narrower type that was asked for."""
    target = dtypes.as_np(dtype) if dtype is not None else None if out is None else out._data.dtype
    return o if target is None or o._data.dtype == target else cast(o, target)


@public()
@whole(sum_all, _add)
def sum(input, dim=MISSING, keepdim=False, *, dtype=None, out=None, **names):
    """The sum of all elements, or over dims.

    Args:
        input: a tensor; bools and integers are summed as int64.
        dim: a dim, several, or None for all.
        keepdim: keep the summed dims with size 1.
        dtype: convert to this type first.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).sum(0)
        tensor([4, 6])
    """
    if dim is MISSING and keepdim is False and dtype is None and out is None and not names:
        try:
            return sum_all(input)
        except AttributeError:
            tensor("sum", input)
            raise
    if names:
        dim, keepdim = numpy_names("sum", names, dim, keepdim)
    elif dim.__class__ is int and dtype is None and out is None and isinstance(input, Tensor):
        return sum_dims(input, axes_of(input, dim, "sum"), flag(keepdim, "sum", "keepdim"))
    tensor("sum", input)
    if keepdim is not False:
        keepdim = keeps_dim(keepdim, "sum", dim)
    if out is not None:
        out_argument.check_out("sum", out, (input,))
    x = typed("sum", input, dtype, out)
    o = sum_all(x) if dim is MISSING else sum_dims(x, axes_of(input, dim, "sum"), keepdim)
    o = _as_asked(o, dtype, out)
    return o if out is None else out_argument.deliver(out, o)


@public()
def nansum(input, dim=None, keepdim=False, *, dtype=None, out=None, **names):
    """The sum, nan counted as zero.

    Args:
        input: a real tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the summed dims with size 1.
        dtype: convert to this type first.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, float("nan"), 2.0]).nansum()
        tensor(3.)
    """
    if names:
        dim, keepdim = numpy_names("nansum", names, dim, keepdim)
    a = tensor("nansum", input)
    if keepdim is not False and keepdim is not True:
        keepdim = flag(keepdim, "nansum", "keepdim")
    dims = axes_of(input, dim, "nansum")
    if a.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if out is not None:
        out_argument.check_out("nansum", out, (input,))
        wanted = a.dtype if dtype is None else dtypes.as_np(dtype, "nansum")
        # integers have no nan: PyTorch calls `sum` then
        if dtype is not None and floating(a.dtype) and floating(wanted) and wanted != out._data.dtype:
            raise RuntimeError(
                f"nansum: provided dtype must match dtype of result. Got {label(out._data.dtype)} and "
                f"{label(wanted)}."
            )
        kind = out._data.dtype
        if floating(a.dtype) and floating(wanted) and (kind.kind == "c" or not floating(kind)):
            raise missing("nansum_cpu", kind)
    o = nansum_dims(typed("nansum", input, dtype, out), dims, keepdim)
    o = _as_asked(o, dtype, out)
    return o if out is None else out_argument.deliver(out, o)


def _no_mean(which: str, dtype: Any, name: str = "mean") -> RuntimeError:
    return RuntimeError(
        f"{name}(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
        f"Got: {label(dtype)}"
    )


@public()
def mean(input, dim=MISSING, keepdim=False, *, dtype=None, out=None, **names):
    """The mean of all elements, or over dims.

    Args:
        input: a floating point or complex tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        dtype: convert to this type first.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 2.0, 6.0]).mean()
        tensor(3.)
    """
    if dim is MISSING and keepdim is False and dtype is None and out is None and not names:
        try:
            if input._data.dtype in FLOATS:
                return mean_all(input)
        except AttributeError:
            tensor("mean", input)
            raise
    if names:
        dim, keepdim = numpy_names("mean", names, dim, keepdim)
    a = tensor("mean", input)
    if keepdim is not False:
        keepdim = keeps_dim(keepdim, "mean", dim)
    if dtype is not None and not floating(dtypes.as_np(dtype, "mean")):
        raise _no_mean("Optional", dtypes.as_np(dtype))
    if dtype is None and not floating(a.dtype):
        raise _no_mean("Input", a.dtype)
    if out is not None:
        out_argument.check_out("mean", out, (input,))
        kind = out._data.dtype
        if dim is MISSING and not dtypes.can_cast(dtypes.of(a.dtype), dtypes.of(kind)):
            raise RuntimeError(
                f"mean.dtype_out(): input types can't be cast to the desired output type {label(kind)}"
            )
    x = typed("mean", input, dtype, out)
    out_argument.check_cast(np.dtype("f4"), x._data.dtype)
    o = mean_all(x) if dim is MISSING else mean_dims(x, axes_of(input, dim, "mean"), keepdim)
    return o if out is None else out_argument.deliver(out, o)


@public()
def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None, **names):
    """The mean of the elements that are not nan.

    Args:
        input: a floating point tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        dtype: convert to this type first.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, float("nan"), 2.0]).nanmean()
        tensor(1.5000)
    """
    if names:
        dim, keepdim = numpy_names("nanmean", names, dim, keepdim)
    a = tensor("nanmean", input)
    if keepdim is not False and keepdim is not True:
        keepdim = flag(keepdim, "nanmean", "keepdim")
    if not floating(a.dtype):
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {label(a.dtype)}"
        )
    if dtype is not None and not floating(dtypes.as_np(dtype, "nanmean")):
        raise _no_mean("Optional", dtypes.as_np(dtype), "nanmean")
    total = nansum(input, dim, keepdim, dtype=dtype, out=out)
    count = sum_dims(not_nan(cast(input.detach(), total._data.dtype)), axes_of(input, dim), keepdim)
    o = total / count
    return o if out is None else out_argument.deliver(out, o)


@public()
def prod(input, dim=MISSING, keepdim=False, *, dtype=None, out=None, **names):
    """The product of all elements, or over one dim.

    Args:
        input: a tensor; bools and integers are multiplied as int64.
        dim: a dim.
        keepdim: keep the dim with size 1.
        dtype: convert to this type first.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).prod(1)
        tensor([ 2, 12])
    """
    if casting.on and (recast := casting.ask(prod, locals())):
        return recast[0]
    if names:
        dim, keepdim = numpy_names("prod", names, dim, keepdim)
    tensor("prod", input)
    if keepdim is not False:
        keepdim = keeps_dim(keepdim, "prod", dim)
    if out is not None:
        out_argument.check_out("prod", out, (input,))
    x = typed("prod", input, dtype, out)
    o = prod_all(x) if dim is MISSING else prod_dim(x, axis_of(input, dim, "prod"), keepdim)
    o = _as_asked(o, dtype, out)
    return o if out is None else out_argument.deliver(out, o)
