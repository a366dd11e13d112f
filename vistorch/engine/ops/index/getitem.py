"""Reading by index: `x[...]`.

Whole numbers, slices, None and Ellipsis give views; arrays, lists and masks give copies. Invariant: the graph has the
nodes PyTorch makes, one per whole number, slice or new dimension from left to right, though numpy is asked only once.
"""

from __future__ import annotations

from typing import Any

from ...base.events import listeners
from ...base.modes import mode
from ...core.graph import UNTRACKED, Version, draw, leaf_of
from ...core.node_maker import linker
from ...core.op_factory import op
from ...core.registry import METHODS
from ...core.tensor import Tensor, new
from ...core.views import View
from ..shape import rows
from . import where as _where
from .parse import SCALAR, bounds, is_whole, items_of, outside, plan
from .where import Where

new_view = View.__new__


def _index_backward(xp: Any, g: Any, where: Where, shape: tuple) -> Any:
    return _where.write_at(xp, xp.zeros(shape, g.dtype), where, g, True)


whole = op(
    "whole",
    lambda xp, input: input[...],
    view=True,
    name_in_graph="AliasBackward0",
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)
# Several steps at once, as a view remembers them; it has no formula because it is never a node.
basic = op("basic", lambda xp, input, key: input[key], view=True)
index = op(
    "index",
    lambda xp, input, where: _where.read_at(xp, input, where),
    widen=False,
    formula=r"\bar x_{i} = \textstyle\sum \bar y_i,\ 0\text{ elsewhere}",
    input=lambda F, g, where, input_shape: F.index_backward(g, where, input_shape),
)
op(
    "index_backward",
    _index_backward,
    inputs="g",
    name_in_graph="IndexPutImplBackward0",
    formula=r"\bar x = \bar y_{i}",
    g=lambda F, g, where: F.index(g, where),
)
index.rule.saves_tensors = True  # the indices: PyTorch frees them with the graph, and says so the second time
BASIC = basic.rule


def getitem(self: Tensor, index: Any) -> Tensor:
    """`self[index]`."""
    cls = index.__class__
    if cls is int or index is None:
        key = (index, ...)
    elif cls is slice:
        step = index.step
        if step is not None and (step.__class__ is not int or step < 0):
            return _general(self, index)
        key = (index, ...)
    elif cls is tuple:
        dots = False
        for item in index:
            cls = item.__class__
            if cls is slice:
                step = item.step
                if step is not None and (step.__class__ is not int or step < 0):
                    return _general(self, index)
            elif item is Ellipsis:
                dots = True
            elif cls is not int and item is not None:
                return _general(self, index)
        key = index if dots else (*index, ...)
    else:
        return _general(self, index)
    on = mode.on
    if self._view is not None:
        self._view.sync(self)
    if listeners.op is not None or (on is not True and self._rg) or on is None:
        return _general(self, index)
    place = self._place
    try:
        d = self._data[key]
    except (IndexError, TypeError, ValueError):
        d = None
    if d is None:  # out of the handler: an error that follows has no other error for its context
        return _general(self, index)  # which says what is wrong
    o = new(Tensor)
    if self._rg:
        n = _nodes(self, index)
        if n is None:
            return _general(self, index)
        n.seq = draw()
        o._node, o._rg = n, True
    else:
        o._node, o._rg = None, False
    o._data, o._place = d, place
    o._grad = o._more = None
    v = self._ver
    if v is None:
        v = self._ver = Version()
    o._ver = v
    o._view = w = new_view(View)
    origin = self._view
    if origin is None or not origin.steps:
        w.base, w.steps = self, ((BASIC, (key,)),)
        w.meta = None if on else "no_grad"
    else:
        w.base, w.steps = origin.base, (*origin.steps, (BASIC, (key,)))
        w.meta = origin.meta if on else "no_grad"
    w.seen = v.n if v is not UNTRACKED else 0
    return o


def _nodes(x: Tensor, given: Any) -> Any:
    """The newest of the nodes of a basic index; None where the general way is needed."""
    e = x._node
    if e is None:
        e = leaf_of(x)
    shape = x._data.shape
    dtype, place = x._data.dtype, x._place
    dim = 0
    n = None
    for item in given if given.__class__ is tuple else (given,):
        cls = item.__class__
        if cls is int:
            size = shape[dim]
            link, given_shape, consts = SELECT, shape, (dim, item + size if item < 0 else item)
            shape = shape[:dim] + shape[dim + 1 :]
        elif cls is slice:
            size = shape[dim]
            if given is not item and is_whole(item, size):
                dim += 1
                continue
            start, stop, step = bounds(item, size)
            link, given_shape, consts = SLICE, shape, (dim, start, stop, step)
            shape = (*shape[:dim], (stop - start + step - 1) // step, *shape[dim + 1 :])
            dim += 1
        elif item is None:
            link, given_shape, consts = UNSQUEEZE, shape, (dim,)
            shape = (*shape[:dim], 1, *shape[dim:])
            dim += 1
        else:
            dim += x._data.ndim - sum(1 for i in given if i is not None and i is not Ellipsis)
            continue
        if n is not None:
            n.seq = draw()
            e = n
        n = link(e, given_shape, consts, shape, dtype, place)
    return n


def _general(self: Tensor, given: Any) -> Tensor:
    if given is None:
        return rows.unsqueeze(self, 0)
    if given is Ellipsis:
        return whole(self)
    if given.__class__ is slice:
        if not self._data.ndim:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        return rows.slice_(self, 0, *bounds(given, self._data.shape[0]))
    where = None
    if given.__class__ is Tensor:
        where = _where.of_tensor(self, given)
    elif given.__class__ is tuple:
        where = _where.of_tuple(self, given)
    if where is not None:
        return index(self, where)
    items = items_of(given)
    if not self._data.ndim and items is not given and items[0].__class__ is int:
        raise IndexError(SCALAR) if -(2**63) <= items[0] < 2**63 else outside(items[0], 0, 0)
    steps, where = plan(self, items)
    o = self
    for row, consts in steps:
        o = row(o, *consts)
    if where is not None:
        return index(o, where)
    return whole(self) if o is self else o


SELECT, SLICE, UNSQUEEZE = linker(rows.select.rule), linker(rows.slice_.rule), linker(rows.unsqueeze.rule)

METHODS["__getitem__"] = getitem
