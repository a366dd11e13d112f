"""What the op families offer to the outside: functions of `vistorch`, methods of Tensor, in-place variants.

Invariant: every public op is in FUNCTIONS or METHODS under PyTorch's name, exactly once; `bind` puts them in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import inplace as _inplace
from . import inplace_docs
from .tensor import Tensor

FUNCTIONS: dict[str, Any] = {}
METHODS: dict[str, Any] = {}
# `grad` and `Function` of `vistorch.autograd`, which enters them, for what it stands on itself.
AUTOGRAD: dict[str, Any] = {}


def expose(
    fn: Any,
    name: str | None = None,
    *,
    function: bool = True,
    method: bool = True,
    inplace: bool = False,
    aliases: str = "",
) -> Any:
    """Offer a public op.

    Args:
        fn: the callable, with PyTorch's argument names; the first one is `input`.
        name: PyTorch's name, where not `fn.__name__`.
        function: as `vistorch.name`.
        method: as `Tensor.name`.
        inplace: also `Tensor.name_` (and `vistorch.name_`, where PyTorch has it as a function too).
        aliases: other names, separated by blanks.
    """
    for label in ((name or fn.__name__), *aliases.split()):
        if function:
            _enter(FUNCTIONS, label, fn)
            if label == fn.__name__:
                fn.__module__ = "vistorch"  # where pickle finds it
        if method:
            _enter(METHODS, label, fn)
        if inplace:
            variant = (
                _inplace.pointwise(fn) if hasattr(fn, "plain_types") else _inplace.general(fn, label + "_")
            )
            _enter(METHODS, label + "_", variant)
            if function:
                _enter(FUNCTIONS, label + "_", variant)
    return fn


def public(name: str | None = None, **options: Any) -> Callable:
    """`expose` as a decorator: `@public(inplace=True)`."""

    def give(fn: Any) -> Any:
        return expose(fn, name, **options)

    return give


def _enter(where: dict, label: str, fn: Any) -> None:
    if where.get(label, fn) is not fn:
        raise TypeError(f"two public ops are named {label!r}")
    where[label] = fn


def bind() -> None:
    """Give Tensor its methods (once, when all families are imported)."""
    inplace_docs.describe(METHODS, FUNCTIONS)
    for label, fn in METHODS.items():
        setattr(Tensor, label, fn)
