"""`ops`: operators by namespace and name, those of `library` and vistorch's own functions as `ops.aten`.

Invariant: a name is looked up when it is asked for, so that an operator registered later is found.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from vistorch.engine.base.errors import not_built
from vistorch.engine.library_name import library

from .library.operators import OPERATORS

# Namespaces of what PyTorch has compiled, and where these functions are here.
_HERE = {"aten": ("vistorch", "vistorch.nn.functional"), "torchvision": ("vistorch.vision.ops",)}


class _Namespace(ModuleType):
    """The operators of one namespace."""

    def __getattr__(self, name: str) -> Any:
        own = self.__name__.rpartition(".")[2]
        found = OPERATORS.get(own, {}).get(name)
        if found is None and not name.startswith("__"):
            found = _function(own, name)
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{own}' object has no attribute '{name}'")
        return found

    def __dir__(self) -> list[str]:
        return sorted(OPERATORS.get(self.__name__.rpartition(".")[2], {}))


class _Function:
    """A function of vistorch as an operator: called, and reached as `.default`."""

    def __init__(self, function: Any, name: str) -> None:
        self._function, self.__name__ = function, name
        self.default = function

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        return self._function  # one function takes what the overloads take: Tensor, Scalar, dim, ...

    def overloads(self) -> list[str]:
        """Their names: one."""
        return ["default"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def _function(namespace: str, name: str) -> Any:
    for module in _HERE.get(namespace, ()):
        found = getattr(importlib.import_module(module), name, None)
        if callable(found):
            return _Function(found, f"{namespace}.{name}")
    if namespace == "aten":
        method = getattr(importlib.import_module("vistorch").Tensor, name, None)
        # Libraries enter private operators in tables when they are imported, and call few of them.
        found = _MORE.get(name) or (_refusing(name) if name.startswith("_") else method)
        if callable(found):
            return _Function(found, f"aten.{name}")
    return None


def _to_copy(input: Any, **kwargs: Any) -> Any:
    """A copy in another type, on another device or in another order."""
    asked = {
        name: kwargs[name] for name in ("dtype", "device", "memory_format") if kwargs.get(name) is not None
    }
    return input.to(copy=True, **asked)


def _slice(input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    """A part of one dim."""
    return input[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)]


_MORE = {
    "_to_copy": _to_copy,
    "_pin_memory": lambda input, device=None: input.pin_memory(device),
    "alias": lambda input: input[...],
    "slice": _slice,
}


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise not_built(f"{library}.ops.aten.{name}", "call the public function that PyTorch has for it.")

    return refuse


_made: dict[str, _Namespace] = {}


def load_library(path: Any) -> None:
    """Refuse: NotImplementedError that says how to write an operator here.

    Args:
        path: of a compiled library.

    Example:
        >>> import vistorch
        >>> vistorch.ops.load_library("kernels.so")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        NotImplementedError: vistorch.ops.load_library is not built: ...
    """
    raise not_built(
        f"{library}.ops.load_library",
        f"operators compiled for PyTorch cannot be loaded; write them with `{library}.library.custom_op`.",
    )


def __getattr__(name: str) -> Any:
    # Any name is a namespace that may be filled later, but what test runners ask of every module is none.
    if name.startswith(("__", "pytest")):
        raise AttributeError(name)
    return _made.setdefault(name, _Namespace(f"{sys.modules[__name__].__name__}.{name}"))
