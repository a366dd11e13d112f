"""Writing by index: `x[...] = v`, and `index_put_`.

A basic index is a view that is written, an advanced one an `index_put_` on a view. Invariant: every check comes before
the first element is written, and what is not recorded is one assignment by numpy.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import errors
from ...base.events import listeners
from ...base.modes import mode
from ...base.numpy_warnings import hushed, without_warnings
from ...core import views
from ...core.base_ops import to_place
from ...core.graph import UNTRACKED, edge, sync_rg, version
from ...core.op_factory import op
from ...core.record import record
from ...core.registry import METHODS
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import HALVES, floating
from ...memory.placement import CPU, move
from ..create.data import cast_array
from ..create.numbers import fit
from . import where as _where
from .getitem import _general as read
from .getitem import getitem
from .parse import items_of, plan, tensor_type, type_name
from .where import Where

F8 = np.dtype("f8")
EXPANDED = (
    "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
    "This also applies to advanced indexing e.g. tensor[indices] = tensor"
)


def _written(xp: Any, input: Any, value: Any) -> Any:
    out = xp.empty(input.shape, input.dtype)
    out[...] = value
    return out


def _put(xp: Any, input: Any, values: Any, where: Where, accumulate: bool) -> Any:
    return _where.write_at(xp, xp.array(input, order="C"), where, values, accumulate)


def _cleared(xp: Any, g: Any, where: Where) -> Any:
    out = xp.array(g, order="C")
    out[where.read()] = 0
    return out


def _zero(F: Any, g: Any) -> Any:
    return F.zeros_like(g)


# The whole tensor is written: PyTorch copies, or fills if the value has no dimensions.
_copy = op(
    "written",
    _written,
    inputs="input value",
    widen=False,
    name_in_graph="CopyBackwards",
    formula={"input": r"\bar x = 0", "value": r"\bar v = \bar y"},
    input=_zero,
    value=lambda F, g: g,
)
# as PyTorch spells it out: the node is a C++ class of its own there
_fill = op(
    "written_fill",
    _written,
    inputs="input value",
    widen=False,
    name_in_graph="FillBackward3",
    formula={"input": r"\bar x = 0", "value": r"\bar v = \sum \bar y"},
    input=_zero,
    value=lambda F, g: F.sum_to(g, ()),
)
index_put_row = op(
    "index_put",
    _put,
    inputs="input values",
    formula={"input": r"\bar x = \bar y,\ 0\text{ at } i", "values": r"\bar v = \bar y_i"},
    input=lambda F, g, where, accumulate: g if accumulate else F.index_cleared(g, where),
    values=lambda F, g, where: F.index(g, where),
)
index_put_row.rule.saves_tensors = True  # the indices
op(
    "index_cleared",
    _cleared,
    widen=False,
    name_in_graph="IndexPutBackward0",
    formula=r"\bar x = \bar y,\ 0\text{ at } i",
    g=lambda F, g, where: F.index_cleared(g, where),
)


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """`self[index] = value`."""
    cls = value.__class__
    a = self._data
    if cls is float or cls is int or cls is bool or cls is complex:
        v = number(value, a.dtype)
        t = None
    elif isinstance(value, Tensor):
        v, t = value._data, value
    else:
        v, t = number(_plain(self, value), a.dtype), None
    if index is False:
        return
    records = mode.on and (sync_rg(self) | (t is not None and sync_rg(t)))  # both: each may be an older view
    if records or self._ver is UNTRACKED or listeners.op is not None:
        _slowly(self, index, wrap(np.asarray(v, a.dtype)) if t is None else t, bool(records))
        return
    if t is None or (t._place is self._place and t._data.dtype == a.dtype):
        cls = index.__class__
        if cls is int or (cls is slice and index.step is None):
            key = (index, ...)
        elif cls is tuple:
            for item in index:
                cls = item.__class__
                if cls is not int and item is not Ellipsis and (cls is not slice or item.step is not None):
                    break
            else:
                key = index if ... in index else (*index, ...)
                return _plainly(self, key, index, v, t)
            return _slowly(self, index, wrap(np.asarray(v, a.dtype)) if t is None else t, False)
        elif cls is Tensor and (t is None or (t is not self and (t._ver is None or t._ver is not self._ver))):
            where = _where.of_tensor(self, index)
            if where is None or 0 in a.strides:
                return _slowly(self, index, wrap(np.asarray(v, a.dtype)) if t is None else t, False)
            key = where.key
        else:
            return _slowly(self, index, wrap(np.asarray(v, a.dtype)) if t is None else t, False)
        return _plainly(self, key, index, v, t)
    _slowly(self, index, wrap(np.asarray(v, a.dtype)) if t is None else t, False)


def _plainly(x: Tensor, key: tuple, index: Any, v: Any, t: Tensor | None) -> None:
    """Nothing is recorded, and the index is one of numpy's: one assignment, if it is allowed."""
    a = x._data
    if (emit := listeners.overwrite) is not None:
        emit(x)
    try:
        if 0 in a.strides and views.aliased(a[key]):
            raise RuntimeError(errors.WRITE_ALIASED)
        a[key] = v
        refused = False
    except (IndexError, TypeError, ValueError):
        refused = True
    if refused:
        # numpy checks before it writes; what it refused is said in PyTorch's words
        _slowly(x, index, wrap(np.asarray(v, a.dtype)) if t is None else t, False)
        return
    version(x).n += 1
    if (emit := listeners.write) is not None:
        emit(x, _copy.rule)


