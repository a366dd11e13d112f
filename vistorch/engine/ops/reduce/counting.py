"""Distinct values, histograms, and places in sorted sequences.

Invariant: nothing here is differentiable; where PyTorch still marks a result as requiring grad, backward refuses.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes, errors, return_types
from ...base.dims import flag, whole
from ...core import out_argument, type_promotion
from ...core.base_ops import cast
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...kernels import counting, search
from ...library_name import library, named
from .bin_edges import bin_edges
from .frame import axis_of, missing, spelled, tensor


def _refusing(what: str) -> Any:
    def vjp(F, g):
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return vjp


def _present(results: tuple) -> tuple:
    return tuple([r for r in results if r is not None])


def _slices(xp, results, dim):
    """What was found along a dim lies slice by slice in memory."""
    if dim is None or results[0].ndim < 2:
        return results
    found = xp.ascontiguousarray(xp.moveaxis(results[0], dim, 0))
    return (xp.moveaxis(found, 0, dim), *results[1:])


def _unique(xp, input, inverse, counts, dim):
    return _slices(xp, _present(counting.unique(xp, input, True, inverse, counts, dim)), dim)


def _runs(xp, input, inverse, counts, dim):
    return _slices(xp, _present(counting.unique_consecutive(xp, input, inverse, counts, dim)), dim)


unique_all = op(
    "unique_all",
    _unique,
    inputs="input",
    outs=1,
    name_in_graph="Unique2Backward0",
    input=_refusing("_unique2"),
)
unique_dim = op(
    "unique_rows", _unique, inputs="input", name_in_graph="UniqueDimBackward0", input=_refusing("unique_dim")
)
unique_runs = op(
    "unique_runs",
    _runs,
    inputs="input",
    name_in_graph="UniqueConsecutiveBackward0",
    input=_refusing("unique_consecutive"),
)


def _distinct(name: str, prim: Any, input: Any, inverse: Any, counts: Any, axis: Any) -> Any:
    inverse, counts = flag(inverse, name, "return_inverse"), flag(counts, name, "return_counts")
    results = prim(input, inverse, counts, axis)
    return results[0] if len(results) == 1 else results


@public()
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct values, in order.

    Args:
        input: a real tensor.
        sorted: in order (they always are).
        return_inverse: also say which of them each element is.
        return_counts: also say how often each occurs.
        dim: compare whole slices along this dim.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3, 1, 3]).unique()
        tensor([1, 3])
    """
    a = tensor("unique", input)
    flag(sorted, "unique", "sorted")
    axis = None if dim is None else axis_of(input, dim, "unique")
    if a.dtype.kind == "c":
        raise missing("unique" if dim is None else "unique_dim", a.dtype)
    prim = unique_all if dim is None else unique_dim
    return _distinct("unique", prim, input, return_inverse, return_counts, axis)


