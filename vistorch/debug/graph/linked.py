"""The graph that goes with another record: its nodes know their rows there, and what was found at them.

Invariant: it is made where something is to be shown on it, and never where nothing was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .capture import Source
from .names import Names
from .record import GraphRecord
from .schema import State

MOST = 3000  # nodes; a larger graph is asked for by itself


def linked(
    order: list,
    names: Any = None,
    namespace: Mapping[str, Any] | None = None,
    rows: Callable[[Any], int] | None = None,
) -> GraphRecord | None:
    """The graph of nodes in the order of a pass; None where it is too large to go with something else.

    Args:
        order: the engine's nodes, as a pass has them.
        names: names of tensors, as for `capture`.
        namespace: variables by name.
        rows: the row of a node (-1 for none), where its note does not say.
    """
    if not order or len(order) > MOST:
        return None
    source = Source(order, Names(None if callable(names) else names, namespace=namespace), "backward()")
    if rows is not None:
        for n, number in source.number.items():
            if not isinstance(n, int):  # tensors that no gradient reaches are known by their ids
                source.builder.change(number, row=rows(n))
    return replace(source.builder.record(), says=())


def travelling(graph: GraphRecord | None) -> State | None:
    """The state of such a graph, without the text: the record it goes with has one."""
    return None if graph is None else {**graph.wire(), "text": ""}
