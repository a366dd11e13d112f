"""Tensors whose memory order is the engine's own affair: channels last, until someone looks.

Convolutions are faster where the channels of a pixel lie side by side, but PyTorch's results lie row by row, and
strides, views and `numpy()` show it. So what a convolution gives is kept aside in its own order, in a class whose slot
`_data` is empty: the rows that work in any order take it from there, and at anyone else's first look it is copied into
the order that PyTorch's has. All other tensors pay nothing for it.
Invariant: all code that reads `_data`, apart from the functions registered here, sees what PyTorch's strides would show.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.modes import mode
from ..kernels.strides import channels_last
from .graph import more
from .tensor import Tensor

READERS: set = set()  # code that gets the array in whatever order it lies
POINTWISE: set = set()  # code that is sent away with `Elsewhere`, and calls `through`
_lock = threading.Lock()


class Elsewhere(AttributeError):
    """The data of a tensor is kept in its own order."""


class Private(Tensor):
    """A tensor whose array is kept aside."""

    __slots__ = ()
    ndim = property(lambda self: len(self.shape))

    def __getattr__(self, name: str) -> Any:
        if name != "_data":
            raise AttributeError(f"'Tensor' object has no attribute '{name}'", name=name, obj=self)
        code = sys._getframe(1).f_code
        if code in POINTWISE:
            raise Elsewhere
        if code in READERS:
            kept = self._more.kept_aside
            if kept is not None:
                return kept
        return settle(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        settle(self)
        return self.__reduce_ex__(protocol)

    def __deepcopy__(self, memo: Any) -> Any:
        settle(self)
        return self.__deepcopy__(memo)


Private.__name__, Private.__qualname__, Private.__module__ = "Tensor", Tensor.__qualname__, Tensor.__module__
Private.__doc__ = Tensor.__doc__


READERS.update([Tensor.shape.fget.__code__, Tensor.dtype.fget.__code__])  # type: ignore[attr-defined]


def settle(t: Tensor) -> Any:
    """Give a tensor the memory order of PyTorch's, once and for all; returns its array."""
    with _lock:
        if t.__class__ is Private:
            m = t._more
            t._data, m.kept_aside = np.ascontiguousarray(m.kept_aside), None
            t.__class__ = Tensor
    return t._data


def by_rows(g: Any) -> Any:
    """A gradient in the order in which someone may see it: kernels pass it on with channels last."""
    return np.ascontiguousarray(g) if not g.flags.c_contiguous and channels_last(g) else g


def keep(t: Tensor) -> None:
    """Put aside what lies with its channels last; what lies otherwise gets the order of PyTorch's."""
    d = t._data
    if d.flags.c_contiguous or t.__class__ is not Tensor or t._view is not None:
        return
    if mode.packers or not channels_last(d):  # a hook that packs what is saved looks at it
        t._data = np.ascontiguousarray(d)
        return
    m = more(t)
    with _lock:
        m.kept_aside = d
        del t._data
        t.__class__ = Private


def _show(t: Tensor) -> bool:
    with _lock:
        if t.__class__ is not Private:
            return False
        t._data, t._more.kept_aside = t._more.kept_aside, None
        t.__class__ = Tensor
    return True


def through(call: Callable, *args: Any) -> Any:
    """`call(*args)` with the arrays as they lie; what comes out of it is kept aside too."""
    if mode.packers:
        for t in args:
            if t.__class__ is Private:
                settle(t)
        return call(*args)
    shown = [t for t in args if t.__class__ is Private and _show(t)]
    try:
        outs = call(*args)
    finally:
        for t in shown:
            keep(t)
    for t in outs if outs.__class__ is tuple else (outs,):
        if t.__class__ is Tensor:
            keep(t)
    return outs