@public()
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The values without repetition of neighbours.

    Args:
        input: a real tensor.
        return_inverse: also say which of them each element is.
        return_counts: also say how long each run is.
        dim: compare whole slices along this dim.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3, 3, 1, 3]).unique_consecutive()
        tensor([3, 1, 3])
    """
    a = tensor("unique_consecutive", input)
    axis = None if dim is None else axis_of(input, dim, "unique_consecutive")
    if a.dtype.kind == "c":
        raise missing("unique" if dim is None else "unique_dim", a.dtype)
    return _distinct("unique_consecutive", unique_runs, input, return_inverse, return_counts, axis)


_count = op("bincount_of", lambda xp, input, minlength: counting.bincount(xp, input, None, minlength))
_weigh = op(
    "bincount_by",
    lambda xp, input, weights, minlength: counting.bincount(xp, input, weights, minlength),
    inputs="input weights",
    widen=False,
    name_in_graph="NotImplemented",
    weights=_refusing("bincount"),
)


@public()
def bincount(input, weights=None, minlength=0):
    """How often each of 0, 1, 2, ... occurs, or the sum of its weights.

    Args:
        input: a 1-D tensor of non-negative integers.
        weights: what each element counts for.
        minlength: the least number of bins.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([0, 2, 2]).bincount()
        tensor([1, 0, 2])
    """
    a = tensor("bincount", input)
    if a.dtype.kind not in "iu":
        raise missing("bincount_cpu", a.dtype)
    minlength = whole(minlength, "bincount", "minlength", 3)
    if weights is None:
        return _count(input, minlength)
    if not isinstance(weights, Tensor):
        raise errors.must_be_tensor("bincount", "weights", 2, weights)
    return _weigh(input, weights, minlength)


def _histc(xp, input, bins, min, max):
    return counting.histc(xp, input, bins, min, max)


histc_ = op("histc_of", _histc)


def _no_histc(a: Any, bins: int, low: Any, high: Any) -> Exception:
    """What PyTorch says first about a type it has no histogram for."""
    if bins <= 0:
        return RuntimeError(f"{library}.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if a.dtype.kind == "c" and low == high:
        return missing("aminmax_cpu", a.dtype)
    if a.dtype.str == "|u1" and low < 0:
        return RuntimeError("value cannot be converted to type uint8_t without overflow")
    if low > high:
        return RuntimeError(f"{library}.histc: max must be larger than min")
    if a.dtype.kind == "b":
        return missing("linspace_cpu", a.dtype)
    return missing("histogram_cpu", a.dtype)


@public()
def histc(input, bins=100, min=0, max=0, *, out=None):
    """How many elements fall into each of equal bins; those outside and nan are not counted.

    Args:
        input: a floating point tensor.
        bins: how many.
        min: the lower end; where it equals max, both are taken from the data.
        max: the upper end.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 2.0, 1.0]).histc(bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    a = tensor("histc", input)
    bins = whole(bins, "histc", "bins", 2)
    if out is not None and not isinstance(out, Tensor):
        out_argument.check_out("histc", out)
    if not type_promotion.floating(a.dtype) or a.dtype.kind == "c":
        raise _no_histc(a, bins, min, max)
    if out is not None:
        if out._data.dtype != a.dtype:
            raise RuntimeError(
                f"{library}.histogram: input tensor and hist tensor should have the same dtype, but got input "
                f"{spelled(a.dtype)} and hist {spelled(out._data.dtype)}"
            )
    o = histc_(input, bins, min, max)
    return o if out is None else out_argument.deliver(out, o)


def _histogram(xp, input, edges, weight, density):
    """Counts (or weights) in bins given by their edges, the last one closed; and the edges."""
    flat = input.reshape(-1)
    inside = (flat >= edges[0]) & (flat <= edges[-1])
    place = xp.searchsorted(edges, flat[inside], side="right") - 1
    place = xp.minimum(place, edges.shape[0] - 2)
    weights = None if weight is None else weight.reshape(-1)[inside].astype(xp.float64)
    hist = xp.bincount(place, weights, minlength=edges.shape[0] - 1).astype(input.dtype)
    return (hist / hist.sum() / xp.diff(edges) if density else hist), edges.copy()


_none = _refusing("histogram")
_counted = op(
    "histogram_of",
    lambda xp, input, edges, density: _histogram(xp, input, edges, None, density),
    outs=2,
    name_in_graph="NotImplemented",
    input=_none,
    edges=_none,
)
_weighed = op(
    "histogram_by",
    _histogram,
    outs=2,
    name_in_graph="NotImplemented",
    input=_none,
    edges=_none,
    weight=_none,
)


def _same(dtype: Any, other: Any, sentence: str) -> None:
    if dtype != other:
        raise RuntimeError(named(sentence).format(spelled(dtype), spelled(other)))


@public()
def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """How many elements fall into each bin, and the edges of the bins.

    Args:
        input: a float32 or float64 tensor.
        bins: how many equal bins, or a 1-D tensor of their edges.
        range: the lower and upper end, where `bins` is a number; else taken from the data.
        weight: what each element counts for.
        density: divide by the total and the widths.
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([0.0, 1.0, 3.0]).histogram(3).hist
        tensor([1., 1., 1.])
    """
    a = tensor("histogram", input)
    if isinstance(bins, Tensor):
        _same(
            a.dtype,
            bins._data.dtype,
            "vistorch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            "{} and bins for dimension 0 with dtype {}",
        )
        edges = bins
    else:
        edges = bin_edges(input, whole(bins, "histogram", "bins", 2), range)
    if weight is not None:
        if not isinstance(weight, Tensor):
            raise errors.must_be_tensor("histogram", "weight", 4, weight)
        _same(
            a.dtype,
            weight._data.dtype,
            "vistorch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            "dtype, but got input({}), and weight({})",
        )
        if weight._data.shape != a.shape:
            raise RuntimeError(
                f"{library}.histogramdd: if weight tensor is provided it should have the same shape as the input "
                "tensor "
                f"excluding its innermost dimension, but got input with shape [{a.size}, 1] and weight with shape "
                f"[{weight._data.size}]"
            )
    if out is not None:
        out_argument.check_outs("aten::histogram", out)
        for o, what in zip(out, ("hist", "bin_edges"), strict=True):
            _same(
                a.dtype,
                o._data.dtype,
                "vistorch.histogram: input tensor and "
                + what
                + " tensor should have the same dtype, but got input {} "
                "and " + what + " {}",
            )
    if a.dtype.kind == "c" or not type_promotion.floating(a.dtype):
        raise missing("histogram_cpu", a.dtype)
    density = flag(density, "histogram", "density")
    results = _counted(input, edges, density) if weight is None else _weighed(input, edges, weight, density)
    if out is not None:
        edges = out_argument.deliver(out[1], results[1])
        results = (out_argument.deliver(out[0], results[0]), edges)
    return return_types.make(return_types.histogram, results)


_search = op(
    "search",
    lambda xp, sequence, values, right, side, sorter: search.searchsorted(
        xp, sequence, values, right, side, sorter
    ),
    inputs="sequence values",
)
_narrow = op("as_int32", lambda xp, input: input.astype(xp.int32))


def _found(
    name: str, row: Tensor, values: Any, right: bool, side: Any, sorter: Any, short: bool, out: Any
) -> Any:
    if side is not None and not isinstance(side, str):
        raise errors.must_be_str(name, "side", 0, side)
    if not isinstance(values, Tensor):
        if type_promotion.number(values) is None:
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got a value of type {type(values).__name__}"
            )
        common = type_promotion.result_type(row, values)
        values = wrap(row._place.xp.asarray(values, common), row._place)
    else:
        common = type_promotion.result_type(row, values)
    row, values = (t if t._data.dtype == common else cast(t.detach(), common) for t in (row, values))  # type: ignore[attr-defined]
    o = _search(row, values, flag(right, name, "right"), side, sorter)
    if common.kind in "bc":
        raise missing("searchsorted_out_cpu", common)
    if flag(short, name, "out_int32"):
        o = _narrow(o)
    if out is not None:
        out_argument.check_out(name, out)
        if out._data.dtype != o._data.dtype:
            raise RuntimeError(
                f"{library}.{name}(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) "
                f"depending on whether out_int32 flag is True, but we got output tensor's dtype "
                f"{dtypes.of(out._data.dtype).scalar_name} and out_int32 flag is {'True' if short else 'False'}"
            )
        return out_argument.deliver(out, o)
    return o


