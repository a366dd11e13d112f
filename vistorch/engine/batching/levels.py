"""Places whose arrays have batch dims, one for each call of `vmap`, and the four rows that lead there and back.

`batch` and `unbatch` are each other's gradients, and so are `share` and `share_sum`. A derivative that is taken inside
of a call is therefore each sample's own, and one that is taken around it is the sum over the samples.
Invariant: a tensor at a place of `n` levels has `n` batch dims.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base import errors
from ..base.device import CPU_DEVICE
from ..base.events import listeners
from ..base.modes import mode
from ..core import rules, sharing
from ..core.graph import sync_rg
from ..core.op_factory import op
from ..core.record import record
from ..core.rules import REC
from ..core.tensor import Tensor, wrap
from ..memory.placement import BATCHED, Place
from .by_row import each, kernel_of
from ..memory.lanes import Lanes, Unbatchable

__all__ = ["BatchPlace", "current", "entered", "left", "level", "shared"]


class _Arrays:
    """What makes arrays at a place with batch dims: the functions of numpy by their names."""

    def __init__(self, lanes: tuple) -> None:
        self.lanes = lanes

    def _sizes(self, shape: Any) -> tuple:
        return self.lanes + (tuple(shape) if hasattr(shape, "__len__") else (shape,))

    def empty(self, shape: Any, dtype: Any = None, order: Any = "C") -> Lanes:
        """Memory for every sample."""
        return Lanes(np.empty(self._sizes(shape), dtype), len(self.lanes))

    def zeros(self, shape: Any, dtype: Any = None, order: Any = "C") -> Lanes:
        """Zeros for every sample."""
        return Lanes(np.zeros(self._sizes(shape), dtype), len(self.lanes))

    def ones(self, shape: Any, dtype: Any = None, order: Any = "C") -> Lanes:
        """Ones for every sample."""
        return Lanes(np.ones(self._sizes(shape), dtype), len(self.lanes))

    def full(self, shape: Any, fill_value: Any, dtype: Any = None) -> Lanes:
        """One value for every sample."""
        return Lanes(np.full(self._sizes(shape), fill_value, dtype), len(self.lanes))

    def empty_like(self, a: Any, dtype: Any = None, **how: Any) -> Lanes:
        """Memory as of another array."""
        return self.empty(a.shape, dtype or a.dtype)

    def zeros_like(self, a: Any, dtype: Any = None, **how: Any) -> Lanes:
        """Zeros as of another array."""
        return self.zeros(a.shape, dtype or a.dtype)

    def ones_like(self, a: Any, dtype: Any = None, **how: Any) -> Lanes:
        """Ones as of another array."""
        return self.ones(a.shape, dtype or a.dtype)

    def asarray(self, value: Any, dtype: Any = None) -> Lanes:
        """A value that all samples share."""
        if isinstance(value, Lanes):
            return value if dtype is None else value.astype(dtype, copy=False)
        a = np.asarray(value, dtype)
        return Lanes(a.reshape((1,) * len(self.lanes) + a.shape), len(self.lanes))

    def array(self, value: Any, dtype: Any = None, order: Any = "K", copy: Any = True, **how: Any) -> Lanes:
        """The same in new memory."""
        return self.asarray(value, dtype).copy(order)

    def ascontiguousarray(self, value: Any) -> Lanes:
        """The same, row by row."""
        return Lanes(np.ascontiguousarray(value.array), value.lead)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unbatchable(name)


class BatchPlace(Place):
    """Where the arrays of one call of `vmap` are.

    Args:
        outer: the place around it.
        size: how many samples there are.
    """

    __slots__ = ("outer", "sizes")

    def __init__(self, outer: Place, size: int) -> None:
        super().__init__(CPU_DEVICE, BATCHED, np)
        self.index = -1
        self.outer, self.sizes = outer, (*lanes_of(outer), size)
        self.xp: Any = _Arrays(self.sizes)


class _Stack(threading.local):
    def __init__(self) -> None:
        self.places: list[BatchPlace] = []


_stack = _Stack()


def current() -> BatchPlace | None:
    """The place of the innermost call of `vmap` that this thread is in."""
    return _stack.places[-1] if _stack.places else None


@contextmanager
def level(place: BatchPlace) -> Iterator[BatchPlace]:
    """The time in which a function of samples runs."""
    _stack.places.append(place)
    try:
        yield place
    finally:
        _stack.places.pop()


def lanes_of(place: Any) -> tuple:
    """The sizes of a place's batch dims."""
    return place.sizes if place.kind == BATCHED else ()


def _whole(a: Any) -> tuple[np.ndarray, int]:
    return (a.array, a.lead) if a.__class__ is Lanes else (a, 0)


def _lanes(a: np.ndarray, lead: int) -> Any:
    return Lanes(a, lead) if lead else a


def _batch(xp: Any, input: Any, dim: int, place: Any) -> Any:
    a, lead = _whole(input)
    return Lanes(np.moveaxis(a, lead + dim, lead), lead + 1)


