"""Running extrema and running log-sum-exp along one axis.

Invariant: every scan returns an array of the input's shape, and position i depends on positions 0..i only.
"""


def running(xp, operation, x, axis=-1):
    """Return the running value of an associative two-argument array function along `axis`."""
    accumulate = getattr(operation, "accumulate", None)
    if accumulate is not None:
        try:
            return accumulate(x, axis=axis)
        except (NotImplementedError, TypeError):
            pass  # cupy has the method on every ufunc but carries out only sums and products
    out = xp.moveaxis(x, axis, -1).copy()
    reach = 1
    while reach < out.shape[-1]:
        # Doubling: after each round a position covers twice as many of its predecessors.
        out[..., reach:] = operation(out[..., :-reach].copy(), out[..., reach:])
        reach *= 2
    return xp.moveaxis(out, -1, axis)


def _running_extreme(xp, operation, x, axis):
    if x.ndim == 0:
        return x.copy(), xp.zeros((), dtype=xp.int64)
    if x.size == 0:
        return x.copy(), xp.zeros(x.shape, dtype=xp.int64)
    x = xp.moveaxis(x, axis, -1)
    best = running(xp, operation, x)
    # A tie moves the index on to the latest occurrence, and so does every further nan.
    record = x == best
    if x.dtype.kind == "f":
        record |= xp.isnan(x)
    places = xp.where(record, xp.arange(x.shape[-1], dtype=xp.int64), 0)
    indices = running(xp, xp.maximum, places)
    values = best
    if x.dtype.kind == "f":
        # Gathered, not `best`: 0. and -0. tie, and the value has to be the one the index names.
        values = xp.take_along_axis(x, indices, axis=-1)
    return xp.moveaxis(values, -1, axis), xp.moveaxis(indices, -1, axis)


def cummax(xp, x, axis):
    """Return the running maximum and the index of its latest occurrence; a nan stays to the end."""
    return _running_extreme(xp, xp.maximum, x, axis)


def cummin(xp, x, axis):
    """Return the running minimum and the index of its latest occurrence; a nan stays to the end."""
    return _running_extreme(xp, xp.minimum, x, axis)


def logcumsumexp(xp, x, axis):
    """Return log(cumsum(exp(x))) without leaving the range of the dtype; x is real."""
    if x.ndim == 0 or x.size == 0:
        return x.copy()
    return running(xp, xp.logaddexp, x, axis)
