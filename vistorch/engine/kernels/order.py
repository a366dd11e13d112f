"""Sorting and selection along one axis: sort, topk, kthvalue, median, mode, argmax.

Invariant: one order for every kernel here. nan is the largest value, all nans tie, 0. and -0. tie, and ties
keep the order of the input. It is obtained by mapping each dtype to integers with that order.
"""

from vistorch.engine.kernels.scans import running

# Positions share a 64 bit word with a 32 bit key, so longer rows take the two-step path.
_PACKABLE_LENGTH = 1 << 31


def order_key(xp, x, descending=False):
    """Map x to signed integers of 4 or 8 bytes that are in the order of this module."""
    kind, size = x.dtype.kind, x.dtype.itemsize
    if kind == "f":
        integer, shift, canonical_nan, magnitude = (
            (xp.int32, 31, 0x7FC00000, 0x7FFFFFFF)
            if size == 4
            else (xp.int64, 63, 0x7FF8 << 48, (1 << 63) - 1)
        )
        bits = (x + x.dtype.type(0)).view(integer)  # adding 0. turns -0. into 0.
        bits = xp.where(x != x, integer(canonical_nan), bits)
        key = bits ^ ((bits >> integer(shift)) & integer(magnitude))
    elif kind == "u" and size == 8:
        key = x.view(xp.int64) ^ xp.int64(-(1 << 63))
    elif kind == "i" and size == 8:
        key = x
    elif kind == "u" and size == 4:
        key = (x ^ xp.uint32(1 << 31)).view(xp.int32)
    else:
        key = x.astype(xp.int32)
    return ~key if descending else key


def _packed(xp, key):
    """Return words that hold a 32 bit key above its position, or None where they do not fit."""
    if key.dtype.itemsize > 4 or key.shape[-1] >= _PACKABLE_LENGTH:
        return None
    word = key.astype(xp.int64, order="C")  # cupy sorts in place what is contiguous only
    word <<= 32
    word |= xp.arange(key.shape[-1], dtype=xp.int64)
    return word


def _positions(xp, word):
    word &= 0xFFFFFFFF
    return word


def stable_order(xp, key):
    """Return the stable ascending order of integer keys along the last axis, as int64 positions."""
    word = _packed(xp, key)
    if word is not None:
        word.sort(axis=-1)
        return _positions(xp, word)
    # numpy's unstable argsort is vectorised, four times as fast as its stable one; ties are put right after.
    order = xp.argsort(key, axis=-1).astype(xp.int64, copy=False)
    placed = xp.take_along_axis(key, order, axis=-1)
    new = placed[..., 1:] != placed[..., :-1]
    if new.all():
        return order
    if key.shape[-1] >= _PACKABLE_LENGTH:
        return xp.argsort(key, axis=-1, kind="stable").astype(xp.int64, copy=False)
    order[..., 1:] |= xp.cumsum(new, axis=-1, dtype=xp.int64) << 32
    order.sort(axis=-1)
    return _positions(xp, order)


def _last(xp, x, axis):
    """Return x with `axis` moved to the end; a 0-d array becomes one row of one value."""
    return x.reshape(1) if x.ndim == 0 else xp.moveaxis(x, axis, -1)


def _gather(xp, row, positions, x, axis):
    """Return the values at positions, and the positions, with the axes of x."""
    values = xp.take_along_axis(row, positions, axis=-1)
    if x.ndim == 0:
        return values.reshape(()), positions.reshape(())
    return xp.moveaxis(values, -1, axis), xp.moveaxis(positions, -1, axis)


def _pick(xp, row, position, x, axis, keepdim):
    """Return one value per row, and its position, with the axes of x less `axis`."""
    values, positions = _gather(xp, row, position[..., None], x, axis)
    if keepdim or x.ndim == 0:
        return values, positions
    return values.squeeze(axis), positions.squeeze(axis)


def _need_values(name, x, axis):
    if x.ndim and x.shape[axis] == 0:
        place = axis % x.ndim
        raise IndexError(f"{name}(): Expected reduction dim {place} to have non-zero size.")


def sort(xp, x, axis=-1, descending=False, stable=True):
    """Return x sorted along `axis` and the int64 order. The order is stable whether asked for or not."""
    row = _last(xp, x, axis)
    return _gather(xp, row, stable_order(xp, order_key(xp, row, descending)), x, axis)


def argsort(xp, x, axis=-1, descending=False, stable=True):
    """Return the order that sorts x along `axis`."""
    return sort(xp, x, axis, descending, stable)[1]


def msort(xp, x):
    """Return x sorted along its first axis."""
    return sort(xp, x, 0)[0]


