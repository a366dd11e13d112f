"""softmax and log_softmax, each one fused row, and so its gradient.

Invariant: results are contiguous. Rows of moderate numbers need no maximum: their exponentials neither overflow nor
vanish, and their sums say so.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.casting import casting
from ...base.dims import one
from ...core import out_argument
from ...core.base_ops import cast
from ...core.op_factory import op
from ...core.registry import public
from ...core.sparse_gradient import Placed
from ...core.tensor import Tensor
from ...core.type_promotion import FLOATS
from ...kernels.fast.elementwise import powers_times
from ..elementwise.dtype_checks import C_NAMES, missing

# between these sums no exponential was rounded to 0 that softmax would show, and none overflowed
LEAST, MOST = 1e-6, 1e30
SHORT, LONG = 1 << 9, 1 << 16
_add: Any = np.add.reduce
_largest: Any = np.maximum.reduce
_smallest: Any = np.minimum.reduce


@lru_cache(maxsize=32)
def _ones(n: int, dt: np.dtype) -> np.ndarray:
    return np.ones((n, 1), dt)


def _sums(xp, x, dim):
    """The sums along a dim, which stays; of rows by a product with ones, twice as fast as numpy's sum."""
    if xp is not np:
        return x.sum(dim, keepdims=True)
    if x.ndim == 2 and dim == 1 and x.size > SHORT:
        return x @ _ones(x.shape[1], x.dtype)
    return _add(x, dim, None, None, True)


def _maxima(xp, x, dim):
    """The maxima along a dim, which stays."""
    return _largest(x, dim, None, None, True) if xp is np else x.max(dim, keepdims=True)


def _rowwise(xp, run, arrays, dim):
    """`run(xp, *arrays, dim, out)` of kernels that treat each row along a dim alone, as a contiguous array.

    Long arrays go some rows at a time, so that what is computed on the way stays in the cache.
    """
    first = arrays[0]
    if not first.size:
        return xp.zeros(first.shape, first.dtype)
    if not first.ndim:
        return run(xp, *[a.reshape(1, 1) for a in arrays], 1, None).reshape(())
    n = first.shape[dim]
    if (
        xp is np
        and first.size > LONG > n
        and dim == first.ndim - 1
        and all(a.flags.c_contiguous for a in arrays)
    ):
        rows, step = [a.reshape(-1, n) for a in arrays], LONG // n
        out = np.empty(rows[0].shape, first.dtype)
        for start in range(0, len(out), step):
            run(np, *[a[start : start + step] for a in rows], 1, out[start : start + step])
        return out.reshape(first.shape)
    out = run(xp, *arrays, dim, None)
    return out if out.flags.c_contiguous else xp.ascontiguousarray(out)


def _softmax_rows(xp, input, dim, out):
    if xp is np and input.size > SHORT:
        out = np.exp(input, out=out)
        sums = _sums(np, out, dim)
        if _smallest(sums, None) > LEAST and _largest(sums, None) < MOST:
            out /= sums
            return out
    out = xp.subtract(input, _maxima(xp, input, dim), out=out)
    xp.exp(out, out=out)
    out /= _sums(xp, out, dim)
    return out


def _log_softmax_rows(xp, input, dim, out):
    out = xp.subtract(input, _maxima(xp, input, dim), out=out)
    out -= xp.log(_sums(xp, xp.exp(out), dim))
    return out


def _softmax_slope(xp, grad, output, dim, out):
    out = xp.multiply(grad, output, out=out)
    sums = _sums(xp, out, dim)
    xp.subtract(grad, sums, out=out)
    out *= output
    return out


def _log_softmax_slope(xp, grad, output, dim, out):
    out = xp.exp(output, out=out)
    out *= _sums(xp, grad, dim)
    return xp.subtract(grad, out, out=out)


def _log_softmax_back(xp, grad, output, dim):
    if grad.__class__ is Placed and grad.at is not None and dim == 1 and output.flags.c_contiguous:
        # one number per row: nothing else of `grad` need be read
        values = grad.values
        factor = np.ascontiguousarray(-values.reshape(-1, 1)) if values.ndim else np.asarray(-values)
        out = powers_times(output, factor)
        if out is None:
            out = np.exp(output)
            out *= factor
        if grad.at.size:
            out.reshape(-1)[grad.at] += values
        return out
    return _rowwise(xp, _log_softmax_slope, (grad, output), dim)


