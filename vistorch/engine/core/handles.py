"""The handle that registering a hook returns.

Invariant: nothing here knows what is hooked; a handle holds its dict weakly, so that it keeps nothing alive.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_ids = itertools.count().__next__


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away; as a context manager, at its end.

    Args:
        hooks_dict: the dict the hook is in, under `id`. It is held weakly if it can be.
        extra_dict: a further dict (or a list of them) with something under the same id.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, inputs, output: print("called"))
        >>> y = layer(vistorch.ones(1))
        called
        >>> handle.remove()
        >>> y = layer(vistorch.ones(1))
        >>> with layer.register_forward_hook(lambda module, inputs, output: print("called")):
        ...     y = layer(vistorch.ones(1))
        called
    """

    __slots__ = ("__weakref__", "_extra", "_hooks", "id")

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self._hooks = _weakly(hooks_dict)
        extra = () if extra_dict is None else extra_dict if isinstance(extra_dict, list) else (extra_dict,)
        self._extra = tuple([_weakly(d) for d in extra])
        self.id = _ids()

    def remove(self) -> None:
        """Take the hook away; doing so twice is fine."""
        for known in (self._hooks, *self._extra):
            hooks = known()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return self._hooks(), self.id, tuple([known() for known in self._extra])

    def __setstate__(self, state: tuple) -> None:
        global _ids
        hooks, self.id, *extra = state
        self._hooks = _weakly(OrderedDict() if hooks is None else hooks)
        self._extra = tuple([_weakly(d) for d in (extra[0] if extra else None) or () if d is not None])
        _ids = itertools.count(max(_ids(), self.id + 1)).__next__  # no later hook takes this one's place

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def _weakly(hooks: Any) -> Callable:
    try:
        return weakref.ref(hooks)
    except TypeError:  # a plain dict
        return lambda: hooks


def handle(hooks: dict, hook: Callable) -> RemovableHandle:
    """Enter a hook into an ordered dict of hooks."""
    h = RemovableHandle(hooks)
    hooks[h.id] = hook
    return h
