"""Which boxes a graph shows: groups as a tree, which of them are worth a frame, which are open at first.

Invariant: what is inside a closed group is shown by that group's box alone; a group of one op has neither frame nor box
of its own, its name stands in the op's box.
"""

from __future__ import annotations

from typing import Any

from ..layers import layer

MOST = 40  # boxes at first sight
VIEWS = frozenset(
    (
        "View",
        "UnsafeView",
        "Reshape",
        "T",
        "Transpose",
        "Permute",
        "Unsqueeze",
        "Squeeze",
        "Expand",
        "Clone",
        "Alias",
    )
)


class Tree:
    """The groups of a record.

    Attributes:
        around: for each group that can be open, those around it that can, innermost first.
        frames: the groups that can be open.
        ops: how many ops each group holds; `real`: those that are no views; `parameters`: how many parameters;
            `saved`: how many bytes.
        home: for each node the innermost frame it stands in, -1 if none.
        named: for each node the group whose name its box shows, -1 if none.
        first: for each group, the first of its ops in the order of the pass.
    """

    def __init__(self, record: Any) -> None:
        nodes, groups = record.nodes, record.groups
        self.nodes, self.groups = nodes, groups
        count = len(groups)
        self.ops, self.saved = [0] * count, [0] * count
        self.first = [len(nodes)] * count
        self.real = [0] * count  # ops that do not merely look at memory in another shape
        own, leaves = [0] * count, [set() for _ in range(count)]
        for i, n in enumerate(nodes):
            if n.group >= 0 and n.kind in ("op", "failed"):
                self.saved[n.group] += n.saved
                if not n.chip:
                    own[n.group] += 1
                    self.real[n.group] += n.op not in VIEWS
                    self.first[n.group] = min(self.first[n.group], i)
        for i, user in parameters_of(record):
            if nodes[user].group >= 0:
                leaves[nodes[user].group].add(i)
        children: list[list[int]] = [[] for _ in groups]
        for g in range(count - 1, -1, -1):
            self.ops[g] += own[g]
            up = groups[g].parent
            if up >= 0:
                self.ops[up] += self.ops[g]
                self.real[up] += self.real[g]
                self.saved[up] += self.saved[g]
                self.first[up] = min(self.first[up], self.first[g])
                leaves[up] |= leaves[g]
                if self.ops[g]:
                    children[up].append(g)
        self.parameters = [len(found) for found in leaves]
        # a group of one op, or around one group only, has no frame of its own
        frame = [self.ops[g] > 1 and (own[g] > 0 or len(children[g]) > 1) for g in range(count)]
        self.frames = [g for g in range(count) if frame[g]]
        self.within: list[int] = []  # the innermost frame around each group
        self.joined: list[int] = []  # the outermost group that shows itself by this one's name
        for g in range(count):
            up = groups[g].parent
            self.within.append(-1 if up < 0 else up if frame[up] else self.within[up])
            self.joined.append(self.joined[up] if up >= 0 and not frame[up] else g)
        self.around = {g: self._chain(self.within[g]) for g in self.frames}
        self.home, self.named = [], []
        for n in nodes:
            g = n.group
            self.home.append(-1 if g < 0 else g if frame[g] else self.within[g])
            self.named.append(g if g >= 0 and not frame[g] and n.kind in ("op", "failed") else -1)

    def _chain(self, g: int) -> list[int]:
        found = []
        while g >= 0:
            found.append(g)
            g = self.within[g]
        return found

    def label(self, g: int) -> str:
        """A group's name with those of the groups around it that show nothing else."""
        start, names = self.joined[g], []
        while True:
            names.append(self.groups[g].title)
            if g == start:
                break
            g = self.groups[g].parent
        out = names.pop()
        for name in reversed(names):
            last = out.rpartition(".")[2]  # an index is written with what it is an index of
            out += name[len(last) :] if name.startswith(f"{last}[") else f".{name}"
        return out

    def about(self, g: int) -> str:
        """A group's class and size."""
        return layer(
            self.groups[g].kind if self.groups[g].kind != self.groups[g].name else "", "", self.groups[g].size
        )

    def own(self, node: int) -> str:
        """The op of a node, "" where the class beside it says the same."""
        op, g = self.nodes[node].op, self.named[node]
        return "" if g >= 0 and op.casefold() == self.groups[g].kind.casefold() else op

    def layer(self, node: int) -> str:
        """Name, class and size of the layer that a node is all of; "" if it is of none, or one op of several."""
        g = self.named[node]
        return "" if g < 0 else layer(self.label(g), self.groups[g].kind, self.groups[g].size)

    def paths(self, g: int) -> list[str]:
        """All that a frame may be called by."""
        group = self.groups[g]
        return [group.path, *([f"{group.path} ({group.note})"] if group.note else []), self.label(g)]

    def shown(self, opened: frozenset[int]) -> list[int]:
        """For each frame: the closed group that hides its inside, or -1."""
        hidden = {-1: -1}
        for g in self.frames:  # parents before children
            above = hidden[self.within[g]]
            hidden[g] = above if above >= 0 else -1 if g in opened else g
        return [hidden[h] for h in self.home]


