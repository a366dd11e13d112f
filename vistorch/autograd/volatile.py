"""`volatile`, a flag that spreads: nothing computed from such a tensor is recorded, whatever else requires grad.

Ops know nothing of it. While a volatile tensor is alive, a listener sees every op; what was made from a volatile
tensor loses its history at once, and is volatile too. Invariant: when the last one is gone the listener leaves, so that
programs without volatile tensors pay nothing.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from functools import partial
from typing import Any

from ..engine.base.events import Listener
from ..engine.base.warn_once import user_level
from ..engine.core.registry import METHODS
from ..engine.core.tensor import Tensor
from ..engine.library_name import named

REMOVED = "volatile was removed and now has no effect. Use `with vistorch.no_grad():` instead."

_alive: dict[int, weakref.ref] = {}
_lock = threading.Lock()


def is_volatile(t: Any) -> bool:
    """Whether a tensor was made volatile, or computed from one that was."""
    held = _alive.get(id(t))
    return held is not None and held() is t


def make_volatile(t: Tensor) -> None:
    """Let nothing be recorded of what is computed from a tensor."""
    with _lock:
        _mark(t)
        if not _tracker.here:
            _tracker.here = True
            _tracker.__enter__()


def _mark(t: Tensor) -> None:
    key = id(t)
    _alive[key] = weakref.ref(t, partial(_forget, key))


def _forget(key: int, gone: weakref.ref) -> None:
    # Nothing else may happen here: this runs wherever a tensor dies, even while the listeners are being changed.
    if _alive.get(key) is gone:
        del _alive[key]


def _cut(t: Tensor) -> None:
    t._node, t._rg = None, False
    if t._view is not None and is_volatile(t._view.base):
        _cut(t._view.base)  # a write through a view gave it a history too


class _Tracker(Listener):
    """Sees every op while a volatile tensor is alive."""

    here = False

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Let what came from a volatile tensor be volatile."""
        if not _alive:
            self._leave()
        elif any(map(is_volatile, ins)):
            for t in outs:
                _cut(t)
                if not is_volatile(t):
                    _mark(t)

    def _leave(self) -> None:
        with _lock:
            if self.here and not _alive:
                self.here = False
                self.__exit__()

    def write(self, tensor: Tensor, rule: Any) -> None:
        """What is written into a volatile tensor gives it no history."""
        if is_volatile(tensor):
            _cut(tensor)


_tracker = _Tracker()


def _set_volatile(t: Tensor, value: Any) -> None:
    warnings.warn(named(REMOVED), stacklevel=user_level())
    if value:
        make_volatile(t)
    elif is_volatile(t):
        del _alive[id(t)]


METHODS["volatile"] = property(
    is_volatile,
    _set_volatile,
    doc="""Whether nothing computed from the tensor is recorded; true of what was computed from a volatile tensor.

    A flag of PyTorch's first versions: setting it warns, because `with vistorch.no_grad():` came in its place.

    Example:
        >>> import vistorch, warnings
        >>> x = vistorch.ones(2)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     x.volatile = True
        ...     spread = (x * 2).volatile
        ...     x.volatile = False
        >>> spread, (x * 2).volatile
        (True, False)
    """,
)
