"""Places in sorted rows: searchsorted, bucketize, quantile and nanquantile.

Invariant: rows lie along the last axis and are taken to be in ascending order, nan last.
"""

import numpy

from ..library_name import library
from .fast.spread import BIG, blocks

_BLOCK = 1 << 14  # values at a time on one thread
_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _shape(x):
    return "[" + ", ".join(str(size) for size in x.shape) + "]"


def _check_search(row, values, right, side, sorter):
    name = f"{library}.searchsorted()"
    if side not in (None, "left", "right"):
        raise RuntimeError(f"{name}: side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{name}: side and right can't be set to opposites, got side of left while right was True"
        )
    if values.ndim == 0 and row.ndim != 1:
        raise RuntimeError(
            f"{name}: input value can be a scalar only when boundaries tensor dimension is 1, "
            f"but we got boundaries tensor dim({row.ndim}) and input value's dim(0) numel(1)"
        )
    if row.ndim == 0:
        raise RuntimeError(f"{name}: boundaries tensor should have positive dimension, but got 0 dimension")
    if row.ndim != 1 and row.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            "tensor and input value tensor must match, but we got boundaries tensor "
            f"{_shape(row)} and input value tensor {_shape(values)}"
        )
    if sorter is None:
        return
    if row.shape != sorter.shape:
        raise RuntimeError(
            f"{name}: boundary and sorter must have the same size, but got boundary tensor {_shape(row)}"
            f"and got sorter tensor {_shape(sorter)}"
        )
    if sorter.size and (sorter.min() < 0 or sorter.max() >= sorter.shape[-1]):
        raise RuntimeError(f"{name}: sorter index out of range")


def _bisect(xp, row, values, right):
    """Halve every interval at once. A row entry that compares false (a nan) sends the search to the right."""
    low = xp.zeros(values.shape, dtype=xp.int64)
    high = xp.full(values.shape, row.shape[-1], dtype=xp.int64)
    while (open_ := low < high).any():
        middle = low + ((high - low) >> 1)
        probe = xp.where(open_, middle, 0)
        entry = xp.take_along_axis(row, probe, axis=-1) if row.ndim > 1 else row[probe]
        stop = entry > values if right else entry >= values
        low = xp.where(open_ & ~stop, middle + 1, low)
        high = xp.where(open_ & stop, middle, high)
    return low


def _places(xp, row, values, side):
    """The places of values in one sorted row, on several threads where there are many."""
    if xp is not numpy or values.size < BIG:
        return xp.asarray(xp.searchsorted(row, values, side=side), dtype=xp.int64)
    out = xp.empty(values.shape, xp.int64)
    flat, found = values.reshape(-1), out.reshape(-1)

    def some(start, stop):
        found[start:stop] = row.searchsorted(flat[start:stop], side)

    blocks(some, values.size, _BLOCK, values.size * row.shape[-1].bit_length(), joined=True)
    return out


def searchsorted(xp, row, values, right=False, side=None, sorter=None):
    """Return where each value would go in the last axis of `row`: before its equals, or after them if right.

    Args:
        xp: the array namespace.
        row: one sorted sequence, or one for each leading position of `values`.
        values: an array of any shape.
        right: put a value after its equals.
        side: "left" or "right", another way to say it.
        sorter: the int64 order that sorts `row`, when it is not sorted.
    """
    _check_search(row, values, right, side, sorter)
    right = right or side == "right"
    if sorter is not None:
        row = xp.take_along_axis(row, sorter, axis=-1)
    if row.shape[-1] == 0:
        return xp.zeros(values.shape, dtype=xp.int64)
    if row.ndim == 1 and not (row.dtype.kind == "f" and xp.isnan(row).any()):
        return _places(xp, row, values, "right" if right else "left")
    return _bisect(xp, row, values, right)


def bucketize(xp, values, boundaries, right=False):
    """Return the bucket of each value: searchsorted in one row of boundaries."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(xp, boundaries, values, right)


def check_quantile(xp, x, q, interpolation):
    """Refuse what quantile refuses: dtypes, an empty input, a q outside [0, 1]."""
    if x.size == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if x.dtype.kind != "f":
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if x.dtype != q.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not ((q >= 0) & (q <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")


def quantile_places(xp, placed, q, interpolation="linear", ignore_nan=False):
    """Return (below, above, weight) for sorted rows: the quantile is lerp(row[below], row[above], weight).

    Each has the shape of `placed` with one entry for each q along the last axis; `above` and `weight` are
    None where `below` is the answer by itself. A row with a nan points at it, unless nans are ignored.
    """
    n = placed.shape[-1]
    nans = xp.isnan(placed)
    flat_q = q.reshape(-1)
    if ignore_nan:
        count = (n - nans.sum(axis=-1, dtype=xp.int64)).astype(placed.dtype)
        rank = xp.maximum(flat_q * (count[..., None] - 1), 0)
    else:
        rank = xp.where(nans[..., -1:], placed.dtype.type(n - 1), flat_q * placed.dtype.type(n - 1))
    if interpolation in ("lower", "higher", "nearest"):
        rounding = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}[interpolation]
        return rounding(rank).astype(xp.int64), None, None
    below = xp.floor(rank)
    weight = xp.full_like(rank, 0.5) if interpolation == "midpoint" else rank - below
    return below.astype(xp.int64), xp.ceil(rank).astype(xp.int64), weight


def quantile(xp, x, q, axis=None, keepdim=False, interpolation="linear", ignore_nan=False):
    """Return the quantiles q (0-d or 1-D, dtype of x) of x; those of a 1-D q lie along a new first axis.

    Args:
        xp: the array namespace.
        x: a float array that is not empty.
        q: where in [0, 1].
        axis: the axis to take them along; None for all values.
        keepdim: keep the reduced axis, or all axes, with size 1.
        interpolation: linear, lower, higher, midpoint or nearest.
        ignore_nan: take the quantiles of the values that are not nan.
    """
    check_quantile(xp, x, q, interpolation)
    row = x.reshape(-1) if axis is None or x.ndim == 0 else xp.moveaxis(x, axis, -1)
    placed = xp.sort(row, axis=-1)
    below, above, weight = quantile_places(xp, placed, q, interpolation, ignore_nan)
    out = xp.take_along_axis(placed, below, axis=-1)
    if above is not None and weight is not None:
        end = xp.take_along_axis(placed, above, axis=-1)
        gap = end - out
        # From the nearer end, as torch.lerp: exact at both ends.
        out = xp.where(weight < 0.5, out + weight * gap, end - gap * (1 - weight))
    out = xp.moveaxis(out, -1, 0)
    if keepdim:
        kept = [1] * x.ndim if axis is None else list(x.shape)
        if axis is not None and kept:
            kept[axis] = 1
        out = out.reshape(out.shape[0], *kept)
    return out if q.ndim else out[0, ...]
