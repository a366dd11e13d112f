"""Which module a class or function is of, while `import torch` gives this library and it goes by PyTorch's names.

Invariant: what has been renamed is remembered, and gets its own name back.
"""

from __future__ import annotations

import sys
from typing import Any

_own: dict[Any, str] = {}  # what has been renamed -> the module it is of


def own_module(thing: Any) -> str:
    """The module that defines a class or function, whatever it is called now.

    Args:
        thing: the class or function.

    Example:
        >>> import vistorch
        >>> own_module(vistorch.nn.Linear)
        'vistorch.nn.modules.linear'
    """
    try:
        return _own[thing]
    except (KeyError, TypeError):
        return thing.__module__


def rename(thing: Any, module: str) -> None:
    """Let a class or function say that it is of another module.

    Args:
        thing: the class or function.
        module: the name of that module.
    """
    own = thing.__module__
    thing.__module__ = module
    _own.setdefault(thing, own)


def restore() -> None:
    """Undo every `rename`."""
    for thing, module in _own.items():
        thing.__module__ = module
    _own.clear()


def real_torch() -> Any:
    """The real torch where a program has imported it, else None: not ours under that name. Nothing is imported.

    Example:
        >>> from vistorch.engine.base.namespace import real_torch
        >>> getattr(real_torch(), "__name__", "torch")
        'torch'
    """
    found = sys.modules.get("torch")
    # a module that is still being imported has no version yet
    return None if found is sys.modules.get("vistorch") else found if hasattr(found, "__version__") else None
