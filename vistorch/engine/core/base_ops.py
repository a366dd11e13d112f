"""Rows the executor itself stands on: copies, casts, broadcasting and its inverse, conjugation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.events import listeners
from ..base.modes import mode
from ..kernels import strides, totals
from ..kernels.fast.spread import copied
from ..memory.placement import move
from . import views
from .graph import sync_rg
from .op_factory import op
from .record import record
from .rules import REC
from .tensor import Tensor, wrap

_add: Any = np.add.reduce
_asarray = np.asarray


def _sum_to(xp, input, shape):
    if not shape and input.dtype.kind in "fc":
        if input.flags.c_contiguous and xp is np:
            return _asarray(_add(input, None))
        return xp.asarray(totals.everything(xp, input))
    lead = input.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and input.shape[i + lead] != 1
    )
    return xp.asarray(input.sum(axes, dtype=input.dtype)).reshape(shape)


_SOME = 256  # elements of a broadcast array from which it is cast in two steps


def _cast(xp, input, dtype):
    if input.dtype.kind == "c" and dtype.kind not in "cb":
        input = input.real
    if xp is np and input.__class__ is np.ndarray:
        if 0 in input.strides and input.size > _SOME:  # each number once, then spread as it was
            once = input[tuple([slice(None) if step else slice(0, 1) for step in input.strides])]
            return np.array(np.broadcast_to(copied(once, dtype, "C"), input.shape))
        return copied(input, dtype, _order(input))
    return xp.asarray(input).astype(dtype, order=_order(input))


def _clone(xp, input):
    if xp is np and input.__class__ is np.ndarray:
        return copied(input, input.dtype, _order(input))
    return xp.array(input, order=_order(input))


def _order(input: Any) -> Any:
    """How a copy lies: as the original, or row by row where that has one element for many places."""
    return "C" if 0 in input.strides else "K"


clone_ = op(
    "clone",
    _clone,
    widen=False,
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)
cast = op(
    "cast",
    _cast,
    widen=False,
    name_in_graph="ToCopyBackward0",
    formula=r"\bar x = \mathrm{cast}(\bar y)",
    input=lambda F, g, input_dtype: F.cast(g, input_dtype),
)
sum_to = op(
    "sum_to",
    _sum_to,
    name_in_graph="SumBackward1",
    formula=r"\bar x = \mathrm{broadcast}(\bar y)",
    input=lambda F, g, input_shape: F.expand(g, input_shape),
)
expand = op(
    "expand",
    lambda xp, input, shape: strides.expand(xp, input, shape),
    view=True,
    formula=r"\bar x = \mathrm{sum\_to}(\bar y)",
    input=lambda F, g, input_shape: F.sum_to(g, input_shape),
)
conj = op(
    "conj",
    lambda xp, input: xp.conjugate(input),
    holomorphic=False,
    formula=r"\bar x = \overline{\bar y}",
    input=lambda F, g: F.conj(g),
)
op(
    "copy_grad",
    lambda xp, blank, input: xp.array(input, order="C"),
    inputs="blank input",
    widen=False,
    name_in_graph="CopyBackwards",
    formula={"input": r"\bar x = \bar y"},
    input=lambda F, g: g,
)
zeros_like = op("zeros_like", lambda xp, input: xp.zeros_like(input))
zeros = op("zeros_of", lambda xp, input, shape: xp.zeros(shape, input.dtype))

_to_place = op(
    "to_place",
    lambda xp, input, source, target: move(input, source, target),
    widen=False,
    name_in_graph="ToCopyBackward0",
    input=lambda F, g, source, target: F.to_place(g, target, source),
)


def to_place(t: Tensor, place: Any, non_blocking: bool = False) -> Tensor:
    """A copy of `t` at another place, with history."""
    return _moved(t, t._place, place, non_blocking)


def _moved(t: Tensor, source: Any, target: Any, non_blocking: bool = False) -> Tensor:
    o = wrap(move(t._data, source, target, non_blocking), target)
    if mode.on and sync_rg(t):
        record(_to_place.rule, (t,), (source, target), (o,))
    if (emit := listeners.op) is not None:
        emit(_to_place.rule, (t,), (source, target), (o,))
    return o


def to_dtype(t: Tensor, dtype: np.dtype) -> Tensor:
    """A copy of `t` of another numpy dtype, with history."""
    return cast(t, dtype)


REC.to_place = _moved  # type: ignore[attr-defined]
views.define(op)
