"""What each node keeps for backward, memory that several keep counted once.

Invariant: a memory counts where it was kept first in the forward pass; what a leaf owns counts nowhere, because the
leaf keeps it alive by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.core.graph import CONST, IN, Leaf, Out
from ...engine.core.tensor import Tensor
from ..memory import array_of, root_of
from .record import Kept


def kept_by(order: Iterable[Any]) -> dict[Any, tuple[Kept, ...]]:
    """For each node, what it keeps.

    Args:
        order: nodes in the order of the pass, so the last ones were recorded first.
    """
    nodes = [n for n in order if n.__class__ is not Out]
    counted = {root_of(n.variable._data)[0] for n in nodes if n.__class__ is Leaf}
    found: dict[Any, tuple[Kept, ...]] = {}
    for n in reversed(nodes):
        if n.__class__ is Leaf or not getattr(n, "saved", None):
            continue
        mine, here = [], {}
        for i, value in enumerate(n.saved):
            data = array_of(value)
            if data is None:
                continue
            memory, size = root_of(data)
            alias = memory in counted or memory in here
            here[memory] = size
            mine.append(Kept(_name(n, i), tuple(data.shape), size, alias))
        counted.update(here)
        if mine:
            found[n] = tuple(mine)
    return found


def _name(node: Any, i: int) -> str:
    names = getattr(node.rule, "saved_names", ()) if node.rule is not None else ()
    return names[i] if i < len(names) else f"saved {i}"


def inputs_without_gradient(node: Any) -> list[tuple[str, Any]]:
    """(name, tensor) of the inputs that a node kept and that no gradient flows to."""
    rule = node.rule
    if rule is None or not node.saved:
        return []
    found = []
    for value, (kind, index, _), name in zip(node.saved, rule.saves, rule.saved_names, strict=False):
        if kind != IN or kind == CONST or index >= len(node.edges) or node.edges[index] is not None:
            continue
        if value.__class__ is tuple and value and isinstance(value[0], Tensor) and value[0]._node is None:
            found.append((name, value[0]))
    return found
