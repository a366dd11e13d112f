"""A parameter that is shown, followed by the name it was shown under: a cell that is run again makes new ones.

Invariant: looking a name up again calls nothing that the name did not call when it was typed: names, attributes and
constant indices are followed, calls and operators are not.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...debug import updates
from .record_of import updated


def follow(code: str, x: Any, namespace: Mapping[str, Any]) -> None:
    """Keep the updates of what a name stands for, also when it comes to stand for something else.

    Args:
        code: how the thing is written, such as `net[0].weight`; what is not a path from a variable is not followed.
        x: the thing.
        namespace: the variables, as they are now and will be.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.debug.updates import forget, last_update
        >>> from vistorch.optim import SGD
        >>> names = {"layer": nn.Linear(2, 1)}
        >>> follow("layer.bias", names["layer"].bias, names)
        >>> names["layer"] = nn.Linear(2, 1)
        >>> names["layer"].bias.sum().backward()
        >>> SGD(names["layer"].parameters(), lr=0.5).step()
        >>> last_update(names["layer"].bias)
        tensor([-0.5000])
        >>> forget()
    """
    if not updated(x):
        return
    try:
        path = ast.parse(code.strip(), mode="eval").body
        if _walk(path, namespace) is not x:
            return
    except Exception:  # no path, or one that leads nowhere: the object alone is remembered
        return
    updates.follow(code.strip(), lambda: updated(_walk(path, namespace)))


def _walk(path: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """Return what a path of names, attributes and constant indices leads to."""
    match path:
        case ast.Name(name):
            return namespace[name]
        case ast.Attribute(value, name):
            return getattr(_walk(value, namespace), name)
        case ast.Subscript(value, index):
            return _walk(value, namespace)[ast.literal_eval(index)]
    raise ValueError(f"no path: {ast.dump(path)}")
