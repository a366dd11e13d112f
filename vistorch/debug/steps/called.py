"""What the nodes of a pass and their inputs are called: variables of the code, layers, ops.

Invariant: a tensor is known by its memory and its shape, never kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..breaks.kinds import short
from ..graph.names import HIDDEN


class Called:
    """Names for sentences about a pass.

    Args:
        stepper: whose nodes they are.
        graph: the record of their graph, if there is one.
        places: the number of each node in that graph, or -1.
        namespace: variables by name.
    """

    def __init__(self, stepper: Any, graph: Any, places: Sequence[int], namespace: Mapping[str, Any]) -> None:
        self.stepper, self.graph, self.places = stepper, graph, places
        self.variables: dict[tuple, str] = {}
        for name, value in namespace.items():
            if not name.startswith("_") and name not in HIDDEN and (key := _memory(value)) is not None:
                self.variables.setdefault(key, name)

    def _in_graph(self, number: int) -> tuple[Any, int]:
        if self.graph is None or number >= len(self.places) or (place := self.places[number]) < 0:
            return None, -1
        return self.graph.nodes[place], place

    def label(self, number: int) -> str:
        """The variable or parameter that a node makes or is, "" where none is known."""
        reads, node = self.stepper.reads, self.stepper.nodes[number]
        own = (self.stepper.names.get(reads.variable(node)) or "") if reads.is_leaf(node) else ""
        found, _ = self._in_graph(number)
        return own or ("" if found is None else found.label)

    def node(self, number: int) -> str:
        """A node as a sentence names it: its variable, its layer, its op."""
        if label := self.label(number):
            return label
        found, place = self._in_graph(number)
        layer = self.graph.tree.layer(place) if found is not None else ""
        node = self.stepper.nodes[number]
        return layer or (
            "a leaf" if self.stepper.reads.is_leaf(node) else short(self.stepper.reads.name(node))
        )

    def rides(self, number: int) -> bool:
        """Whether a node is a view on the way to a parameter, which is no step of its own."""
        found, _ = self._in_graph(number)
        return found is not None and bool(found.chip)

    def _transposed(self, number: int) -> str:
        """A parameter that goes into a product transposed, as a layer's weight does."""
        reads, node = self.stepper.reads, self.stepper.nodes[number]
        edges = reads.edges(node)
        if short(reads.name(node)) != "T" or len(edges) != 1 or edges[0] is None:
            return ""
        label = self.label(self.stepper.number.get(edges[0].node, number))
        return label and f"{label}ᵀ"

    def inputs(self, node: Any, known: Any) -> dict[str, str]:
        """The variables that went into a node, by the names of its inputs; those without one are left out.

        Args:
            node: the node.
            known: what its formulas may name.
        """
        reads, found = self.stepper.reads, {}
        for formula, edge in zip(reads.formulas(node), reads.edges(node), strict=False):
            if edge is not None and (number := self.stepper.number.get(edge.node)) is not None:
                if edge.output == 0 and (label := self.label(number) or self._transposed(number)):
                    found[formula.input] = label
        for name, value in {} if known is None else known.inputs.items():
            if name not in found and (key := _memory(value)) in self.variables:
                found[name] = self.variables[key]
        return found


def _memory(value: Any) -> tuple | None:
    """What tells an array or a tensor from others; None for what is neither."""
    data = getattr(value, "_data", value)
    try:
        if (face := getattr(data, "__array_interface__", None)) is not None:
            return face["data"][0], tuple(face["shape"])
        if callable(address := getattr(data, "data_ptr", None)):
            return address(), tuple(data.shape)
    except Exception:  # a tensor without memory, such as one on "meta"
        return None
    return None
