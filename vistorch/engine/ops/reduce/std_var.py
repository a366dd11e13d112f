"""Standard deviation and variance, with Bessel's correction or another.

Invariant: two passes, the mean first: what is squared is centred.
"""

from __future__ import annotations

import warnings
from math import inf
from typing import Any

from ...base.dims import flag
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import floating
from ...kernels import totals
from .frame import MISSING, axes_of, back, missing, numpy_names, size_of, tensor


def _moments(xp, input, dims, correction, keepdim, whole):
    n = size_of(input.shape, dims)
    mean = totals.total(xp, input, dims, True) / input.dtype.type(n)
    away = input - mean
    square = totals.squares(xp, away, dims, keepdim)
    out = square / square.dtype.type(max(n - correction, 0))
    return out, mean if keepdim else xp.asarray(mean).reshape(out.shape)


def _centred(xp, input, dims):
    n = size_of(input.shape, dims)
    return input - totals.total(xp, input, dims, True) / input.dtype.type(n)


def _no_freedom(xp, input, dims):
    # what PyTorch gives for the slope of a division by zero: nan at the mean, infinite beside it
    away = _centred(xp, input, dims)
    return xp.where((away == 0) | (away != away), xp.nan, xp.inf).astype(input.dtype)


centred = op(
    "centred",
    _centred,
    formula=r"\bar x = \bar y - \mathrm{mean}(\bar y)",
    input=lambda F, g, dims: F.centred(g, dims),
)
op("no_freedom", _no_freedom)


def _var_vjp(F: Any, g: Any, input: Any, dims: tuple, correction: Any, whole: bool) -> Any:
    ways = size_of(input.shape, dims) - correction
    g = back(F, g, dims, input.shape)
    if whole and ways <= 0:
        return g * F.no_freedom(input, dims)
    return g * (2.0 / ways if ways else inf) * F.centred(input, dims)


def _halved(F: Any, g: Any, out: Any) -> Any:
    return g * F.inverse_or_zero(out) * 0.5


op(
    "inverse_or_zero",
    lambda xp, input: xp.where(input == 0, input, 1 / input),
    formula=r"\bar x = -\bar y / x^2",
    input=lambda F, g, out: -g * out * out,
)
_VAR = r"\bar x = \bar y\, \frac{2}{n - c} (x - \bar\mu)"
_STD = r"\bar x = \bar y\, \frac{x - \mu}{(n - c)\, y}"
var_dims = op(
    "var_dims",
    lambda xp, input, dims, correction, keepdim, whole: _moments(xp, input, dims, correction, keepdim, whole)[
        0
    ],
    name_in_graph="VarBackward0",
    formula=_VAR,
    input=_var_vjp,
)
std_dims = op(
    "std_dims",
    lambda xp, input, dims, correction, keepdim, whole: xp.sqrt(
        _moments(xp, input, dims, correction, keepdim, whole)[0]
    ),
    name_in_graph="StdBackward0",
    formula=_STD,
    input=lambda F, g, input, out, dims, correction, whole: _var_vjp(
        F, _halved(F, g, out), input, dims, correction, whole
    ),
)


def _mean_part(F: Any, g: Any, dims: tuple, shape: tuple) -> Any:
    return F.expand(back(F, g, dims, shape) / size_of(shape, dims), shape)