_softmax = op(
    "softmax",
    lambda xp, input, dim: _rowwise(xp, _softmax_rows, (input,), dim),
    formula=r"\bar x = y\,(\bar y - \textstyle\sum \bar y\, y)",
    input=lambda F, g, out, dim: F.softmax_backward_data(g, out, dim),
)
_log_softmax = op(
    "log_softmax",
    lambda xp, input, dim: _rowwise(xp, _log_softmax_rows, (input,), dim),
    formula=r"\bar x = \bar y - e^y \textstyle\sum \bar y",
    input=lambda F, g, out, dim: F.log_softmax_backward_data(g, out, dim),
)
op(
    "softmax_backward_data",
    lambda xp, grad, output, dim: _rowwise(xp, _softmax_slope, (grad, output), dim),
    inputs="grad output",
    formula={
        "grad": r"\bar g = y\,(\bar x - \textstyle\sum \bar x\, y)",
        "output": r"\bar y = \bar x\,(g - \textstyle\sum g\, y) - g \textstyle\sum \bar x\, y",
    },
    grad=lambda F, g, output, dim: F.softmax_backward_data(g, output, dim),
    output=lambda F, g, grad, output, dim: (
        g * (grad - _along(F, grad * output, dim)) - grad * _along(F, g * output, dim)
    ),
)
op(
    "log_softmax_backward_data",
    _log_softmax_back,
    inputs="grad output",
    formula={
        "grad": r"\bar g = \bar x - \textstyle\sum \bar x\, e^y",
        "output": r"\bar y = -\bar x\, e^y \textstyle\sum g",
    },
    grad=lambda F, g, output, dim: g - _along(F, g * F.exp(output), dim),
    output=lambda F, g, grad, output, dim: -g * F.exp(output) * _along(F, grad, dim),
)


def _along(F: Any, x: Any, dim: int) -> Any:
    """The sums along a dim, which stays; of a 0-d value, the value."""
    return F.sum_dims(x, (dim,), True) if x.ndim else x


# ---- what is public -----------------------------------------------------------------------------------------------
def _refusals(name: str) -> tuple:
    """What it refuses along the last dim, and along another."""
    return missing(f"{name}_lastdim_kernel_impl", "ibc"), missing(f"{name}_kernel_impl", "ibc")


def _public(name: str, row: Any, refusals: tuple) -> Any:
    last, other = refusals

    def of(input: Any, dim: Any, dtype: Any, position: int) -> Tensor:
        """The function; `position`: where `dim` stands in the call, for sentences."""
        try:
            a = input._data
        except AttributeError:
            raise errors.must_be_tensor(name, "input", 1, input) from None
        if dtype is not None:
            to = dtypes.as_np(dtype, name)
            if a.dtype != to:
                input = cast(input, to)
                a = input._data
        n = a.ndim
        if dim.__class__ is int and 0 <= dim < n:
            at = dim
        else:
            at = one(dim, n, name, "dim", position)
        if a.dtype not in FLOATS and a.size:
            (last if at >= n - 1 else other)(a.dtype)
        return row(input, at)

    return of


softmax_of = _public("softmax", _softmax, _refusals("softmax"))
log_softmax_of = _public("log_softmax", _log_softmax, _refusals("log_softmax"))


def _into(out: Any, name: str, result: Tensor) -> Tensor:
    """Write a result into `out`, which has to be of its type; that the input's gradient is lost nobody minds."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {errors.type_name(out)}")
    out_argument.refuse_grad(f"aten::{name}", (out,))
    if out.dtype is not result.dtype:
        expected, given = C_NAMES[result.dtype.name], C_NAMES[out.dtype.name]
        raise RuntimeError(f"Expected out tensor to have dtype {expected}, but got {given} instead")
    return out_argument.deliver(out, result)


@public()
def softmax(input: Tensor, dim: int, dtype: Any = None, *, out: Any = None) -> Tensor:
    """Turn numbers into shares that add up to 1: exp(x) over the sum of exp(x) along a dim.

    Args:
        input: a tensor.
        dim: the dim along which shares add up.
        dtype: the type to compute in, where not the input's own.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.softmax(vistorch.tensor([0.0, 0.0, 0.0, 0.0]), 0)
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    if casting.on and (recast := casting.ask(softmax, locals())):
        return recast[0]
    if out is None:
        return softmax_of(input, dim, dtype, 2)
    return _into(out, "softmax", softmax_of(input, dim, dtype, 2))


@public()
def log_softmax(input: Tensor, dim: int, dtype: Any = None, *, out: Any = None) -> Tensor:
    """The logarithm of softmax, without overflow.

    Args:
        input: a tensor.
        dim: the dim along which the shares add up.
        dtype: the type to compute in, where not the input's own.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.log_softmax(vistorch.tensor([0.0, 0.0]), 0)
        tensor([-0.6931, -0.6931])
    """
    if casting.on and (recast := casting.ask(log_softmax, locals())):
        return recast[0]
    if out is None:
        return log_softmax_of(input, dim, dtype, 2)
    return _into(out, "log_softmax", log_softmax_of(input, dim, dtype, 2))