def _smallest(xp, key, k):
    """Return the positions of the k smallest keys of each row, in order."""
    n = key.shape[-1]
    if k == 0 or 2 * k > n:
        return stable_order(xp, key)[..., :k]
    word = _packed(xp, key)
    if word is not None:
        word = xp.partition(word, k - 1, axis=-1)[..., :k].copy()
        word.sort(axis=-1)
        return _positions(xp, word)
    chosen = xp.argpartition(key, k - 1, axis=-1)[..., :k].astype(xp.int64)
    chosen.sort(axis=-1)  # so that the stable order below breaks ties by position in x
    within = stable_order(xp, xp.take_along_axis(key, chosen, axis=-1))
    return xp.take_along_axis(chosen, within, axis=-1)


def topk(xp, x, k, axis=-1, largest=True, sorted=True):
    """Return the k largest (or smallest) values along `axis` and where they are; always in order."""
    if not 0 <= k <= (x.shape[axis] if x.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if x.ndim == 0:
        return x.copy(), xp.zeros((), dtype=xp.int64)
    row = _last(xp, x, axis)
    return _gather(xp, row, _smallest(xp, order_key(xp, row, descending=largest), k), x, axis)


def _place(xp, key, k):
    """Return the position of the k-th smallest key of each row, k from 0."""
    word = _packed(xp, key)
    if word is not None:
        return xp.partition(word, k, axis=-1)[..., k] & 0xFFFFFFFF
    return xp.argpartition(key, k, axis=-1)[..., k].astype(xp.int64)


def kthvalue(xp, x, k, axis=-1, keepdim=False):
    """Return the k-th smallest value along `axis`, k from 1, and where it is."""
    _need_values("kthvalue", x, axis)
    if not 1 <= k <= (x.shape[axis] if x.ndim else 1):
        place = axis % x.ndim if x.ndim else 0
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {place}")
    row = _last(xp, x, axis)
    return _pick(xp, row, _place(xp, order_key(xp, row), k - 1), x, axis, keepdim)


def median(xp, x, axis=-1, keepdim=False):
    """Return the lower median along `axis` and where it is; the first nan where there is one."""
    _need_values("median", x, axis)
    row = _last(xp, x, axis)
    place = _place(xp, order_key(xp, row), (row.shape[-1] - 1) // 2)
    if x.dtype.kind == "f":
        bad = xp.isnan(row)
        place = xp.where(bad.any(axis=-1), bad.argmax(axis=-1), place)
    return _pick(xp, row, place, x, axis, keepdim)


def nanmedian(xp, x, axis=-1, keepdim=False):
    """Return the lower median of the values that are not nan, and where it is."""
    row = _last(xp, x, axis)
    bad = xp.isnan(row) if x.dtype.kind == "f" else None
    if bad is None or not bad.any():
        return median(xp, x, axis, keepdim)
    middle = xp.maximum((row.shape[-1] - 1 - bad.sum(axis=-1, dtype=xp.int64)) // 2, 0)
    order = stable_order(xp, order_key(xp, row))
    place = xp.take_along_axis(order, middle[..., None], axis=-1)[..., 0]
    return _pick(xp, row, place, x, axis, keepdim)


def mode(xp, x, axis=-1, keepdim=False):
    """Return the smallest of the most frequent values along `axis`, and its last position.

    No two nans are equal, so a nan is the answer only in a row of nans.
    """
    _need_values("mode", x, axis)
    row = _last(xp, x, axis)
    if row.size == 0:
        return _pick(xp, row, xp.zeros(row.shape[:-1], dtype=xp.int64), x, axis, keepdim)
    order = stable_order(xp, order_key(xp, row))
    placed = xp.take_along_axis(row, order, axis=-1)
    count = xp.arange(row.shape[-1], dtype=xp.int64)
    starts = xp.where(placed[..., 1:] != placed[..., :-1], count[1:], 0)
    # How many equal values end here: the first largest of these closes the first longest run.
    length = xp.zeros(row.shape, dtype=xp.int64)
    length[..., 1:] = count[1:] - running(xp, xp.maximum, starts)
    last = length.argmax(axis=-1)
    place = xp.take_along_axis(order, last[..., None], axis=-1)[..., 0]
    return _pick(xp, row, place, x, axis, keepdim)


def _extreme(xp, name, x, axis, keepdim):
    if axis is None and x.size == 0:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    if axis is None or x.ndim == 0:
        place = xp.asarray(getattr(x.reshape(-1), name)(), dtype=xp.int64)
        return place.reshape((1,) * x.ndim) if keepdim else place
    _need_values(name, x, axis)
    return xp.asarray(getattr(x, name)(axis=axis, keepdims=keepdim), dtype=xp.int64)


def argmax(xp, x, axis=None, keepdim=False):
    """Return the position of the first largest value; the first nan where there is one."""
    return _extreme(xp, "argmax", x, axis, keepdim)


def argmin(xp, x, axis=None, keepdim=False):
    """Return the position of the first smallest value; the first nan where there is one."""
    return _extreme(xp, "argmin", x, axis, keepdim)
