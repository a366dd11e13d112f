"""Sorting and selection along a dim.

Invariant: nan is the largest value; the gradient of a selected value goes to where it came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import return_types
from ...base.dims import flag, whole
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from ...kernels import order
from ...library_name import library
from .extremes import named, not_empty
from .frame import MISSING, axis_of, keeps_dim, label, missing, numpy_names, same_type, tensor
from .select_gradient import selected

_PLACED = r"\bar x_{\mathrm{index}_k} = \bar y_k"


def _selecting(name: str, kernel: Any, title: str) -> Any:
    return op(
        name,
        kernel,
        name_in_graph=title,
        formula=_PLACED,
        input=lambda F, g, out1, dim, input_shape: selected(F, g, out1, dim, input_shape),
    )


def _whole_vjp(F: Any, g: Any, out1: Any, dim: int, input_shape: tuple) -> Any:
    return F.put_at(g, out1, dim, input_shape) if input_shape else g


def _packed(xp, results):
    """Sorted rows lie along the last axis of their memory: bring them to the usual order."""
    return xp.ascontiguousarray(results[0]), xp.ascontiguousarray(results[1])


def _sort(xp, input, dim, descending):
    if input.ndim == 0:
        return order.sort(xp, input)
    if xp is np and input.size < 1024 and not descending:
        # numpy's order is ours, and few elements need no keys
        places = input.argsort(dim, kind="stable")
        return np.sort(input, dim, kind="stable"), places.astype(np.int64, copy=False)
    return _packed(xp, order.sort(xp, input, dim, descending))


sort_dim = op(
    "sort_dim",
    _sort,
    name_in_graph="SortBackward0",
    formula=_PLACED,
    input=_whole_vjp,
)
topk_dim = op(
    "topk_dim",
    lambda xp, input, dim, k, largest: (
        _packed(xp, order.topk(xp, input, k, dim, largest)) if input.ndim else order.topk(xp, input, k)
    ),
    name_in_graph="TopkBackward0",
    formula=_PLACED,
    input=_whole_vjp,
)
kthvalue_dim = _selecting(
    "kthvalue_dim",
    lambda xp, input, dim, k, keepdim: order.kthvalue(xp, input, k, dim, keepdim),
    "KthvalueBackward0",
)
median_dim = _selecting(
    "median_dim",
    lambda xp, input, dim, keepdim: order.median(xp, input, dim, keepdim),
    "MedianBackward1",
)
nanmedian_dim = _selecting(
    "nanmedian_dim",
    lambda xp, input, dim, keepdim: order.nanmedian(xp, input, dim, keepdim),
    "NanmedianBackward1",
)
mode_dim = _selecting(
    "mode_dim", lambda xp, input, dim, keepdim: order.mode(xp, input, dim, keepdim), "ModeBackward0"
)


def _whole(kernel: Any) -> Any:
    def run(xp, input):
        if input.size == 0:
            kind = input.dtype
            return xp.asarray(xp.nan if kind.kind == "f" else xp.iinfo(kind).min, kind)
        return kernel(xp, input.reshape(-1))[0]

    return run


def _share_all(F: Any, g: Any, input: Any, out: Any) -> Any:
    return g * F.tie_share(input, out, tuple(range(input.ndim)), True)


median_all = op(
    "median_all",
    _whole(order.median),
    name_in_graph="MedianBackward0",
    formula=r"\bar x_i = \bar y\,[x_i = y] / \#\{j : x_j = y\}",
    input=_share_all,
)
nanmedian_all = op(
    "nanmedian_all",
    _whole(order.nanmedian),
    name_in_graph="NanmedianBackward0",
    formula=r"\bar x_i = \bar y\,[x_i = y] / \#\{j : x_j = y\}",
    input=_share_all,
)


# ---- the public functions ----------------------------------------------------------------------------------------
def _no_complex(name: str, a: Any) -> None:
    if a.dtype.kind == "c":
        raise RuntimeError(f" {name} does not support complex dtypes on CPU")


@public()
def sort(input, dim=-1, descending=False, stable=False, *, out=None):
    """The elements in order along a dim, and where each came from.

    Args:
        input: a real tensor.
        dim: the dim.
        descending: largest first.
        stable: keep equal elements in their order (they always are).
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([2, 3, 1]).sort().indices
        tensor([2, 0, 1])
    """
    a = tensor("sort", input)
    if stable is not None:
        flag(stable, "sort", "stable")
    axis = axis_of(input, dim, "sort")
    _no_complex("Sort", a)
    return named(
        "sort", return_types.sort, input, out, sort_dim, axis, flag(descending, "sort", "descending")
    )


@public()
def argsort(input, dim=-1, descending=False, stable=False, *, out=None):
    """Where the elements in order along a dim come from.

    Args:
        input: a real tensor.
        dim: the dim.
        descending: largest first.
        stable: keep equal elements in their order (they always are).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([2, 3, 1]).argsort()
        tensor([2, 0, 1])
    """
    a = tensor("argsort", input)
    flag(stable, "argsort", "stable")
    axis = axis_of(input, dim, "argsort")
    _no_complex("Sort", a)
    if out is not None:
        out_argument.check_out("sort", out, (input,))
        same_type(out, "int64")
    o = sort_dim(input.detach(), axis, flag(descending, "argsort", "descending"))[1]
    return o if out is None else out_argument.deliver(out, o)


@public()
def msort(input, *, out=None):
    """The elements in order along the first dim.

    Args:
        input: a real tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([2, 3, 1]).msort()
        tensor([1, 2, 3])
    """
    a = tensor("msort", input)
    _no_complex("Sort", a)
    if out is not None:
        out_argument.check_out("sort", out, (input,))
        same_type(out, a.dtype)
    o = sort_dim(input, 0, False)[0]
    return o if out is None else out_argument.deliver(out, o)


@public()
def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    """The k largest elements along a dim, and where they are.

    Args:
        input: a real tensor.
        k: how many.
        dim: the dim.
        largest: False for the smallest.
        sorted: in order (they always are).
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 3, 2]).topk(2).values
        tensor([3, 2])
    """
    a = tensor("topk", input)
    flag(sorted, "topk", "sorted")
    axis = axis_of(input, dim, "topk")
    k = whole(k, "topk", "k", 2)
    if not 0 <= k <= (a.shape[axis] if a.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if a.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    _no_complex("topk", a)
    return named("topk", return_types.topk, input, out, topk_dim, axis, k, flag(largest, "topk", "largest"))


def _delivered(name: str, kind: Any, input: Any, out: Any, refuse: Any, prim: Any, *constants: Any) -> Any:
    """As `named`, with the family's own sentences about `out`."""
    if out is not None:
        out_argument.check_outs(name, out, (input,))
        refuse(out[0]._data.dtype, out[1]._data.dtype, input._data.dtype)
        if name == "kthvalue":
            out_argument.refuse_shared(out[0], (input,))
        if name in ("kthvalue", "mode") and input._data.ndim:
            return return_types.make(kind, _squeezed(name, input, out, prim, constants))
    return named(name, kind, input, out, prim, *constants)


