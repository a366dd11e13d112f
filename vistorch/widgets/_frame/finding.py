"""What a thing is called in the notebook: a variable, or a parameter of a module that is one.

Invariant: nothing is called or computed for the answer but the walk over a module's own modules, and that is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...debug.layers import is_module
from ...debug.source import source_of

MOST = 20_000  # modules looked at


def find(x: Any, namespace: Mapping[str, Any]) -> tuple[str, tuple[str, ...] | None]:
    """Return how a thing is written, "" if it has no name, and the names of its axes, None if they are not known.

    Args:
        x: the thing; only the very same object is found.
        namespace: the variables; those that begin with _ do not count.

    Example:
        >>> from vistorch import nn
        >>> net = nn.Sequential(nn.Linear(2, 3))
        >>> find(net[0].weight, {"net": net})
        ('net[0].weight', ('out', 'in'))
    """
    held = [(name, value) for name, value in list(namespace.items()) if not name.startswith("_")]
    name = next((name for name, value in held if value is x), "")
    if not is_parameter(x):
        return name, None
    path, dims = _in_modules(x, held)
    return name or path, dims


def is_parameter(x: Any) -> bool:
    """Say whether a thing is trained: then its gradient and its last update belong to it."""
    source = source_of(x)
    return source is not None and source.is_parameter(x)


def _in_modules(parameter: Any, held: list[tuple[str, Any]]) -> tuple[str, tuple[str, ...] | None]:
    """Look for a parameter in all modules that have a name."""
    from ...debug.array.axes import dims_of

    looked = 0
    for name, value in held:
        if not is_module(value):
            continue
        for path, module in value.named_modules():
            looked += 1
            if looked > MOST:
                return "", None
            for own, one in module._parameters.items():
                if one is parameter:
                    steps = [*path.split("."), own] if path else [own]
                    code = "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in steps)
                    return name + code, dims_of(module, own, tuple(parameter.shape))
    return "", None
