"""How the nodes of vistorch's own engine are read: `NODES`.

Invariant: nothing is computed and nothing of the graph is changed; no unpack hook of the user's runs.
"""

from __future__ import annotations

from typing import Any

from ..engine.base import dtypes
from ..engine.core.graph import CONST, FREED, IN, OUT, Leaf, Out
from ..engine.core.record import Promoted, unpack_raw
from .formula import Formula, formulas_of
from .lines import note_of
from .memory import root_of
from .source import Edge, Saved


class EngineNodes:
    """Reads nodes of the engine.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.engine_nodes import NODES
        >>> x = vistorch.ones(2, 3, requires_grad=True)
        >>> node = (x * 2).grad_fn
        >>> NODES.name(node), NODES.shape(node), NODES.is_leaf(node)
        ('MulBackward0', (2, 3), False)
        >>> NODES.variable(NODES.edges(node)[0].node) is x
        True
    """

    def is_leaf(self, node: Any) -> bool:
        """Whether a node is where a leaf receives its gradient."""
        return node.__class__ is Leaf

    def variable(self, leaf: Any) -> Any:
        """A leaf's tensor."""
        return leaf.variable

    def name(self, node: Any) -> str:
        """Its class, without a namespace."""
        return type(node).__name__

    def full_name(self, node: Any) -> str:
        """As `node.name()` says it."""
        return node.name()

    def op(self, node: Any) -> str:
        """The name of its row; "" of a Function of the user's."""
        return "" if node.rule is None else node.rule.name

    def arguments(self, node: Any) -> tuple[str, ...]:
        """What its inputs are called."""
        return () if node.rule is None else node.rule.inputs

    def number(self, node: Any) -> int:
        """A number that grows with the order in which nodes are made."""
        return node.seq

    def edges(self, node: Any) -> list[Edge | None]:
        """The ways of its gradients."""
        inputs = node.rule.inputs if node.rule is not None else ()
        names = (*inputs, *[f"input {i}" for i in range(len(inputs), len(node.edges))])
        return [None if e is None else _edge(e, name) for e, name in zip(node.edges, names, strict=False)]

    def onward(self, edge: Edge) -> Edge | None:
        """Where a view or a copy of one tensor leads on to."""
        node = edge.node
        if getattr(node, "outs", 1) > 1:
            return _copied(node, edge.output)
        return _edge(node.edges[0], "") if len(node.edges) == 1 and node.edges[0] is not None else None

    def shape(self, node: Any) -> tuple[int, ...]:
        """The shape of its first output."""
        return tuple(getattr(node, "shape", ()) or ())

    def dtype(self, node: Any) -> str:
        """The type of its first output."""
        found = getattr(node, "dtype", None)
        return "" if found is None else dtypes.of(found).name

    def device(self, node: Any) -> str:
        """Where its first output is."""
        return str(node.place.device)

    def place(self, node: Any) -> Any:
        """Where the line stands that made it."""
        return note_of(node).get("line")

    def formulas(self, node: Any) -> list[Formula]:
        """A formula for each of its inputs."""
        return formulas_of(node)

    def saved(self, node: Any) -> list[Saved]:
        """What it keeps, as far as it can be had."""
        found = []
        for (kind, index, _), value in saved_of(node):
            if kind not in (IN, OUT, CONST):
                continue
            what = "input" if kind == IN else "output" if kind == OUT else "constant"
            rule = node.rule
            name = rule.inputs[index] if kind == IN else f"out{index or ''}"
            name = rule.consts[index] if kind == CONST else name
            shaped = hasattr(value, "nbytes") and hasattr(value, "strides")
            found.append(Saved(name, what, value, root_of(value)[0] if shaped else None))
        return found

    def is_freed(self, node: Any) -> bool:
        """Whether a pass has freed what it saved."""
        return getattr(node, "saved", None) is FREED


NODES = EngineNodes()


def _edge(e: Any, name: str) -> Edge:
    target, output = (e.node, e.nr) if e.__class__ is Out else (e, 0)
    return Edge(target, output, name, tuple(e.shape))


def _copied(node: Any, output: int) -> Edge | None:
    """The parameter that a replica of a network, on one of several devices, has a copy of; None for other outputs."""
    if type(node).__name__ != "BroadcastBackward":
        return None
    sources = [e for e in node.edges if e is not None]
    return _edge(sources[output % len(sources)], "") if sources else None


def saved_of(n: Any) -> list[tuple[tuple, Any]]:
    """What a node saved, as ((kind, index, readers), array or constant); what cannot be had any more is left out.

    Args:
        n: a node of the engine.
    """
    rule = getattr(n, "rule", None)
    if rule is None or n.saved is FREED:
        return []
    found = []
    for entry, save in zip(n.saved, rule.saves, strict=False):
        if entry is None:
            continue
        kind, index, _ = save
        if hasattr(entry, "unpack"):  # what an unpack hook does is the user's: it runs in the pass alone
            continue
        if isinstance(entry, Promoted):
            entry = entry.saved if entry.saved.__class__ is tuple else entry
        try:
            found.append((save, entry if kind == CONST else unpack_raw(n, entry, kind, index)))
        except RuntimeError:  # it was overwritten since
            continue
    return found