def _squeezed(name: str, input: Any, out: Any, prim: Any, constants: tuple) -> tuple:
    """Into `out` as PyTorch does it here: with the dim, which is taken away at the end."""
    axis, ndim, keepdim = constants[0], input._data.ndim, constants[-1]
    for o, r in zip(out, prim(input, *constants[:-1], True), strict=True):
        have = o._data.ndim
        if not keepdim and (have == ndim - 1 if name == "kthvalue" else have >= axis):
            o._data = o._place.xp.expand_dims(o._data, axis)
        out_argument.deliver(o, r)
        if not keepdim:
            o._data = o._data.squeeze(axis)
    return tuple(out)


def _kth_out(values: Any, indices: Any, given: Any) -> None:
    if values != given:
        raise RuntimeError("output values must be of same type as input")
    if indices != "int64":
        raise RuntimeError("output indices must be of scalar type Long")


@public()
def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """The k-th smallest element along a dim, and where it is.

    Args:
        input: a real tensor.
        k: which, from 1.
        dim: the dim.
        keepdim: keep the dim with size 1.
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([4, 8, 2]).kthvalue(2).values
        tensor(4)
    """
    a = tensor("kthvalue", input)
    axis = axis_of(input, dim, "kthvalue")
    k = whole(k, "kthvalue", "k", 2)
    not_empty("kthvalue", a.shape, (axis,))
    if not 1 <= k <= (a.shape[axis] if a.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if a.dtype.kind in "bc":
        raise missing("kthvalue_cpu", a.dtype)
    kind = return_types.kthvalue
    return _delivered(
        "kthvalue", kind, input, out, _kth_out, kthvalue_dim, axis, k, flag(keepdim, "kthvalue", "keepdim")
    )


def _median_out(values: Any, indices: Any, given: Any) -> None:
    if indices != "int64":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have scalar type Long; but got "
            f"{_type(indices)} instead (while checking arguments for median)"
        )
    if values != given:
        raise RuntimeError(
            f"Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
            f"{_type(values)} does not equal {_type(given)} (while checking arguments for median)"
        )


