"""How the nodes of a torch graph are read, and the order in which a backward pass runs them.

A node is torch's own object (`tensor.grad_fn`); while someone holds it, it is the same one each time it is asked for,
so lists of nodes keep them and they can be keys.

Invariant: reading computes nothing, and no unpack hook of the user's runs.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from typing import Any

from ..debug.formula import Formula
from ..debug.source import Edge, Saved
from . import notes, private, rows
from .real import torch

_NUMBERED = re.compile(r"(?<=Backward)\d+$")


class TorchNodes:
    """Reads nodes of torch."""

    def is_leaf(self, node: Any) -> bool:
        """Whether a node is where a leaf receives its gradient."""
        return hasattr(node, "variable")

    def variable(self, leaf: Any) -> Any:
        """A leaf's tensor."""
        return leaf.variable

    def name(self, node: Any) -> str:
        """Its class, without a namespace."""
        return node.name().rpartition("::")[2]

    def full_name(self, node: Any) -> str:
        """As `node.name()` says it."""
        return node.name()

    def op(self, node: Any) -> str:
        """The name of our row, or of PyTorch's function where no row is known; "" of a Function of the user's."""
        if private.function_of(node) is not None:
            return ""
        rule = rows.row_of(node)
        return rows.called(node.name()) if rule is None else rule.name

    def arguments(self, node: Any) -> tuple[str, ...]:
        """What its inputs are called, as our rows call them."""
        rule = rows.row_of(node)
        return rows.inputs_of(node) if rule is None else rule.inputs

    def number(self, node: Any) -> int:
        """A number that grows with the order in which nodes are made."""
        return private.sequence(node)

    def edges(self, node: Any) -> list[Edge | None]:
        """The ways of its gradients."""
        names = rows.inputs_of(node)
        found: list[Edge | None] = []
        for i, (target, output) in enumerate(node.next_functions):
            if target is None:
                found.append(None)
                continue
            found.append(
                Edge(target, output, names[i] if i < len(names) else f"input {i}", _shape(target, output))
            )
        return found

    def shape(self, node: Any) -> tuple[int, ...]:
        """The shape of its first output."""
        return _shape(node, 0)

    def dtype(self, node: Any) -> str:
        """The type of its first output."""
        if self.is_leaf(node):
            return str(node.variable.dtype).removeprefix("torch.")
        found = private.outputs(node)
        return str(found[0][1]).removeprefix("torch.") if found else ""

    def device(self, node: Any) -> str:
        """Where its first output is."""
        if self.is_leaf(node):
            return str(node.variable.device)
        found = private.outputs(node)
        return str(found[0][2]) if found else ""

    def place(self, node: Any) -> Any:
        """Where the line stands that made it."""
        return notes.place_of(node)

    def onward(self, edge: Edge) -> Edge | None:
        """Where a view or a copy of one tensor leads on to."""
        below = self.edges(edge.node)
        if edge.node.name() == "BroadcastBackward":  # a replica of a network, on one of several devices
            sources = [e for e in below if e is not None]
            return sources[edge.output % len(sources)] if sources else None
        return below[0] if len(below) == 1 else None

    def formulas(self, node: Any) -> list[Formula]:
        """A formula for each of its inputs."""
        return rows.formulas_of(node)

    def saved(self, node: Any) -> list[Saved]:
        """What it keeps, as far as it can be had without running a hook."""
        found = []
        for name in private.saved_names(node):
            if private.packed(node, name):
                continue
            try:
                value = private.saved(node, name)
            except (RuntimeError, AttributeError, TypeError):  # freed, or written over since
                continue
            several = isinstance(value, (tuple, list)) and any(isinstance(one, torch.Tensor) for one in value)
            parts = [(f"{name}[{i}]", one) for i, one in enumerate(value)] if several else [(name, value)]
            found += [_saved(node, called, one) for called, one in parts if one is not None]
        for i, data in enumerate(private.saved_of_function(node)):
            if data is not None:
                found.append(Saved(f"saved {i}", "input", data, memory_of(data)))
        return found

    def is_freed(self, node: Any) -> bool:
        """Whether a pass has freed what it saved."""
        return private.is_freed(node)


NODES = TorchNodes()


def _saved(node: Any, name: str, value: Any) -> Saved:
    if not isinstance(value, torch.Tensor):
        return Saved(name, "constant", value, None)
    return Saved(name, "output" if name.startswith("result") else "input", value, memory_of(value))


def _shape(node: Any, output: int) -> tuple[int, ...]:
    if hasattr(node, "variable"):
        return private.shape_of(node.variable)
    found = private.outputs(node)
    return found[output][0] if output < len(found) else ()


def memory_of(tensor: Any) -> Any:
    """What tells a tensor's memory from that of others; the tensor itself where it has no storage."""
    return private.memory_of(tensor) or ("no memory", id(tensor))


def key_of(node: Any) -> int:
    """What a node of the order is sorted by: leaves first, then the newest."""
    return -private.sequence(node)


def order_of(roots: Iterable[Any]) -> list[Any]:
    """The nodes of a pass in the order in which torch runs them, each after all that feed it.

    Of those that are ready torch takes the one that was made last, and leaves before all others.

    Args:
        roots: the nodes that it starts from.
    """
    roots = list(dict.fromkeys(roots))
    feeds: dict[Any, int] = dict.fromkeys(roots, 0)
    waiting = list(roots)
    while waiting:
        for target, _ in waiting.pop().next_functions:
            if target is None:
                continue
            if target not in feeds:
                feeds[target] = 0
                waiting.append(target)
            feeds[target] += 1
    count = 0
    ready: list[tuple[int, int, Any]] = []
    for n in roots:
        if not feeds[n]:
            heapq.heappush(ready, (key_of(n), count, n))
            count += 1
    found = []
    while ready:
        n = heapq.heappop(ready)[2]
        found.append(n)
        for target, _ in n.next_functions:
            if target is None:
                continue
            feeds[target] -= 1
            if not feeds[target]:
                heapq.heappush(ready, (key_of(target), count, target))
                count += 1
    return found


def made_by(tensor: Any) -> tuple[Any, int] | None:
    """The node and output that a gradient of a tensor arrives at; None where it has none."""
    if not tensor.requires_grad:
        return None
    try:
        found = torch.autograd.graph.get_gradient_edge(tensor)
    except RuntimeError:  # a leaf that is nested: torch makes a view to find its node, and none can be made
        return None
    return found.node, found.output_nr
