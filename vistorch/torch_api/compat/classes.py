"""Classes with a `__torch_function__` that are no tensors: seen when they are made, while `torch` names vistorch.

A program written for PyTorch expects its functions to ask them. Python tells nobody of a class that is made, so what
makes classes is replaced, and only for such programs. Invariant: it makes the same classes.
"""

from __future__ import annotations

import builtins
from typing import Any

_made = builtins.__build_class__


def _watched(*args: Any, **kwargs: Any) -> Any:
    cls = _made(*args, **kwargs)
    if isinstance(cls, type) and "__torch_function__" in vars(cls):
        from vistorch.overrides import notice

        notice(cls)
    return cls


def watch_classes() -> None:
    """Look at each class that is made from now on."""
    builtins.__build_class__ = _watched


def unwatch_classes() -> None:
    """Look at no class any more."""
    builtins.__build_class__ = _made
