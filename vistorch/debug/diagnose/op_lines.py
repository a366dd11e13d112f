"""Where the ops of a backward pass were called: `OpLines`, kept by an evidence that is asked to.

A later pass of the same ops has the same lines, so that what is found in it, while nobody follows, has its line too.
Invariant: passes are told apart by the names of all their ops, in order.
"""

from __future__ import annotations

from typing import Any

from ...engine.core.graph import Out
from ..source import Nodes

SHAPES = 16  # kinds of passes whose lines are kept


def ops_of(order: list, nodes: Nodes) -> list:
    """The nodes of a pass that are ops, the oldest first.

    Args:
        order: its nodes, the newest first.
        nodes: reads them.
    """
    return [n for n in reversed(order) if not nodes.is_leaf(n)]


def signature(ops: list, nodes: Nodes) -> tuple[str, ...]:
    """What passes of the same lines have in common: the names of their ops, in order.

    Args:
        ops: the nodes, the oldest first.
        nodes: reads them.
    """
    return tuple([nodes.name(n) for n in ops])


class OpLines:
    """The line and the module of each op of the newest passes.

    Args:
        nodes: reads the nodes of the library that is followed.
        inner: whether a call that is followed makes nodes besides its last, which are of its line too.

    Attributes:
        events: ops that were followed.
        shapes: by the names of a pass's ops: the place and the module of each.
    """

    def __init__(self, nodes: Nodes, inner: bool = False) -> None:
        self.nodes, self.inner = nodes, inner
        self.events = 0
        self.noted: dict[int, tuple[Any, Any]] = {}  # by the number of a node, in this turn
        self.shapes: dict[tuple, list[tuple[Any, Any]]] = {}

    def op(self, evidence: Any, rule: Any, outs: tuple) -> None:
        """Note where the node of an op was made.

        Args:
            evidence: has entered it.
            rule: what ran.
            outs: what came of it.
        """
        self.events += 1
        node = outs[0]._node if outs else None
        if node is not None:
            v = evidence.table.get(id(outs[0]._data))
            if v is not None and v.op == rule.name:
                self.noted[(node.node if node.__class__ is Out else node).seq] = v.place, v.module

    def backward(self, order: list) -> None:
        """Keep where each op of a pass was called.

        Args:
            order: its nodes, the newest first.
        """
        names, places = self.lines(order)
        if len(self.shapes) < SHAPES:
            self.shapes[names] = places

    def lines(self, order: list) -> tuple[tuple[str, ...], list[tuple[Any, Any]]]:
        """The names of a pass's ops, and where each was called.

        Args:
            order: its nodes, the newest first.
        """
        ops = ops_of(order, self.nodes)
        places = [self.noted.get(self.nodes.number(n), (None, None)) for n in ops]
        if self.inner:
            for i in range(len(places) - 2, -1, -1):
                if places[i][0] is None:
                    places[i] = places[i + 1]
        return signature(ops, self.nodes), places

    def forget(self) -> None:
        """A turn is over: the numbers of its nodes are of no use any more."""
        self.noted = {}
