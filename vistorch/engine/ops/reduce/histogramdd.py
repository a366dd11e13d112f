"""Histograms of several dims at once.

Invariant: a point counts where every one of its coordinates is inside; the last bin of each dim is closed.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, errors, return_types
from ...base.dims import flag
from ...core.op_factory import HALVES, op
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import number
from ...library_name import library
from .bin_edges import bin_edges
from .counting import _refusing
from .frame import missing, spelled, tensor


def _histogramdd(xp, input, edges, weight, density):
    points = input.reshape(-1, input.shape[-1])
    inside = xp.ones(points.shape[0], bool)
    place = xp.zeros(points.shape[0], "i8")
    for d, e in enumerate(edges):
        x = points[:, d]
        inside = inside & (x >= e[0]) & (x <= e[-1])
        at = xp.searchsorted(e, x, side="right") - 1
        place = place * (e.shape[0] - 1) + xp.clip(at, 0, e.shape[0] - 2)
    shape = tuple([e.shape[0] - 1 for e in edges])
    count = 1
    for n in shape:
        count *= n
    weights = None if weight is None else weight.reshape(-1)[inside].astype("f8")
    hist = xp.bincount(place[inside], weights, minlength=count).reshape(shape).astype(input.dtype)
    if density:
        hist = hist / hist.sum()
        for d, e in enumerate(edges):
            hist = hist / xp.diff(e).reshape([-1 if i == d else 1 for i in range(len(shape))])
    return (hist, *[e.copy() for e in edges])


_counted = op(
    "histogramdd_of",
    _histogramdd,
    inputs="input",
    outs=None,
    name_in_graph="NotImplemented",
    formula=r"\text{none}",
    input=_refusing("histogramdd"),
)


def _range_of(range: Any, d: int, count: int) -> Any:
    if range is None:
        return None
    if len(range) != 2 * count:
        raise RuntimeError(
            f"{library}.histogramdd: for a {count}-dimensional histogram range should have {2 * count} elements, but "
            f"got {len(range)}"
        )
    return float(range[2 * d]), float(range[2 * d + 1])


@public(method=False)
def histogramdd(input, bins, range=None, weight=None, density=False):
    """How many points fall into each cell of a grid, and the edges of the cells.

    Args:
        input: points, their coordinates in the last dim; float32 or float64.
        bins: how many equal bins, for all dims or for each, or a vector of edges for each.
        range: the lower and upper end of each dim, one after the other; else taken from the data.
        weight: what each point counts for.
        density: divide by the total and the sizes of the cells.

    Example:
        >>> import vistorch
        >>> vistorch.histogramdd(vistorch.tensor([[0.0, 1.0], [1.0, 0.0]]), bins=[2, 2]).hist
        tensor([[0., 1.],
                [1., 0.]])
    """
    a = tensor("histogramdd", input)
    if not isinstance(bins, (int, tuple, list)) or isinstance(bins, bool):
        raise TypeError(
            f"histogramdd() received an invalid combination of arguments - got (Tensor, bins={type(bins).__name__}), "
            "but expected one of:\n * (Tensor input, int bins, tuple of floats range, Tensor weight, bool density)\n"
        )
    if a.ndim < 2:
        raise RuntimeError(f"{library}.histogramdd: input tensor should have at least 2 dimensions")
    count = a.shape[-1]
    if isinstance(bins, int):
        bins = [bins] * count
    given = len(bins) > 0 and isinstance(bins[0], Tensor)
    if not given and range is None and a.dtype.char not in "fd":
        raise missing("histogramdd", a.dtype)
    for value in range or ():
        if number(value) is None or isinstance(value, complex):
            raise TypeError(
                "histogramdd(): argument 'range' must be tuple of floats, but found element of type "
                f"{type(value).__name__}"
            )
    if len(bins) != count:
        if given:
            raise RuntimeError(
                f"{library}.histogramdd: expected {count} sequences of bin edges for a {count}-dimensional histogram "
                f"but got {len(bins)}"
            )
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    if not given:
        bins = [dims.whole(n, "histogramdd", "bins", 2) for n in bins]
    edges = []
    for d, n in enumerate(bins):
        if given:
            if not isinstance(n, Tensor):
                raise TypeError(f"expected Tensor as element {d} in argument 1, but got {type(n).__name__}")
            e = n._data
            if e.dtype != a.dtype:
                raise RuntimeError(
                    f"{library}.histogramdd: input tensor and bins tensors should have the same dtype, but got input "
                    f"with dtype {spelled(a.dtype)} and bins for dimension {d} with dtype {spelled(e.dtype)}"
                )
            if e.ndim != 1:
                raise RuntimeError(
                    f"{library}.histogramdd: bins tensor should have one dimension, but got {e.ndim} dimensions in the "
                    f"bins tensor for dimension {d}"
                )
            edges.append(e)
        else:
            part = wrap(a[..., d], input._place)
            edges.append(bin_edges(part, n, _range_of(range, d, count), d)._data)
    if weight is not None:
        if not isinstance(weight, Tensor):
            raise errors.must_be_tensor("histogramdd", "weight", 4, weight)
        if weight._place is not input._place:
            raise RuntimeError(errors.devices(input._place, weight._place, "histogramdd"))
        if weight._data.dtype != a.dtype:
            raise RuntimeError(
                f"{library}.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
                f"same dtype, but got input({spelled(a.dtype)}), and weight({spelled(weight._data.dtype)})"
            )
        if weight._data.shape != a.shape[:-1]:
            raise RuntimeError(
                f"{library}.histogramdd: if weight tensor is provided it should have the same shape as the input "
                "tensor "
                f"excluding its innermost dimension, but got input with shape {errors.sizes(a.shape)} and weight with "
                f"shape {errors.sizes(weight._data.shape)}"
            )
    if a.dtype.kind not in "f" and a.dtype not in HALVES:
        raise missing("histogram_cpu", a.dtype)
    weights = None if weight is None else weight._data
    hist, *found = _counted(input, tuple(edges), weights, flag(density, "histogramdd", "density"))
    return return_types.make(return_types.histogramdd, (hist, tuple(bins if given else found)))