def parameters_of(record: Any) -> list[tuple[int, int]]:
    """(parameter, op that uses it) in the order of edges; a view on the way is passed over."""
    nodes = record.nodes
    user: dict[int, list[int]] = {}
    found = []
    for e in record.edges:
        if nodes[e.source].chip:
            users = user.get(e.source, [])
        else:
            users = [e.source]
        if nodes[e.target].chip:
            user.setdefault(e.target, []).extend(users)
        elif nodes[e.target].kind == "parameter":
            found += [(e.target, u) for u in users]
    return found


def stages(record: Any, most: int = MOST) -> list[frozenset[int]]:
    """The groups that are open, stage by stage: none at first, then more as `most` boxes allow, alike ones together.

    Args:
        record: the record.
        most: boxes that may show; a parameter beside its op counts half.
    """
    tree = record.tree
    found = [frozenset[int]()]
    if not tree.frames:
        return found
    inside: dict[int, list[int]] = {-1: []}  # the frames directly in each frame
    for g in tree.frames:
        inside[g] = []
        inside[tree.within[g]].append(g)
    boxes: dict[int, float] = dict.fromkeys(inside, 0.0)  # what shows directly in each
    for i, n in enumerate(record.nodes):
        if n.kind in ("op", "failed") and not n.chip:
            boxes[tree.home[i]] += 1
    for _, user in parameters_of(record):
        boxes[tree.home[user]] += 0.5
    # a module of one op between views of it says no more when it is open
    plain = {g for g in tree.frames if not inside[g] and tree.real[g] < 2 and not record.groups[g].synthetic}
    shown = boxes[-1] + len(inside[-1])
    closed = [g for g in inside[-1] if g not in plain]
    while closed:
        kinds: dict[tuple, list[int]] = {}
        for g in closed:
            group = record.groups[g]
            alike = "" if group.synthetic else group.kind or group.name
            kinds.setdefault((len(tree.around[g]), group.synthetic, alike), []).append(g)
        costs = [
            (depth[0], sum([boxes[g] + len(inside[g]) - 1 for g in alike]), alike)
            for depth, alike in kinds.items()
        ]
        costs.sort(key=lambda c: (c[0], c[1], c[2]))
        chosen = next((alike for _, cost, alike in costs if shown + cost <= most), None)
        if chosen is None:
            break
        found.append(found[-1].union(chosen))
        shown += sum([boxes[g] + len(inside[g]) - 1 for g in chosen])
        closed = [g for g in closed if g not in found[-1]] + [
            h for g in chosen for h in inside[g] if h not in plain
        ]
    return found


def first_open(record: Any, most: int = MOST) -> frozenset[int]:
    """The groups that are open at first: the last of the stages.

    Args:
        record: the record.
        most: boxes that may show; a parameter beside its op counts half.
    """
    return stages(record, most)[-1]
