"""In-place variants of views: `squeeze_`, `transpose_`, `as_strided_` and the like give a tensor another shape.

Invariant: afterwards the tensor's older views still belong to the memory as it was counted before: what they are
views of then is a hidden tensor, of which the changed one is a view itself.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from ...base import errors
from ...base.events import listeners
from ...base.modes import mode
from ...core import views
from ...core.graph import UNTRACKED, let_go, more, sync_rg, version
from ...core.tensor import Tensor, wrap
from ...core.views import HiddenView


def reshaped(fn: Callable, name: str) -> Callable:
    """The in-place variant of a view."""

    def call(self: Tensor, *args: Any, **named: Any) -> Tensor:
        return become(self, fn, args, named)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{name[:-1]}`, of the tensor itself."
    return call


def become(x: Tensor, fn: Callable, args: tuple, named: dict) -> Tensor:
    """`x` becomes its own view `fn(x, ...)`."""
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(getattr(fn, "__name__", "op") + "_", "self", 1, x)
    views.before_sync(x)
    records = bool(mode.on) and sync_rg(x)
    views.before_write(x, records)
    old = wrap(x._data, x._place)
    old._ver, old._view, old._node, old._rg = x._ver, x._view, x._node, x._rg
    if x._node is None:
        let_go(x)  # of a leaf that was detached too: its older graphs end where nothing is added
    with_views = x._ver is not None and x._ver is not UNTRACKED
    o = fn(old, *args, **named)
    if o is old:
        return x
    x._data = o._data
    v = version(x)
    v.n += 1
    seen = v.n if v is not UNTRACKED else 0
    origin, made = x._view, o._view
    if origin is not None and origin.steps:
        x._view = type(origin)(made.base, made.steps, seen, origin.meta)
        if origin.hidden:
            x._view.root = origin.root  # type: ignore[union-attr]
    elif with_views:
        x._view = HiddenView(old, made.steps, seen, None)
        x._view.root = old._node  # type: ignore[union-attr]
        more(old).shown = weakref.ref(x)
        more(x).own = x._rg and x._node is None  # a leaf stays the end of its gradients' path
    else:
        views.expanded(x)
    if records:
        n = x._node = o._node
        n.__class__ = _named_in_place(n.__class__)
        x._rg = True
    if (emit := listeners.write) is not None:
        emit(x, o._view.steps[-1][0])
    return x


@functools.cache
def _named_in_place(cls: type) -> type:
    """The node class of the in-place form: PyTorch numbers it after the out-of-place ones."""
    stem, number = cls.__name__[:-1], int(cls.__name__[-1])
    after = 3 if stem == "SqueezeBackward" else 1
    slots = {"__slots__": (), "rule": cls.rule, "__module__": cls.__module__}  # type: ignore[attr-defined]
    return type(f"{stem}{number + after}", (cls,), slots)