def _unbatch(xp: Any, input: Any, dim: int, place: Any) -> Any:
    a, lead = _whole(input)
    n = place.sizes[-1]
    if a.shape[lead - 1] != n:
        a = np.repeat(a, n, lead - 1)
    return _lanes(np.moveaxis(a, lead - 1, lead - 1 + dim), lead - 1)


def _share(xp: Any, input: Any, source: Any, target: Any) -> Any:
    a, lead = _whole(input)
    more = len(target.sizes) - lead
    return Lanes(a.reshape(a.shape[:lead] + (1,) * more + a.shape[lead:]), lead + more)


def _share_sum(xp: Any, input: Any, source: Any, target: Any) -> Any:
    a, lead = _whole(input)
    kept = len(lanes_of(source))
    factor = int(
        np.prod([n for n, m in zip(target.sizes[kept:], a.shape[kept:lead], strict=True) if m != n])
    )
    a = a.sum(tuple(range(kept, lead)), dtype=a.dtype)
    return _lanes(np.asarray(a if factor == 1 else a * a.dtype.type(factor)), kept)


_ROWS = {
    "batch": op(
        "batch",
        _batch,
        widen=False,
        name_in_graph="BatchBackward0",
        formula=r"\bar x = \mathrm{unbatch}(\bar y)",
        input=lambda F, g, dim, place: F.unbatch(g, dim, place),
    ),
    "unbatch": op(
        "unbatch",
        _unbatch,
        widen=False,
        name_in_graph="UnbatchBackward0",
        formula=r"\bar x = \mathrm{batch}(\bar y)",
        input=lambda F, g, dim, place: F.batch(g, dim, place),
    ),
    "share": op(
        "share",
        _share,
        widen=False,
        name_in_graph="ShareBackward0",
        formula=r"\bar x = \textstyle\sum_b \bar y_b",
        input=lambda F, g, source, target: F.share_sum(g, source, target),
    ),
    "share_sum": op(
        "share_sum",
        _share_sum,
        widen=False,
        name_in_graph="ShareSumBackward0",
        formula=r"\bar x_b = \bar y",
        input=lambda F, g, source, target: F.share(g, source, target),
    ),
}


def _crossing(name: str, where: Any) -> Any:
    """A row as a function of tensors whose result is at the place that `where(*consts)` says."""
    rule = _ROWS[name].rule

    def call(input: Tensor, *consts: Any) -> Tensor:
        if input._view is not None:
            input._view.sync(input)
        o = wrap(rule.kernels[0](input._data, *consts), where(*consts))
        if mode.on and sync_rg(input):
            record(rule, (input,), consts, (o,))
        if (emit := listeners.op) is not None:
            emit(rule, (input,), consts, (o,))
        return o

    call.rule = rule  # type: ignore[attr-defined]
    setattr(REC, name, call)
    return call


_to_batch = _crossing("batch", lambda dim, place: place)
_from_batch = _crossing("unbatch", lambda dim, place: place.outer)
_to_share = _crossing("share", lambda source, target: target)
_crossing("share_sum", lambda source, target: source)


def entered(t: Tensor, dim: int, place: BatchPlace) -> Tensor:
    """A tensor whose dim counts the samples, as one sample."""
    return _to_batch(shared(t, place.outer), dim, place)


def left(t: Tensor, dim: int, place: BatchPlace) -> Tensor:
    """What a function of samples gave, with a dim that counts them."""
    return _from_batch(shared(t, place), dim, place)


def shared(t: Tensor, place: Place) -> Tensor:
    """A tensor at a place with more batch dims, where all samples share it."""
    return t if t._place is place else _to_share(t, t._place, place)


def around(place: Any) -> list:
    """A place and those around it, the innermost first."""
    places = [place]
    while places[-1].kind == BATCHED:
        places.append(places[-1].outer)
    return places


def brought(tensors: Any) -> Any:
    """Tensors of several places at the innermost one; None if one of them is not around it."""
    inner = max([t._place for t in tensors if isinstance(t, Tensor)], key=lambda p: len(lanes_of(p)))
    outer = around(inner)
    if any(isinstance(t, Tensor) and t._place not in outer for t in tensors):
        return None
    return tuple([shared(t, inner) if isinstance(t, Tensor) else t for t in tensors])


class _Batched:
    """The kernels of all rows for samples, by name: what a plain backward pass calls."""

    xp = None

    def __getattr__(self, name: str) -> Any:
        if name not in rules.TABLE:
            raise AttributeError(name)
        kernel = rules.TABLE[name].kernels[BATCHED]
        setattr(self, name, kernel)
        return kernel


def _kernel(rule: Any) -> Any:
    return rule.kernels[0] if rule.name in _ROWS else kernel_of(rule)


def _together(function: Any, g: Any, wants: tuple, values: list) -> Any:
    """All gradients of a node at once, one sample after the other."""
    return each(lambda g, *given: function(np, g, wants, *given), (g, *values))


rules.RAW.append(_Batched())  # type: ignore[arg-type]
rules.batching.append(_kernel)
sharing.brought.append(brought)
sharing.together.append(_together)