def _sum_of(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


var_mean_dims = op(
    "var_mean_dims",
    _moments,
    outs=2,
    name_in_graph="VarMeanBackward0",
    formula=_VAR,
    input=lambda F, g, input, dims, correction, whole: _sum_of(
        None if g[0] is None else _var_vjp(F, g[0], input, dims, correction, whole),
        None if g[1] is None else _mean_part(F, g[1], dims, input.shape),
    ),
)


def _std_mean(xp, input, dims, correction, keepdim, whole):
    var, mean = _moments(xp, input, dims, correction, keepdim, whole)
    return xp.sqrt(var), mean


std_mean_dims = op(
    "std_mean_dims",
    _std_mean,
    outs=2,
    name_in_graph="StdMeanBackward0",
    formula=_STD,
    input=lambda F, g, input, out, dims, correction, whole: _sum_of(
        None if g[0] is None else _var_vjp(F, _halved(F, g[0], out), input, dims, correction, whole),
        None if g[1] is None else _mean_part(F, g[1], dims, input.shape),
    ),
)


# ---- the public functions ----------------------------------------------------------------------------------------
def _asked(
    name: str, input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, more: dict
) -> tuple:
    """(dims, correction, keepdim, whether no dims were named), whichever of the three ways to call was taken."""
    a = tensor(name, input)
    if more:
        dim, keepdim = numpy_names(name, more, dim, keepdim)
    if dim is True or dim is False:
        dim, unbiased = MISSING, dim  # std(input, unbiased)
    if not floating(a.dtype):
        what = "std and var" if name in ("std", "var") else name
        raise RuntimeError(f"{what} only support floating point and complex dtypes")
    if correction is MISSING:
        correction = 1 if unbiased is MISSING or flag(unbiased, name, "unbiased") else 0
    elif correction is None:
        correction = 1
    dims = axes_of(input, dim, name)
    if size_of(a.shape, dims) - correction <= 0 and (a.size or correction > 0) and _outputs(a.shape, dims):
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
            UserWarning,
            stacklevel=3,
        )
    return dims, correction, flag(keepdim, name, "keepdim"), dim is MISSING or dim is None or not a.ndim


def _outputs(shape: tuple, dims: tuple) -> bool:
    return 0 not in [n for i, n in enumerate(shape) if i not in dims]


def _one(name: str, prim: Any, input: Tensor, asked: tuple, out: Any) -> Tensor:
    if out is not None:
        out_argument.check_out(name, out, (input,))
        if out._data.dtype.kind == "c" and input._data.dtype.kind != "c" and len(asked[0]) < input._data.ndim:
            raise missing("std_cpu", out._data.dtype)
    o = prim(input, *asked)
    return o if out is None else out_argument.deliver(out, o)


@public()
def var(input, dim=MISSING, unbiased=MISSING, keepdim=False, *, correction=MISSING, out=None, **names):
    """The variance of all elements, or over dims.

    Args:
        input: a floating point or complex tensor.
        dim: a dim, several, or None for all.
        unbiased: whether to divide by n - 1 (the older way to say `correction`).
        keepdim: keep the dims with size 1.
        correction: what is taken off the number of elements before dividing by it; 1 where not given.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 2.0, 3.0]).var()
        tensor(1.)
    """
    return _one("var", var_dims, input, _asked("var", input, dim, unbiased, correction, keepdim, names), out)


@public()
def std(input, dim=MISSING, unbiased=MISSING, keepdim=False, *, correction=MISSING, out=None, **names):
    """The standard deviation of all elements, or over dims.

    Args:
        input: a floating point or complex tensor.
        dim: a dim, several, or None for all.
        unbiased: whether to divide by n - 1 (the older way to say `correction`).
        keepdim: keep the dims with size 1.
        correction: what is taken off the number of elements before dividing by it; 1 where not given.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 3.0]).std(correction=0)
        tensor(1.)
    """
    return _one("std", std_dims, input, _asked("std", input, dim, unbiased, correction, keepdim, names), out)


@public(method=False)
def var_mean(input, dim=MISSING, unbiased=MISSING, keepdim=False, *, correction=MISSING, **names):
    """The variance and the mean, in one pass over the arguments of `var`.

    Args:
        input: a floating point or complex tensor.
        dim: a dim, several, or None for all.
        unbiased: whether to divide by n - 1 (the older way to say `correction`).
        keepdim: keep the dims with size 1.
        correction: what is taken off the number of elements before dividing by it; 1 where not given.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.var_mean(vistorch.tensor([1.0, 2.0, 3.0]))
        (tensor(1.), tensor(2.))
    """
    return var_mean_dims(input, *_asked("var_mean", input, dim, unbiased, correction, keepdim, names))


@public(method=False)
def std_mean(input, dim=MISSING, unbiased=MISSING, keepdim=False, *, correction=MISSING, **names):
    """The standard deviation and the mean, with the arguments of `std`.

    Args:
        input: a floating point or complex tensor.
        dim: a dim, several, or None for all.
        unbiased: whether to divide by n - 1 (the older way to say `correction`).
        keepdim: keep the dims with size 1.
        correction: what is taken off the number of elements before dividing by it; 1 where not given.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.std_mean(vistorch.tensor([1.0, 3.0]), correction=0)
        (tensor(1.), tensor(2.))
    """
    return std_mean_dims(input, *_asked("std_mean", input, dim, unbiased, correction, keepdim, names))
