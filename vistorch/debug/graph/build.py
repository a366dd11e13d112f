"""Makes a graph record, whatever the graph comes from: this is all that a source of graphs has to call.

Invariant: a record that `record()` gives is tidy: steps are numbered, no level has more boxes than a picture bears,
and the groups that are open at first are chosen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .folding import MOST, first_open
from .record import GraphEdge, GraphGroup, GraphNode, GraphRecord
from .words import one_line, ordinal

RUN = 20  # ops in a synthetic group, and such groups in a larger one
RIDES = {
    "T": "T",
    "Transpose": "T",
    "Permute": "perm",
    "View": "view",
    "UnsafeView": "view",
    "Reshape": "view",
    "Expand": "exp",
    "Unsqueeze": "+1",
    "Squeeze": "−1",
    "Select": "[i]",
    "Slice": "[:]",
    "ToCopy": "cast",
}


class Builder:
    """Collects nodes, edges and groups of one graph.

    Args:
        title: what is shown.
        source: the library whose graph it is, as pages call it.

    Example:
        >>> from vistorch.debug.graph import Builder
        >>> b = Builder("loss.backward()")
        >>> loss = b.node("op", "Mean", shape=())
        >>> x = b.node("input", "AccumulateGrad", label="x", shape=(2, 2))
        >>> b.edge(loss, x, shape=(2, 2))
        >>> print(b.record().text())
        loss.backward(): 1 op
        step  op             output
           1  Mean           scalar
                  x (input)  2 × 2
    """

    def __init__(self, title: str, source: str = "vistorch") -> None:
        self.title, self.source = title, source
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self.groups: list[GraphGroup] = []
        self.roots: list[tuple[int, str]] = []
        self.says: list[str] = []

    def group(self, name: str, parent: int = -1, **more: Any) -> int:
        """Add a group; returns its number.

        Args:
            name: what is shown, a path below its parent.
            parent: the group around it.
            more: other fields of `GraphGroup`.
        """
        self.groups.append(GraphGroup(one_line(name), parent=parent, **more))
        return len(self.groups) - 1

    def node(self, kind: str, op: str, **more: Any) -> int:
        """Add a node; returns its number. Nodes come in the order of the pass.

        Args:
            kind: one of `words.KINDS`.
            op: its short name.
            more: other fields of `GraphNode`.
        """
        if "label" in more:
            more["label"] = one_line(more["label"])
        self.nodes.append(GraphNode(kind, one_line(op), **more))
        return len(self.nodes) - 1

    def change(self, number: int, **fields: Any) -> None:
        """Give a node other values of some of its fields."""
        self.nodes[number] = replace(self.nodes[number], **fields)

    def edge(self, source: int, target: int, **more: Any) -> None:
        """Add the way of a gradient from one node to another.

        Args:
            source: the node it comes from.
            target: the node it flows to.
            more: other fields of `GraphEdge`.
        """
        self.edges.append(GraphEdge(source, target, **more))

    def record(self, most: int = MOST) -> GraphRecord:
        """The finished record.

        Args:
            most: boxes that show at first.
        """
        self._ride()
        step = 0
        for i, n in enumerate(self.nodes):
            if n.kind == "op" and not n.chip:
                step += 1
                self.nodes[i] = replace(n, step=step)
        self._count_uses()
        _split(self, most)
        failed = next((i for i, n in enumerate(self.nodes) if n.kind == "failed"), -1)
        made = GraphRecord(
            self.title,
            tuple(self.nodes),
            tuple(self.edges),
            tuple(self.groups),
            tuple(self.roots),
            tuple(self.says),
            failed=failed,
            source=self.source,
        )
        return made._with(first_open(made, most))

    def _ride(self) -> None:
        """Views between an op and a parameter become signs on the way: `weight.t()` is no step worth a box."""
        out: dict[int, list[int]] = {}
        feeds: dict[int, int] = {}
        for e in self.edges:
            out.setdefault(e.source, []).append(e.target)
            feeds[e.target] = feeds.get(e.target, 0) + 1
        roots = {node for node, _ in self.roots}
        for i in range(len(self.nodes) - 1, -1, -1):
            n, below = self.nodes[i], out.get(i, [])
            if n.kind != "op" or n.op not in RIDES or len(below) != 1 or feeds.get(i) != 1 or i in roots:
                continue
            end = self.nodes[below[0]]
            if end.kind == "parameter" and feeds[below[0]] == 1:
                self.nodes[i] = replace(n, chip=RIDES[n.op])

    def _count_uses(self) -> None:
        """Say which use of a module a group is, where there are several: the pass meets the last use first."""
        same: dict[tuple[int, str], list[int]] = {}
        for g, group in enumerate(self.groups):
            if not group.synthetic:
                same.setdefault((group.parent, group.path or group.name), []).append(g)
        for found in same.values():
            if len(found) > 1:
                for place, g in enumerate(found[-2::-1], 2):
                    self.groups[g] = replace(self.groups[g], use=place, note=f"{ordinal(place)} use")


def _split(b: Builder, most: int) -> None:
    """Put the many children of one level into runs of neighbours, and these into larger runs."""
    units: dict[int, list[tuple[int, int, bool]]] = {}  # of a level: (first op, number, is a group)
    begins: dict[int, int] = {}
    for i, n in enumerate(b.nodes):
        if n.kind in ("op", "failed") and not n.chip:
            units.setdefault(n.group, []).append((i, i, False))
            g = n.group
            while g >= 0 and g not in begins:
                begins[g] = i
                g = b.groups[g].parent
    for g, begin in begins.items():
        units.setdefault(b.groups[g].parent, []).append((begin, g, True))
    new_parent: dict[int, int] = {}
    made: list[GraphGroup] = []
    for level, found in units.items():
        if len(found) <= most:
            continue
        found.sort()
        path = b.groups[level].path if level >= 0 else ""
        waiting = [(level, found)]
        for around, part in waiting:  # grows while it is walked
            runs = min(RUN, -(-len(part) // RUN))
            if len(part) <= most:
                runs = 0
            size = -(-len(part) // runs) if runs else 0
            for k in range(runs):
                mine = part[k * size : (k + 1) * size]
                if not mine:
                    break
                number = len(b.groups) + len(made)
                made.append(GraphGroup(_span(b, mine), path, "", around, synthetic=True))
                waiting.append((number, mine))
            if not runs and around != level:
                for _, i, is_group in part:
                    if is_group:
                        new_parent[i] = around
                    else:
                        b.nodes[i] = replace(b.nodes[i], group=around)
    if not made:
        return
    b.groups += made
    for i, parent in new_parent.items():
        b.groups[i] = replace(b.groups[i], parent=parent)
    _sort_groups(b)
    for i, group in enumerate(b.groups):
        if group.synthetic:
            path = f"{group.path}.{group.name}" if group.path else group.name
            b.groups[i] = replace(group, path=path)


def _span(b: Builder, units: list[tuple[int, int, bool]]) -> str:
    """What a run of nodes is called: by the steps it holds."""
    low = b.nodes[units[0][0]].step or units[0][0] + 1
    high = b.nodes[units[-1][0]].step or units[-1][0] + 1
    return f"steps {low} to {high}" if not units[-1][2] else f"steps from {low}"


def _sort_groups(b: Builder) -> None:
    """Parents before their children again."""
    depth: dict[int, int] = {-1: -1}

    def deep(g: int) -> int:
        chain = []
        while g not in depth:
            chain.append(g)
            g = b.groups[g].parent
        for one in reversed(chain):
            depth[one] = depth[g] + 1
            g = one
        return depth[g]

    order = sorted(range(len(b.groups)), key=lambda g: (deep(g), g))
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    b.groups = [replace(b.groups[g], parent=place[b.groups[g].parent]) for g in order]
    b.nodes = [n if n.group < 0 else replace(n, group=place[n.group]) for n in b.nodes]
