"""Places whose arrays have batch dims, and the four rows that lead there and back.

Each call of `vmap` is a level, and the place of a tensor says for which levels it has a batch dim. Levels need not be
nested: a graph that was recorded in one may be walked with gradients of another, and an op gives what has the batch
dims of all its operands.

`batch` and `unbatch` are each other's gradients, and so are `share` and `share_sum`. A derivative that is taken inside
of a call is therefore each sample's own, and one that is taken around it is the sum over the samples.
Invariant: a tensor has as many batch dims as its place has levels, in their order.
"""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..base.device import CPU_DEVICE
from ..base.events import listeners
from ..base.modes import mode
from ..core import rules, sharing
from ..core.graph import sync_rg
from ..core.op_factory import op
from ..core.record import record
from ..core.rules import REC
from ..core.tensor import Tensor, wrap
from ..memory.lanes import Lanes, Unbatchable, all_samples, apply
from ..memory.placement import BATCHED, CPU, Place
from .by_row import each, kernel_of

__all__ = ["Level", "active", "at_hand", "entered", "left", "level", "levels_of", "shared"]


class _Pointwise:
    """A function of numpy that works element by element, as it is called."""

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            raise Unbatchable(self.function.__name__)
        if any(a.__class__ is Lanes for a in args):
            return apply(self.function, *args)
        return self.function(*args)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("__") else Unbatchable(name)


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

    def arange(self, *given: Any, **named: Any) -> Lanes:
        """Numbers in order, for all samples."""
        return self.asarray(np.arange(*given, **named))

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Whether two arrays may overlap."""
        return np.may_share_memory(all_samples(a), all_samples(b))

    def where(self, *given: Any) -> Any:
        """The values of one or the other."""
        if len(given) != 3:
            raise Unbatchable("where")
        return _Pointwise(np.where)(*given)

    @property
    def lib(self) -> Any:
        """`lib.stride_tricks.as_strided`, of each sample."""
        return _STRIDES

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(np, name, None)
        if isinstance(function, np.ufunc) and function.signature is None:
            return _Pointwise(function)
        raise Unbatchable(name)


def _as_strided(a: Lanes, shape: tuple, strides: tuple) -> Lanes:
    steps = a.array.strides[: a.lead] + tuple(strides)
    return Lanes(np.lib.stride_tricks.as_strided(a.array, a.lanes + tuple(shape), steps), a.lead)


_STRIDES = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=_as_strided))


class Level:
    """One call of a function of samples; those that began later have higher numbers."""

    __slots__ = ("number", "size")
    _count = itertools.count()

    def __init__(self, size: int) -> None:
        self.size, self.number = size, next(Level._count)


class BatchPlace(Place):
    """Where arrays are that have a batch dim for each of some levels, the oldest first."""

    __slots__ = ("__weakref__", "levels", "sizes")

    def __init__(self, levels: tuple) -> None:
        super().__init__(CPU_DEVICE, BATCHED, np)
        self.index = -1
        self.levels, self.sizes = levels, tuple([level.size for level in levels])
        self.xp: Any = _Arrays(self.sizes)


_places: weakref.WeakValueDictionary[tuple, BatchPlace] = weakref.WeakValueDictionary()


def place_of(levels: Any) -> Any:
    """The one place of some levels; the CPU if there are none."""
    if not levels:
        return CPU
    order = tuple(sorted(set(levels), key=lambda level: level.number))
    place = _places.get(order)
    if place is None:
        place = _places[order] = BatchPlace(order)
    return place


def levels_of(place: Any) -> tuple:
    """The levels of a place."""
    return place.levels if place.kind == BATCHED else ()


class _Active(threading.local):
    def __init__(self) -> None:
        self.levels: list[Level] = []


_active = _Active()


def active() -> list[Level]:
    """The calls that this thread is in."""
    return _active.levels


@contextmanager
def level(size: int) -> Iterator[Level]:
    """The time in which a function of samples runs."""
    made = Level(size)
    _active.levels.append(made)
    try:
        yield made
    finally:
        _active.levels.pop()


def at_hand(t: Any) -> bool:
    """Whether samples of a tensor can be computed at once: it is on the CPU, with batch dims or without."""
    return t._place is CPU or t._place.kind == BATCHED


# ---- the rows: `source` is the place of their input, which says where its batch dims are -------------------
def _lanes(a: np.ndarray, lead: int) -> Any:
    return Lanes(a, lead) if lead else a


def _plus(place: Any, levels: tuple) -> Any:
    return place_of((*levels_of(place), *levels))


def _minus(place: Any, levels: tuple) -> Any:
    return place_of([one for one in levels_of(place) if one not in levels])


def _batch(xp: Any, input: Any, dim: int, level: Level, source: Any) -> Any:
    lead = len(levels_of(source))
    at = _plus(source, (level,)).levels.index(level)
    return Lanes(np.moveaxis(all_samples(input), lead + dim, at), lead + 1)


def _unbatch(xp: Any, input: Any, dim: int, level: Level, source: Any) -> Any:
    a, lead, at = all_samples(input), len(source.levels), source.levels.index(level)
    if a.shape[at] != level.size:
        a = np.repeat(a, level.size, at)
    return _lanes(np.moveaxis(a, at, lead - 1 + dim), lead - 1)


def _share(xp: Any, input: Any, added: tuple, source: Any) -> Any:
    a, lead = all_samples(input), len(levels_of(source))
    target = _plus(source, added).levels
    own = iter(a.shape[:lead])
    sizes = [1 if one in added else next(own) for one in target]
    return Lanes(a.reshape((*sizes, *a.shape[lead:])), len(target))


def _share_sum(xp: Any, input: Any, removed: tuple, source: Any) -> Any:
    a, lead = all_samples(input), len(source.levels)
    axes = tuple([source.levels.index(one) for one in removed])
    times = math.prod([one.size for one, at in zip(removed, axes, strict=True) if a.shape[at] != one.size])
    a = a.sum(axes, dtype=a.dtype)
    return _lanes(np.asarray(a if times == 1 else a * a.dtype.type(times)), lead - len(removed))


_ROWS = {
    "batch": op(
        "batch",
        _batch,
        widen=False,
        name_in_graph="BatchBackward0",
        formula=r"\bar x = \mathrm{unbatch}(\bar y)",
        input=lambda F, g, dim, level, source: F.unbatch(g, dim, level, _plus(source, (level,))),
    ),
    "unbatch": op(
        "unbatch",
        _unbatch,
        widen=False,
        name_in_graph="UnbatchBackward0",
        formula=r"\bar x = \mathrm{batch}(\bar y)",
        input=lambda F, g, dim, level, source: F.batch(g, dim, level, _minus(source, (level,))),
    ),
    "share": op(
        "share",
        _share,
        widen=False,
        name_in_graph="ShareBackward0",
        formula=r"\bar x = \textstyle\sum_b \bar y_b",
        input=lambda F, g, added, source: F.share_sum(g, added, _plus(source, added)),
    ),
    "share_sum": op(
        "share_sum",
        _share_sum,
        widen=False,
        name_in_graph="ShareSumBackward0",
        formula=r"\bar x_b = \bar y",
        input=lambda F, g, removed, source: F.share(g, removed, _minus(source, removed)),
    ),
}


def _crossing(name: str, input: Tensor, consts: tuple, place: Any) -> Tensor:
    """The result of a row, which is at another place than its input."""
    rule = _ROWS[name].rule
    consts = (*consts, input._place)
    if input._view is not None:
        input._view.sync(input)
    o = wrap(rule.kernels[0](input._data, *consts), place)
    if mode.on and sync_rg(input):
        record(rule, (input,), consts, (o,))
    if (emit := listeners.op) is not None:
        emit(rule, (input,), consts, (o,))
    return o


def entered(t: Tensor, dim: int, level: Level, source: Any = None) -> Tensor:
    """A tensor whose dim counts the samples, as one sample.

    A gradient may have batch dims that its tensor had not, so where it is counts, and not `source`.
    """
    return _crossing("batch", t, (dim, level), _plus(t._place, (level,)))


def left(t: Tensor, dim: int, level: Level, source: Any = None) -> Tensor:
    """What a function of samples gave, with a dim that counts them."""
    t = shared(t, (level,))
    return _crossing("unbatch", t, (dim, level), _minus(t._place, (level,)))


def shared(t: Tensor, levels: Any, source: Any = None) -> Tensor:
    """A tensor with more batch dims, where all samples share it."""
    own = levels_of(t._place)
    added = tuple([one for one in levels if one not in own])
    return _crossing("share", t, (added,), _plus(t._place, added)) if added else t


def _summed(t: Tensor, removed: tuple, source: Any = None) -> Tensor:
    t = shared(t, removed)
    return _crossing("share_sum", t, (removed,), _minus(t._place, removed))


for _name, _call in (("batch", entered), ("unbatch", left), ("share", shared), ("share_sum", _summed)):
    setattr(REC, _name, _call)


def brought(tensors: Any) -> Any:
    """Tensors with the batch dims of all of them; None if one of them is on another device."""
    levels: set = set()
    for t in tensors:
        if isinstance(t, Tensor):
            if not at_hand(t):
                return None
            levels.update(levels_of(t._place))
    order = place_of(levels).levels
    return tuple([shared(t, order) if isinstance(t, Tensor) else t for t in tensors])


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
