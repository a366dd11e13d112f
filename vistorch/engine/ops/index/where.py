"""`Where`: a finished advanced index, as a row's constant; and what numpy does with one.

Invariant: `key` is what numpy and PyTorch agree on: only arrays, masks and full slices. Whole numbers, ranges and new
dimensions were taken care of before, by views, which is why both put the indexed dimensions at the same place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ..create.numbers import fit
from .add_at import add_at

ALL = slice(None)
I8 = np.dtype("i8")
new = object.__new__


class Where:
    """Arrays and masks, one entry per dimension from the first; None where a dimension is not indexed.

    Slots:
        key: the tuple for numpy.
        axis: the dimension, where one array of whole numbers is all there is.
        mask: whether a single mask is all there is, so that no place comes twice.
        watched: (tensor, version) of the tensors the arrays came from.
    """

    __slots__ = ("axis", "key", "mask", "watched")
    key: Any

    def __init__(self, entries: list, watched: tuple) -> None:
        self.watched = watched
        given = [i for i, e in enumerate(entries) if e is not None]
        self.axis, self.mask = None, False
        if len(given) == 1:
            only = entries[given[0]]
            if only.dtype.kind == "b":
                self.mask = True
            elif only.ndim:
                self.axis = given[0]
            self.key = (*[ALL] * given[0], only)
            return
        key: list = []
        for e in entries:
            if e is None:
                key.append(ALL)
            elif e.dtype.kind == "b":
                key.extend(e.nonzero())
            else:
                key.append(e)
        self.key = tuple(key)

    def read(self) -> tuple:
        """The key, if no tensor it came from was written since."""
        for t, n in self.watched:
            v = t._ver
            if v is not None and v.n != n:
                raise RuntimeError(errors.modified(t._data, t._place, None, v.n, n))
        return self.key

    def arrays(self) -> list:
        """The arrays of whole numbers, a mask as the places it holds, with the dimension of each."""
        found, dim = [], 0
        for e in self.key:
            if e is ALL:
                dim += 1
            elif e.dtype.kind == "b":
                for part in e.nonzero():
                    found.append((part, dim))
                    dim += 1
            else:
                found.append((e, dim))
                dim += 1
        return found

    def shape(self, of: tuple) -> tuple:
        """The shape of what the key takes out of an array of shape `of`."""
        found = self.arrays()
        dims = [d for _, d in found]
        front = np.broadcast_shapes(*[a.shape for a, _ in found])
        rest = [n for d, n in enumerate(of) if d not in dims]
        at = dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0
        return (*rest[:at], *front, *rest[at:])


def of_tensor(x: Any, t: Any) -> Where | None:
    """The index that one tensor of whole numbers or one mask makes; None where it needs a closer look."""
    a, d = t._data, x._data
    if t._place is not x._place or not a.ndim:
        return None
    kind = a.dtype
    if kind is I8:
        if not d.ndim:
            return None
        w = new(Where)
        w.axis, w.mask, w.key = 0, False, (a,)
    elif kind.kind == "b" and a.shape == d.shape[: a.ndim]:
        w = new(Where)
        w.axis, w.mask, w.key = None, True, (a,)
    else:
        return None
    v = t._ver
    w.watched = ((t, 0 if v is None else v.n),)
    return w


def of_tuple(x: Any, items: tuple) -> Where | None:
    """The index that full slices and tensors of whole numbers make; None where it needs a closer look."""
    key: list = []
    watched: list = []
    axis = 0
    for item in items:
        cls = item.__class__
        if cls is slice:
            if item.start is not None or item.stop is not None or item.step is not None:
                return None
            key.append(ALL)
        elif item is None or item is Ellipsis or cls is int or getattr(item, "_place", None) is not x._place:
            return None
        else:
            a = item._data
            if a.dtype is not I8 or not a.ndim:
                return None
            v = item._ver
            watched.append((item, 0 if v is None else v.n))
            axis = len(key)
            key.append(a)
    if not watched or len(key) > x._data.ndim:
        return None
    w = new(Where)
    w.mask, w.watched = False, tuple(watched)
    if len(watched) == 1:
        w.axis, w.key = axis, (*[ALL] * axis, key[axis])
    else:
        w.axis, w.key = None, tuple(key)
    return w


def refusal(where: Where, shape: tuple) -> Exception:
    """Why numpy refused a key: PyTorch's exception."""
    found = where.arrays()
    try:
        together = np.broadcast_shapes(*[a.shape for a, _ in found])
    except ValueError:
        shapes = ", ".join(errors.sizes(a.shape) for a, _ in found)
        return IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        )
    if any(shape[d] == 0 for _, d in found):
        return IndexError("index is out of bounds for dimension with size 0")
    first: tuple = (math.inf,)
    for j, (a, d) in enumerate(found):
        n = shape[d]
        flat = np.broadcast_to(a, together).reshape(-1)
        bad = ((flat < -n) | (flat >= n)).nonzero()[0]
        if bad.size and bad[0] < first[0]:
            first = (bad[0], f"index {flat[bad[0]]} is out of bounds for dimension {j} with size {n}")
    return IndexError(first[-1])


