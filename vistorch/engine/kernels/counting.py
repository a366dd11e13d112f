"""Distinct values and counts: unique, unique_consecutive, bincount, histc.

Invariant: values are equal as == says, so no two nans are; 0. and -0. are one value, shown as it came first.
"""

from vistorch.engine.kernels.order import order_key, stable_order

from ..library_name import library


def _inverse_and_counts(xp, new, order, return_inverse, return_counts):
    """Return, for a row cut into groups by `new`, the group of each entry and the size of each group."""
    n = new.shape[0]
    inverse = counts = None
    if return_inverse:
        group = xp.cumsum(new, dtype=xp.int64) - 1
        inverse = group
        if order is not None:
            inverse = xp.empty(n, dtype=xp.int64)
            inverse[order] = group
    if return_counts:
        counts = xp.diff(xp.append(xp.nonzero(new)[0], n)).astype(xp.int64)
    return inverse, counts


def _starts(xp, placed):
    """Return a mask of the rows (entries along the first axis) that differ from the one before."""
    new = xp.ones(placed.shape[0], dtype=bool)
    different = placed[1:] != placed[:-1]
    new[1:] = different.any(axis=1) if placed.ndim > 1 else different
    return new


def _by_rows(xp, x, axis):
    """Return x as rows, one for each position along `axis`, or None when there is nothing to compare."""
    zeros = sum(size == 0 for size in x.shape)
    if x.shape[axis] == 0:
        if zeros != 1:
            raise RuntimeError(
                "Number of zero sized dimensions is more than one, so unique cannot be applied "
            )
        return None
    if zeros:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return xp.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)


def _nothing(xp, x, return_inverse, return_counts):
    none = xp.zeros(0, dtype=xp.int64)
    return x.copy(), none if return_inverse else None, none.copy() if return_counts else None


def unique(xp, x, sorted=True, return_inverse=False, return_counts=False, axis=None):
    """Return (values, inverse or None, counts or None); sorted whether asked for or not, nans last.

    Args:
        xp: the array namespace.
        x: an array.
        sorted: accepted for torch's sake.
        return_inverse: say which of the values each entry is (in the shape of x, or along `axis`).
        return_counts: say how often each value occurs.
        axis: compare whole slices along this axis, in lexicographic order; None compares entries.
    """
    if axis is not None:
        return _unique_rows(xp, x, return_inverse, return_counts, axis)
    flat = x.reshape(-1)
    if return_inverse:
        order = stable_order(xp, order_key(xp, flat))
        placed = flat[order]
    else:
        order, placed = None, xp.sort(flat)
    new = _starts(xp, placed)
    values = placed[new]
    if not return_inverse and x.dtype.kind == "f":
        # An unstable sort may have put either zero first.
        zero = values == 0
        if zero.any():
            values[zero] = flat[(flat == 0).argmax()]
    inverse, counts = _inverse_and_counts(xp, new, order, return_inverse, return_counts)
    return values, None if inverse is None else inverse.reshape(x.shape), counts


def _unique_rows(xp, x, return_inverse, return_counts, axis):
    rows = _by_rows(xp, x, axis)
    if rows is None:
        return _nothing(xp, x, return_inverse, return_counts)
    # lexsort takes its first key last.
    order = xp.lexsort(order_key(xp, rows).T[::-1])
    new = _starts(xp, rows[order])
    inverse, counts = _inverse_and_counts(xp, new, order, return_inverse, return_counts)
    return xp.take(x, order[new], axis=axis), inverse, counts


def unique_consecutive(xp, x, return_inverse=False, return_counts=False, axis=None):
    """Return (values, inverse or None, counts or None) of the runs of equal neighbours.

    Args:
        xp: the array namespace.
        x: an array.
        return_inverse: say which run each entry is in (in the shape of x, or along `axis`).
        return_counts: say how long each run is.
        axis: compare whole slices along this axis; None compares the entries of x laid flat.
    """
    if axis is not None:
        rows = _by_rows(xp, x, axis)
        if rows is None:
            return _nothing(xp, x, return_inverse, return_counts)
        new = _starts(xp, rows)
        inverse, counts = _inverse_and_counts(xp, new, None, return_inverse, return_counts)
        return xp.compress(new, x, axis=axis), inverse, counts
    flat = x.reshape(-1)
    new = _starts(xp, flat)
    inverse, counts = _inverse_and_counts(xp, new, None, return_inverse, return_counts)
    return flat[new], None if inverse is None else inverse.reshape(x.shape), counts


def bincount(xp, x, weights=None, minlength=0):
    """Return how often each of 0, 1, ... occurs in a 1-D integer array, or the sum of its weights.

    The result is int64 without weights, float32 for float32 weights and float64 for all others.
    """
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.ndim == 1 and x.size == 0:
        return xp.zeros(minlength, dtype=xp.int64)
    if x.ndim != 1 or (x.dtype.kind == "i" and x.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return xp.bincount(x.astype(xp.int64), minlength=minlength).astype(xp.int64, copy=False)
    if weights.shape != x.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    sums = xp.bincount(x.astype(xp.int64), weights=weights.real.astype(xp.float64), minlength=minlength)
    return sums.astype(xp.float32 if weights.dtype == xp.float32 else xp.float64, copy=False)


def _range(xp, x, low, high):
    """Return the ends of the histogram: those given, or those of the data where the two are one."""
    from_data = low == high
    if from_data and x.size:
        low, high = float(x.min()), float(x.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        # A nan found in the data is printed with the sign the processor gives it.
        ends = [f"-{end:g}" if end != end and from_data else f"{end:g}" for end in (low, high)]
        raise RuntimeError(f"{library}.histc: range of [{ends[0]}, {ends[1]}] is not finite")
    if low > high:
        raise RuntimeError(f"{library}.histc: max must be larger than min")
    return x.dtype.type(low), x.dtype.type(high)


def histc(xp, x, bins=100, min=0, max=0):
    """Return how many values of x fall in each of `bins` equal bins, in the dtype of x; a last bin is closed.

    Args:
        xp: the array namespace.
        x: a float array.
        bins: how many.
        min: lower end; where min == max, both are taken from the data.
        max: upper end. Values outside, and nans, are not counted.
    """
    if bins <= 0:
        raise RuntimeError(f"{library}.histogram(): bins must be > 0, but got {bins} for dimension 0")
    flat = x.reshape(-1)
    low, high = _range(xp, flat, min, max)
    inside = flat[(flat >= low) & (flat <= high)]
    place = ((inside - low) * x.dtype.type(bins) / (high - low)).astype(xp.int64)
    counts = xp.bincount(xp.minimum(place, bins - 1), minlength=bins)
    return counts.astype(x.dtype)
