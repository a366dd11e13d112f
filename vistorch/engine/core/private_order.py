"""Tensors whose memory order is the engine's own affair: channels last, until someone looks.

Convolutions are faster where the channels of a pixel lie side by side, but PyTorch's results lie row by row, and
strides, views and `numpy()` show it. So what a convolution gives inside the call of a module is kept aside in its own
order, in a class whose slot `_data` is empty: the rows that work in any order take it from there, and at anyone else's
first look it is copied into the order that PyTorch's has. What is left of them when the outermost call returns, or when
hooks look, gets that order and the plain class. All other tensors pay nothing for it.
Invariant: code that reads `_data`, apart from the functions registered here, sees what PyTorch's strides would show.
"""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from ..base.events import listeners
from ..base.modes import mode
from ..kernels.strides import channels_last, scope
from .graph import more, version
from .tensor import Tensor, new

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

    def __copy__(self) -> Any:
        settle(self)
        return copy.copy(self)

    def __deepcopy__(self, memo: Any) -> Any:
        settle(self)
        return self.__deepcopy__(memo)


Private.__name__, Private.__qualname__, Private.__module__ = "Tensor", Tensor.__qualname__, Tensor.__module__
Private.__doc__ = Tensor.__doc__


READERS.update([Tensor.shape.fget.__code__, Tensor.dtype.fget.__code__])  # type: ignore[attr-defined]


def settle(t: Tensor) -> Any:
    """Give a tensor the memory order of PyTorch's, once and for all; returns its array."""
    kept = None
    with _lock:
        if t.__class__ is Private:
            m = t._more
            kept = m.kept_aside
            t._data, m.kept_aside = np.ascontiguousarray(kept), None
            t.__class__ = Tensor
    d = t._data
    if kept is not None and d is not kept and (emit := listeners.phase) is not None:
        emit("settled", t, kept)
    return d


def by_rows(g: Any) -> Any:
    """A gradient in the order in which someone may see it: kernels pass it on with channels last."""
    return np.ascontiguousarray(g) if not g.flags.c_contiguous and channels_last(g) else g


def within(run: Callable, module: Any, args: tuple, kwargs: dict) -> Any:
    """The outermost call of a module: what it leaves behind is in PyTorch's order."""
    scope.open, made = True, []
    scope.made = made
    try:
        return run(module, *args, **kwargs)
    finally:
        scope.open = scope.made = None
        for at in made:
            t = at()
            if t is not None:
                settle(t)


def looked_at(run: Callable, *args: Any) -> Any:
    """A call whose arguments and results are seen by hooks."""
    before = scope.open
    if before is None:
        return run(*args)
    scope.open = False
    try:
        for at in scope.made or ():
            t = at()
            if t is not None:
                settle(t)
        return run(*args)
    finally:
        scope.open = before


def keep(t: Tensor) -> None:
    """Put aside what lies with its channels last; what lies otherwise gets the order of PyTorch's."""
    d = t._data
    if d.flags.c_contiguous or t.__class__ is not Tensor or t._view is not None:
        return
    # a hook that packs what is saved looks at it
    if not scope.open or mode.packers or not channels_last(d):
        t._data = np.ascontiguousarray(d)
        return
    _put_aside(t, d)
    scope.made.append(ref(t))  # type: ignore[union-attr]


def _put_aside(t: Tensor, d: Any) -> None:
    m = more(t)
    with _lock:
        m.kept_aside = d
        del t._data
        t.__class__ = Private


def _shadow(t: Tensor) -> Tensor:
    """A tensor with the array of a private one and its history, for the length of one call.

    Nobody else sees it: the private one itself is read by any thread as before.
    """
    if t._rg and t._node is None:  # a leaf is known by itself
        settle(t)
    d = None if t.__class__ is not Private else t._more.kept_aside
    if d is None:
        return t
    s = new(Tensor)
    s._data, s._place, s._rg, s._node, s._ver = d, t._place, t._rg, t._node, version(t)
    s._grad = s._view = s._more = None
    return s


def _shown(t: Tensor) -> bool:
    with _lock:
        if t.__class__ is not Private:
            return False
        t._data, t._more.kept_aside = t._more.kept_aside, None
        t.__class__ = Tensor
    return True


def through(call: Callable, *args: Any) -> Any:
    """`call(*args)` with the arrays as they lie; what comes out of it is kept aside too."""
    if mode.packers or not scope.open:
        for t in args:
            if t.__class__ is Private:
                settle(t)
        return call(*args)
    if listeners.op is not None or listeners.write is not None:
        return _listened(call, args)
    shadows = {id(t): (_shadow(t), t) for t in args if t.__class__ is Private}
    outs = call(*[shadows[id(t)][0] if id(t) in shadows else t for t in args])
    for s, t in shadows.values():
        if s is t:
            continue
        if outs is s:  # written in place
            t._node, t._rg, outs = s._node, s._rg, t
        if sys.getrefcount(s) > _ALONE:  # the graph keeps it
            _put_aside(s, s._data)
    return _kept(outs)


def _listened(call: Callable, args: tuple) -> Any:
    """The same where listeners know tensors by themselves."""
    shown = [t for t in args if t.__class__ is Private and _shown(t)]
    try:
        outs = call(*args)
    finally:
        for t in shown:
            keep(t)
    return _kept(outs)


def _kept(outs: Any) -> Any:
    for t in outs if outs.__class__ is tuple else (outs,):
        if t.__class__ is Tensor:
            keep(t)
    return outs


def _alone() -> int:
    """The reference count that `through` sees of a shadow that nobody else holds."""
    pairs = {0: (object(), None)}
    for s, _ in pairs.values():
        return sys.getrefcount(s)
    return 0


_ALONE = _alone()
