"""The backward pass in twenty lines: what `Pass.steps` computes, without its speed, hooks, journal or freeing.

Invariant: equal to `Pass`, bit for bit, on every graph without hooks; `tests/engine/test_specification.py` holds it so.
Nothing but that test calls it.
"""

from __future__ import annotations

from typing import Any

from ..core.graph import Leaf, Out
from .node_vjp import fit, vjps_of


def gradients(roots: list, grads: list) -> dict:
    """The gradient of each leaf below the roots, as arrays; numpy's warnings and the grad mode are the caller's.

    Args:
        roots: nodes to start from, each once.
        grads: their gradients, arrays.
    """
    pending, result = dict(zip(roots, grads, strict=True)), {}
    # A leaf has seq -1: it comes last.
    for node in sorted(reachable(roots), key=lambda n: n.seq, reverse=True):
        g = pending.pop(node, None)
        if g is None:
            continue
        if isinstance(node, Leaf):
            result[node.variable] = g
        elif isinstance(node, Out):  # one of several outputs: its gradient joins its siblings'
            pending.setdefault(node.node, [None] * node.node.outs)[node.nr] = g
        else:
            sent = node.run(g, False) if node.rule is None else vjps_of(node, g, create_graph=False)
            for edge, gi in zip(node.edges, sent, strict=True):
                if edge is not None and gi is not None:
                    gi = fit(gi, edge, create_graph=False)
                    pending[edge] = pending[edge] + gi if edge in pending else gi
    return result


def reachable(roots: list) -> set:
    """Every node below the roots."""
    seen: set[Any] = set()
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo.extend(node.edges)
    return seen