def _plain(x: Tensor, value: Any) -> Any:
    if isinstance(value, (int, float, complex)):  # numpy's float64 and complex128 among them
        return complex(value) if isinstance(value, complex) else value
    if isinstance(value, np.integer):
        return int(value)
    raise TypeError(f"can't assign a {type_name(value)} to a {tensor_type(x)}")


def number(value: Any, dtype: Any) -> Any:
    """A number as what a dtype holds; the half types take one that is too large as infinite."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if dtype in HALVES:
        return hushed(np.asarray(float(fit(value, F8))).astype, dtype)
    return fit(value, dtype)


def _slowly(x: Tensor, index: Any, value: Tensor, records: bool) -> None:
    """Any index, any value, recorded or not."""
    if value._place.kind == errors.BATCHED and x._place.kind != errors.BATCHED:
        raise RuntimeError(errors.VMAP_IN_PLACE)
    items = items_of(index)
    if items is not index and items[0].__class__ in (int, slice):
        region, where = getitem(x, index), None
        if index.__class__ is slice and region._data.shape == x._data.shape and index.step in (None, 1):
            region = x
    else:
        steps, where = plan(x, items)
        region = x
        for row, consts in steps:
            region = row(region, *consts)
    if where is None:
        assign(region, value, records)
    else:
        values = value
        while values._data.ndim > 1 and values._data.shape[0] == 1:
            values = read(values, 0) if values._rg else wrap(values._data[0], values._place)
        _one_mask(items, value)
        index_put_at(region, where, values, False, records)


def _one_mask(items: tuple, value: Tensor) -> None:
    """A single mask and a single value are a masked_fill_ in PyTorch, which takes no bytes."""
    if value._data.size == 1 and sum(1 for i in items if i is not Ellipsis and i.__class__ is not slice) == 1:
        for i in items:
            if isinstance(i, (Tensor, np.ndarray)) and i.ndim and str(i.dtype).endswith("uint8"):
                raise RuntimeError(
                    "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
                )


def assign(region: Tensor, value: Tensor, records: bool) -> None:
    """Write `value`, broadcast and cast, into all of `region`."""
    d = region._data
    if records and not floating(d.dtype):  # whole numbers and bools have no history
        value, records = wrap(value._data, value._place), False
    views.before_write(region, records)
    filled = value._data.ndim == 0 and value._place is CPU and d.ndim > 0
    value = _shaped(region, value)
    v = value._data
    if views.aliased(d):
        raise RuntimeError(errors.WRITE_ALIASED)
    o = None
    if records:
        # a stand-in, because a view of `region` itself must keep the history it has before the write
        src = wrap(v, value._place)
        if value._rg:
            src._node, src._rg = edge(value), True
        o = src
        if region._view is None or region._view.hidden:
            o = wrap(d, region._place)
            old = wrap(d, region._place)
            old._node, old._rg = region._node, region._rg
            record((_fill if filled else _copy).rule, (old, src), (), (o,))
    with without_warnings():
        d[...] = v if v.dtype == d.dtype else cast_array(v, d.dtype)
    version(region).n += 1
    if o is not None:
        views.rebase(region, o)
    if (emit := listeners.write) is not None:
        emit(region, _copy.rule)


def _shaped(region: Tensor, value: Tensor) -> Tensor:
    """The value where the region is, without the leading ones it has too many; refused if it does not broadcast."""
    shape, given = region._data.shape, value._data.shape
    if value._place is not region._place:
        value = to_place(value, region._place)
    while len(given) > len(shape) and given[0] == 1:
        value = read(value, 0) if value._rg else wrap(value._data[0], value._place)
        given = given[1:]
    if len(given) > len(shape):
        kind = tensor_type(value)
        raise RuntimeError(
            f"expand({kind}{{{errors.sizes(given)}}}, size={errors.sizes(shape)}): the number of sizes provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({len(given)})"
        )
    lead = len(shape) - len(given)
    for d in range(len(given) - 1, -1, -1):
        if given[d] not in (1, shape[lead + d]):
            # PyTorch counts the dims of a value as if the leading ones were there
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[lead + d]}) must match the existing size ({given[d]}) at "
                f"non-singleton dimension {lead + d}.  Target sizes: {errors.sizes(shape)}.  Tensor sizes: "
                f"{errors.sizes(given)}"
            )
    return value


def index_put_at(x: Tensor, where: Where, values: Tensor, accumulate: bool, records: bool) -> None:
    """`x[where] = values` (or `+=`), in place."""
    d = x._data
    views.before_write(x, records)
    if values._place is not x._place:
        if values._place.kind == errors.BATCHED:
            raise errors.Unbatchable("values with other batch dims")
        if values._data.ndim or values._place is not CPU:
            errors.check_devices(x._place, values._place)
        values = (
            to_place(values, x._place) if values._rg else wrap(move(values._data, CPU, x._place), x._place)
        )
    v = values._data
    _where.check_values(where, d.shape, v)
    _where.check_types(d, v, where, accumulate)
    if _shares(x, values):
        raise RuntimeError(errors.WRITE_OVERLAP)
    if views.aliased(d):
        warnings.warn(EXPANDED, UserWarning, stacklevel=4)
    o = None
    if records:
        old = wrap(d, x._place)
        if x._rg:
            old._node, old._rg = views.origin_of(x), True
        src = wrap(v, x._place)
        if values._rg:
            src._node, src._rg = edge(values), True
        o = wrap(d, x._place)
        record(index_put_row.rule, (old, src), (where, accumulate), (o,))
    xp = x._place.xp
    if v.ndim and v.size == 1:
        v = v.reshape(())
    if v.dtype != d.dtype:
        v = cast_array(v, d.dtype)
    with without_warnings():
        if accumulate and not d.flags.c_contiguous and xp is np:
            np.add.at(d, where.read(), v)
        else:
            _where.write_at(xp, d, where, v, accumulate)
    version(x).n += 1
    if o is not None:
        views.rebase(x, o)
    if (emit := listeners.write) is not None:
        emit(x, index_put_row.rule)


def _shares(x: Tensor, y: Tensor) -> bool:
    """Whether two dense tensors lie in the same memory, in PyTorch's rough sense."""
    if x is not y and (x._ver is None or x._ver is not y._ver):
        return False
    p, q = x._data, y._data
    return p.flags.forc and q.flags.forc and x._place.kind == 0 and np.may_share_memory(p, q)


def delitem(self: Tensor, index: Any) -> None:
    """`del self[index]` is refused."""
    raise TypeError("Tensor does not support deleting items")


METHODS.update(__setitem__=setitem, __delitem__=delitem)