def read_at(xp: Any, input: Any, where: Where) -> Any:
    """`input[key]`, contiguous and never a view."""
    key = where.read()
    try:
        if where.axis is not None:
            return input.take(key[-1], where.axis)
        if where.mask and len(key) == 1 and key[0].ndim == 1:
            return input.compress(key[0], 0)
        out = input[key]
    except IndexError:
        if input.size or any(input.shape[d] == 0 for _, d in where.arrays()):
            raise refusal(where, input.shape) from None
        return xp.empty(
            where.shape(input.shape), input.dtype
        )  # there is nothing to read, so nothing is checked
    if getattr(out, "base", None) is not None:
        out = xp.array(out, order="C")
    return out


def write_at(xp: Any, out: Any, where: Where, values: Any, accumulate: bool) -> Any:
    """Write `values` at the places of the key, or add them; `out` itself changes, and only if all is well."""
    key = where.read()
    try:
        if not accumulate or where.mask:
            out[key] = out[key] + values if accumulate else values
        elif where.axis == 0 and values.shape == key[0].shape + out.shape[1:]:
            n = out.shape[0]
            index = key[0].reshape(-1)
            if xp is np and index.size and (index.min() < -n or index.max() >= n):
                raise IndexError
            add_at(xp, out, index, values.reshape(index.shape[0], *out.shape[1:]))
        else:
            added = xp.broadcast_to(values, where.shape(out.shape))
            if xp is np:
                np.add.at(out, key, added)
            else:
                places = xp.arange(out.size).reshape(out.shape)[key]
                flat = out.reshape(-1)
                add_at(xp, flat, places.reshape(-1), added.reshape(-1))
                out[...] = flat.reshape(out.shape)
    except IndexError:
        raise refusal(where, out.shape) from None
    return out


def check_values(where: Where, shape: tuple, values: Any) -> None:
    """Refuse values that do not fit what they are to be written to."""
    if values.ndim == 0 or (values.size == 1 and values.ndim <= 1):
        return
    try:
        target = where.shape(shape)
    except ValueError:
        raise refusal(where, shape) from None
    lead = len(target) - values.ndim
    if lead >= 0 and all(v in (1, t) for v, t in zip(values.shape, target[lead:], strict=True)):
        return
    raise RuntimeError(
        f"shape mismatch: value tensor of shape {errors.sizes(values.shape)} cannot be broadcast to indexing result of "
        f"shape {errors.sizes(target)}"
    )


def check_types(input: Any, values: Any, where: Where, accumulate: bool) -> None:
    """Refuse values of another type; a single one for a single mask is a fill, which casts."""
    if input.dtype != values.dtype:
        if where.mask and values.size == 1 and not accumulate:
            fit(values.item(), input.dtype)
            return
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{dtypes.of(input.dtype).scalar_name} for the destination and "
            f"{dtypes.of(values.dtype).scalar_name} for the "
            "source."
        )