@public(method=False)
def searchsorted(
    sorted_sequence, input=None, *, out_int32=False, right=False, side=None, sorter=None, out=None, self=None
):
    """Where each value would go in the last dim of a sorted sequence.

    Args:
        sorted_sequence: one sequence, or one for each leading place of `input`.
        input: the values, a tensor or a number.
        out_int32: give int32 instead of int64.
        right: put a value behind its equals.
        side: "left" or "right", another way to say it.
        sorter: the order that sorts the sequence, where it is not sorted.
        out: where to put the result.
        self: PyTorch's other name for `input`, where that is a number.

    Example:
        >>> import vistorch
        >>> vistorch.searchsorted(vistorch.tensor([1, 3, 5]), vistorch.tensor([3, 6]))
        tensor([1, 3])
    """
    if not isinstance(sorted_sequence, Tensor):
        raise errors.must_be_tensor("searchsorted", "sorted_sequence", 1, sorted_sequence)
    input = self if input is None else input
    if sorter is not None and not isinstance(sorter, Tensor):
        raise errors.must_be_tensor("searchsorted", "sorter", 3, sorter)
    order = None if sorter is None else sorter._data
    return _found("searchsorted", sorted_sequence, input, right, side, order, out_int32, out)


@public(method=False)
def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """The bucket each value falls into, between sorted boundaries.

    Args:
        input: the values, a tensor or a number.
        boundaries: a sorted 1-D tensor.
        out_int32: give int32 instead of int64.
        right: put a value behind its equals.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.bucketize(vistorch.tensor([3, 6, 9]), vistorch.tensor([1, 3, 5, 7, 9]))
        tensor([1, 3, 4])
    """
    if not isinstance(boundaries, Tensor):
        raise errors.must_be_tensor("bucketize", "boundaries", 2, boundaries)
    if boundaries._data.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._data.ndim})")
    return _found("searchsorted", boundaries, input, right, None, None, out_int32, out)