def _type(dtype: Any) -> str:
    """The name of a tensor's type, as PyTorch's oldest checks say it."""
    name = label(dtype)
    if name in ("Bool", "BFloat16") or name.startswith("Complex"):
        return f"CPU{name}Type"
    return f"{library}.{name}Tensor"


def _median(name: str, input: Any, dim: Any, keepdim: Any, out: Any, names: dict) -> Any:
    if names:
        dim, keepdim = numpy_names(name, names, dim, keepdim)
    a = tensor(name, input)
    plain = name == "median"
    if keepdim is not False:
        keepdim = keeps_dim(keepdim, name, dim)
    if dim is MISSING:
        if a.dtype.kind in "bc":
            raise missing("median_cpu", a.dtype)
        return (median_all if plain else nanmedian_all)(input)
    axis = axis_of(input, dim, name)
    not_empty("median", a.shape, (axis,))
    if a.dtype.kind in "bc":
        raise missing("median_out", a.dtype)
    kind = return_types.median if plain else return_types.nanmedian
    prim = median_dim if plain else nanmedian_dim
    return _delivered(name, kind, input, out, _median_out, prim, axis, keepdim)


@public()
def median(input, dim=MISSING, keepdim=False, *, out=None, **names):
    """The middle element (the lower of two), of all or along a dim; nan where there is one.

    Args:
        input: a real tensor.
        dim: a dim; then the index is returned too.
        keepdim: keep the dim with size 1.
        out: a tuple of two tensors for the results along a dim.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3, 1, 2, 4]).median()
        tensor(2)
    """
    return _median("median", input, dim, keepdim, out, names)


@public()
def nanmedian(input, dim=MISSING, keepdim=False, *, out=None, **names):
    """The middle of the elements that are not nan (the lower of two), of all or along a dim.

    Args:
        input: a real tensor.
        dim: a dim; then the index is returned too.
        keepdim: keep the dim with size 1.
        out: a tuple of two tensors for the results along a dim.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3.0, float("nan"), 1.0]).nanmedian()
        tensor(1.)
    """
    return _median("nanmedian", input, dim, keepdim, out, names)


def _mode_out(values: Any, indices: Any, given: Any) -> None:
    for wanted, got, which in ((given, values, "values"), ("int64", indices, "indices")):
        if got != wanted:
            raise RuntimeError(
                f"expected scalar type '{label(wanted)}' but got '{label(got)}' for {which} output"
            )


@public()
def mode(input, dim=-1, keepdim=False, *, out=None):
    """The most frequent value along a dim (the smallest of several), and where it last is.

    Args:
        input: a real tensor.
        dim: the dim.
        keepdim: keep the dim with size 1.
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2, 2, 3]).mode().values
        tensor(2)
    """
    a = tensor("mode", input)
    axis = axis_of(input, dim, "mode")
    not_empty("mode", a.shape, (axis,))
    if a.dtype.kind == "c":
        raise missing("mode_cpu", a.dtype)
    return _delivered(
        "mode", return_types.mode, input, out, _mode_out, mode_dim, axis, flag(keepdim, "mode", "keepdim")
    )
