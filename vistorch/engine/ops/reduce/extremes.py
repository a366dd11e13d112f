"""Largest and smallest values, where they are, and the pointwise forms of `max` and `min`.

Invariant: nan wins everywhere. The gradient goes to the index where an index is returned; where only a value is,
ties share it evenly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors, return_types
from ...base.dims import flag
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ...kernels import order, totals
from .frame import MISSING, axes_of, axis_of, back, keeps_dim, label, missing, numpy_names, same_type, tensor
from .full_reduction import whole
from .select_gradient import selected

_largest: Any = np.maximum.reduce
_smallest: Any = np.minimum.reduce
_EMPTY = "{}(): Expected reduction dim to be specified for input.numel() == 0."
_NO_CAST = (
    "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got "
    "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
)
_EMPTY_HINT = _EMPTY + " Specify the reduction dim with the 'dim' argument."


_EVENLY = r"\bar x_i = \bar y\,[x_i = y] / \#\{j : x_j = y\}"


def _evenly(nans: bool) -> Any:
    def vjp(F, g, input, out, dims):
        return back(F, g, dims, input.shape) * F.tie_share(input, out, dims, nans)

    return vjp


def _evenly_all(F: Any, g: Any, input: Any, out: Any) -> Any:
    return g * F.tie_share(input, out, tuple(range(input.ndim)), True)


def _amax(xp, input, dims, keepdim):
    if xp is np and input.size <= 1024:
        return _largest(input, dims, None, None, keepdim)
    return totals.extreme(xp, "maximum", input, dims, keepdim)


def _amin(xp, input, dims, keepdim):
    if xp is np and input.size <= 1024:
        return _smallest(input, dims, None, None, keepdim)
    return totals.extreme(xp, "minimum", input, dims, keepdim)


# to find a place in a short vector and look there takes a third of the time of numpy's own reduction; nan is found too
def _max_all(input, dims=None):
    return input[input.argmax()] if input.ndim == 1 and input.size <= 1024 else _largest(input, dims)


def _min_all(input, dims=None):
    return input[input.argmin()] if input.ndim == 1 and input.size <= 1024 else _smallest(input, dims)


max_all = op(
    "max_all",
    lambda xp, input: _max_all(input) if xp is np else input.max(),
    name_in_graph="MaxBackward1",
    formula=_EVENLY,
    input=_evenly_all,
)
min_all = op(
    "min_all",
    lambda xp, input: _min_all(input) if xp is np else input.min(),
    name_in_graph="MinBackward1",
    formula=_EVENLY,
    input=_evenly_all,
)


def _with_index(xp, argument, input, dim, keepdim):
    if input.ndim == 0:
        return input.copy(), xp.zeros((), xp.int64)
    index = xp.asarray(getattr(input, argument)(axis=dim, keepdims=True), xp.int64)
    values = xp.take_along_axis(input, index, axis=dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


_CHOSEN = r"\bar x_{i} = \bar y\,[i = \mathrm{index}]"
max_dim = op(
    "max_dim",
    lambda xp, input, dim, keepdim: _with_index(xp, "argmax", input, dim, keepdim),
    name_in_graph="MaxBackward0",
    formula=_CHOSEN,
    input=lambda F, g, out1, dim, input_shape: selected(F, g, out1, dim, input_shape),
)
min_dim = op(
    "min_dim",
    lambda xp, input, dim, keepdim: _with_index(xp, "argmin", input, dim, keepdim),
    name_in_graph="MinBackward0",
    formula=_CHOSEN,
    input=lambda F, g, out1, dim, input_shape: selected(F, g, out1, dim, input_shape),
)
amax_dims = op(
    "amax_dims",
    _amax,
    name_in_graph="AmaxBackward0",
    formula=_EVENLY,
    input=_evenly(False),
)
amin_dims = op(
    "amin_dims",
    _amin,
    name_in_graph="AminBackward0",
    formula=_EVENLY,
    input=_evenly(False),
)


def _aminmax_vjp(F: Any, g: Any, input: Any, out: Any, out1: Any, dims: tuple) -> Any:
    low, high = g
    a = None if low is None else back(F, low, dims, input.shape) * F.tie_share(input, out, dims, False)
    b = None if high is None else back(F, high, dims, input.shape) * F.tie_share(input, out1, dims, False)
    return b if a is None else a if b is None else a + b


aminmax_dims = op(
    "aminmax_dims",
    lambda xp, input, dims, keepdim: (_amin(xp, input, dims, keepdim), _amax(xp, input, dims, keepdim)),
    outs=2,
    name_in_graph="AminmaxBackward0",
    formula=_EVENLY,
    input=_aminmax_vjp,
)
argmax_ = op("argmax_at", lambda xp, input, dim, keepdim: order.argmax(xp, input, dim, keepdim))
argmin_ = op("argmin_at", lambda xp, input, dim, keepdim: order.argmin(xp, input, dim, keepdim))


# ---- the public functions ----------------------------------------------------------------------------------------
def not_empty(name: str, shape: tuple, dims: tuple, punctuation: str = "()") -> None:
    """Refuse to reduce a dim without elements."""
    for d in dims:
        if shape and shape[d] == 0:
            raise IndexError(f"{name}{punctuation}: Expected reduction dim {d} to have non-zero size.")


def _extreme(name: str, input: Any, dim: Any, keepdim: Any, out: Any) -> Any:
    """`max` and `min` in all forms but the first."""
    a = tensor(name, input)
    whole, along, pointwise = (
        (max_all, max_dim, "maximum") if name == "max" else (min_all, min_dim, "minimum")
    )
    if isinstance(dim, Tensor) and (keepdim is MISSING or dim._data.ndim or dim._data.dtype.kind not in "iu"):
        if keepdim is not MISSING:
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got (Tensor, Tensor, "
                f"{errors.type_name(keepdim)}): keepdim goes with a dim, not with a second tensor"
            )
        return FUNCTIONS[pointwise](input, dim, out=out)
    keepdim = keepdim is not MISSING and keeps_dim(keepdim, name, dim)
    if dim is MISSING:
        if a.dtype.kind == "c":
            raise missing(f"{name}_all", a.dtype)
        if a.size == 0:
            raise RuntimeError(_EMPTY_HINT.format(name))
        if out is not None:
            out_argument.check_out(name, out, (input,))
            if not dtypes.can_cast(dtypes.of(a.dtype), dtypes.of(out._data.dtype)):
                raise RuntimeError(_NO_CAST)
        o = whole(input)
        return o if out is None else out_argument.deliver(out, o)
    axis = axis_of(input, dim, name)
    if a.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    not_empty(name, a.shape, (axis,))
    kind = return_types.max if name == "max" else return_types.min
    return named(name, kind, input, out, along, axis, keepdim)


def named(name: str, kind: Any, input: Tensor, out: Any, prim: Any, *constants: Any) -> Any:
    """Two results as a named tuple, delivered into a tuple `out` where there is one."""
    if out is not None:
        out_argument.check_outs(name, out, (input,))
        same_type(out[0], input._data.dtype)
        same_type(out[1], "int64")
    results = prim(input, *constants)
    if out is not None:
        results = (out_argument.deliver(out[0], results[0]), out_argument.deliver(out[1], results[1]))
    return return_types.make(kind, results)


@public()
@whole(max_all, _max_all)
def max(input, dim=MISSING, keepdim=MISSING, *, out=None, **names):
    """The largest element; along a dim, the largest and where they are; of two tensors, the larger ones.

    Args:
        input: a real tensor.
        dim: a dim, or another tensor.
        keepdim: keep the dim with size 1.
        out: where to put the result (a tuple of two, along a dim).
        **names: `other`, and numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 3, 2]).max()
        tensor(3)
        >>> vistorch.tensor([1, 3, 2]).max(0).indices
        tensor(1)
    """
    if dim is MISSING and keepdim is MISSING and out is None and not names:
        try:
            a = input._data
            if a.size and a.dtype.kind != "c":
                return max_all(input)
        except AttributeError:
            pass
    if names:
        dim, keepdim = numpy_names("max", names, names.pop("other", dim), keepdim)
    return _extreme("max", input, dim, keepdim, out)


@public()
@whole(min_all, _min_all)
def min(input, dim=MISSING, keepdim=MISSING, *, out=None, **names):
    """The smallest element; along a dim, the smallest and where they are; of two tensors, the smaller ones.

    Args:
        input: a real tensor.
        dim: a dim, or another tensor.
        keepdim: keep the dim with size 1.
        out: where to put the result (a tuple of two, along a dim).
        **names: `other`, and numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3, 1, 2]).min()
        tensor(1)
        >>> vistorch.tensor([3, 1, 2]).min(0).indices
        tensor(1)
    """
    if dim is MISSING and keepdim is MISSING and out is None and not names:
        try:
            a = input._data
            if a.size and a.dtype.kind != "c":
                return min_all(input)
        except AttributeError:
            pass
    if names:
        dim, keepdim = numpy_names("min", names, names.pop("other", dim), keepdim)
    return _extreme("min", input, dim, keepdim, out)


def _over_dims(name: str, prim: Any, input: Any, dim: Any, keepdim: Any, out: Any, names: dict) -> Any:
    if names:
        dim, keepdim = numpy_names(name, names, dim, keepdim)
    a = tensor(name, input)
    if out is not None:
        out_argument.check_out(name, out, (input,))
        if out._data.dtype != a.dtype:
            raise RuntimeError(
                f"Expected the dtype for input and out to match, but got {label(a.dtype)} for input's dtype and "
                f"{label(out._data.dtype)} for out's dtype."
            )
    if a.size == 0:
        if dim is None or dim == ():
            raise RuntimeError(_EMPTY_HINT.format(name))
        # named as the user named them, before anything else is said about them
        for d in dim if isinstance(dim, (tuple, list)) else (dim,):
            if a.shape[axis_of(input, d, name)] == 0:
                raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    dims = axes_of(input, dim, name)
    if a.dtype.kind == "c":
        raise missing(f"{name[1:]}_values_cpu", a.dtype)
    o = prim(input, dims, flag(keepdim, name, "keepdim"))
    return o if out is None else out_argument.deliver(out, o)


@public()
def amax(input, dim=None, keepdim=False, *, out=None, **names):
    """The largest element, or along dims; equal ones share the gradient.

    Args:
        input: a real tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 3], [2, 0]]).amax((0, 1))
        tensor(3)
    """
    return _over_dims("amax", amax_dims, input, dim, keepdim, out, names)


@public()
def amin(input, dim=None, keepdim=False, *, out=None, **names):
    """The smallest element, or along dims; equal ones share the gradient.

    Args:
        input: a real tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 3], [2, 0]]).amin(0)
        tensor([1, 0])
    """
    return _over_dims("amin", amin_dims, input, dim, keepdim, out, names)


@public()
def aminmax(input, *, dim=None, keepdim=False, out=None):
    """The smallest and the largest element, or along a dim.

    Args:
        input: a real tensor.
        dim: a dim, or None for all.
        keepdim: keep the dim with size 1.
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> tuple(vistorch.tensor([2, 1, 3]).aminmax())
        (tensor(1), tensor(3))
    """
    a = tensor("aminmax", input)
    dims = axes_of(input, None) if dim is None else (axis_of(input, dim, "aminmax"),)
    if a.size == 0:
        if dim is None:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
            )
        not_empty("aminmax", a.shape, dims, "")
    if a.dtype.kind == "c":
        raise missing("aminmax_cpu", a.dtype)
    if out is not None:
        out_argument.check_outs("aminmax", out, (input,))
        for o in out:
            same_type(o, a.dtype)
    if not a.ndim:
        dims = ()
    low, high = aminmax_dims(input, dims, flag(keepdim, "aminmax", "keepdim"))
    if out is not None:
        low, high = out_argument.deliver(out[0], low), out_argument.deliver(out[1], high)
    return return_types.make(return_types.aminmax, (low, high))


def _arg(name: str, prim: Any, input: Any, dim: Any, keepdim: Any, out: Any, names: dict) -> Any:
    if names:
        dim, keepdim = numpy_names(name, names, dim, keepdim)
    a = tensor(name, input)
    if a.dtype.kind in "bc":
        raise RuntimeError(f"{name}(): does not support {'bool' if a.dtype.kind == 'b' else 'complex'} input")
    if out is not None:
        out_argument.check_out(name, out)
        same_type(out, "int64")
    axis = None if dim is None else axis_of(input, dim, name)
    o = prim(input, axis, flag(keepdim, name, "keepdim"))
    return o if out is None else out_argument.deliver(out, o)


@public()
def argmax(input, dim=None, keepdim=False, *, out=None, **names):
    """Where the largest element is: the first one, in the flattened tensor or along a dim.

    Args:
        input: a real tensor.
        dim: a dim, or None for the flattened tensor.
        keepdim: keep the dim with size 1.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 3, 3]).argmax()
        tensor(1)
    """
    return _arg("argmax", argmax_, input, dim, keepdim, out, names)


@public()
def argmin(input, dim=None, keepdim=False, *, out=None, **names):
    """Where the smallest element is: the first one, in the flattened tensor or along a dim.

    Args:
        input: a real tensor.
        dim: a dim, or None for the flattened tensor.
        keepdim: keep the dim with size 1.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3, 1, 1]).argmin()
        tensor(1)
    """
    return _arg("argmin", argmin_, input, dim, keepdim, out, names)
