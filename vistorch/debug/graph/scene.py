"""The picture of one fold state: boxes with their words, frames, pills and paths, for SVG and page alike.

Invariant: a box is as wide in every fold state, so that nothing else moves when a group opens than must.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ..layout import Box, Layout, Point, Rect, lay_out
from .labels import (
    GROUP,
    NODE,
    ROOT,
    SMALL,
    WORDS,
    Label,
    detail_of,
    group_label,
    labels_of,
    pill_label,
    pills_of,
    rank,
    sizes_of,
)
from .words import cells, shape_text

TALL = 20
PILL = 18


@dataclass(frozen=True)
class Shown:
    """One box: `what` is NODE, GROUP or ROOT, `number` which of these."""

    what: int
    number: int
    rect: Rect
    label: Label


@dataclass(frozen=True)
class Pill:
    """A parameter beside the box in row `owner`; `ride` is the view on the way to it, or -1."""

    node: int
    owner: int
    ride: int
    rect: Rect
    name: str
    detail: str
    right: str


@dataclass(frozen=True)
class Frame:
    """An open group."""

    group: int
    rect: Rect
    title: str
    detail: str


@dataclass
class Link:
    """An edge between two rows of boxes, and the record's edges that it stands for (none from a root)."""

    source: int
    target: int
    edges: list[int] = field(default_factory=list)
    norm: float | None = None
    value: float | None = None
    label: str = ""
    dead: bool = False
    path: list[Point] = field(default_factory=list)


class Scene:
    """What is seen of a record.

    Attributes:
        boxes: in rows that `links` and `pills` name.
        width: of the whole; `height` too.
    """

    def __init__(self, record: Any) -> None:
        self.record = record
        tree = record.tree
        hidden = tree.shown(record.open)
        self.rows: dict[tuple[int, int], int] = {}  # (what, number) -> row
        self.keys: list[tuple[int, int]] = []
        row_of = self._rows(record, hidden)
        links = self._links(record, row_of)
        pills = self._pills(record, row_of, hidden)
        made = self._lay(record, tree, links, pills)
        self.width, self.height = made.width, made.height
        labels = labels_of(record)
        self.boxes = [
            Shown(what, number, made.boxes[row], self._label(record, what, number, labels))
            for row, (what, number) in enumerate(self.keys)
        ]
        self.pills = []
        for row, found in pills.items():
            for (node, ride), rect in zip(found, made.beside[row], strict=True):
                name, detail, right = pill_label(record, node, self.keys[row])
                self.pills.append(Pill(node, row, ride, rect, name, detail, right))
        self.frames = [
            Frame(g, rect, tree.label(g), detail_of(record, g)) for g, rect in sorted(made.frames.items())
        ]
        self.links = links
        for link, path in zip(links, made.paths, strict=True):
            link.path = path

    def _rows(self, record: Any, hidden: list[int]) -> list[int]:
        """The row in which each node is seen; -1 for one that has no box."""
        for k in range(len(record.roots)):
            self._row(ROOT, k)
        found = []
        beside = pills_of(record)
        for i, n in enumerate(record.nodes):
            if n.chip or i in beside:
                found.append(-1)
            elif n.kind in ("op", "failed") and hidden[i] >= 0:
                found.append(self._row(GROUP, hidden[i]))
            else:
                found.append(self._row(NODE, i))
        return found

    def _row(self, what: int, number: int) -> int:
        key = (what, number)
        if key not in self.rows:
            self.rows[key] = len(self.keys)
            self.keys.append(key)
        return self.rows[key]

    def _links(self, record: Any, row_of: list[int]) -> list[Link]:
        made: dict[tuple[int, int], Link] = {}
        for k, (node, _) in enumerate(record.roots):
            if row_of[node] >= 0:
                ends = self.rows[ROOT, k], row_of[node]
                made[ends] = Link(*ends)
        for i, e in enumerate(record.edges):
            a, b = row_of[e.source], row_of[e.target]
            if a >= 0 and b >= 0 and a != b:
                made.setdefault((a, b), Link(a, b)).edges.append(i)
        for link in made.values():
            found = [record.edges[i] for i in link.edges]
            if not found:
                continue
            shapes = {e.shape for e in found}
            link.label = shape_text(found[0].shape) if len(shapes) == 1 else f"{len(found)} tensors"
            link.dead = all(e.dead for e in found)
            norms = [e.norm for e in found if not e.dead]
            if norms and all(v is not None for v in norms):
                link.value = found[0].value if len(found) == 1 else None
                link.norm = math.hypot(*[v for v in norms if v is not None])
        return list(made.values())

    def _pills(self, record: Any, row_of: list[int], hidden: list[int]) -> dict[int, list[tuple[int, int]]]:
        """By row: the leaves beside its box, each with the view on the way to it."""
        beside = pills_of(record)
        ride: dict[int, tuple[int, int]] = {}  # a view: (the op that uses it, the outermost view)
        found: dict[int, list[tuple[int, int]]] = {}
        for e in record.edges:
            user, view = ride.get(e.source, (e.source, -1))
            if record.nodes[e.target].chip:
                ride[e.target] = user, e.target if view < 0 else view
            elif e.target in beside and row_of[user] >= 0 and hidden[user] < 0:
                mine = found.setdefault(row_of[user], [])
                if all(node != e.target for node, _ in mine):
                    mine.append((e.target, view))
        for (
            mine
        ) in found.values():  # weight before bias, as they are registered: the later made come first here
            mine.sort(key=lambda p: (rank(record.nodes[p[0]].label), p[0]))
        return found

    def _lay(self, record: Any, tree: Any, links: list[Link], pills: dict[int, list]) -> Layout:
        width, beside = sizes_of(record)
        boxes = []
        for row, (what, number) in enumerate(self.keys):
            stack = ((beside, PILL),) * len(pills.get(row, ()))
            if what == ROOT:
                text = record.roots[number][1]
                boxes.append(Box(row, int(cells(text) * SMALL) + 8, 14))
            elif what == GROUP:
                home = tree.within[number]
                boxes.append(Box(row, width, TALL, home if home >= 0 else None, stack))
            else:
                n = record.nodes[number]
                home = tree.home[number] if n.kind in ("op", "failed") else -1
                tall = TALL if n.kind in ("op", "failed") else 20
                boxes.append(Box(row, width, tall, home if home >= 0 else None, stack))
        parents = {g: None if tree.within[g] < 0 else tree.within[g] for g in tree.frames}
        titles = {
            g: (
                min(int(cells(tree.label(g)) * 7.2) + 36, width),
                int(cells(detail_of(record, g)) * WORDS) + 22,
            )
            for g in record.open
        }
        return lay_out(boxes, [(link.source, link.target) for link in links], parents, titles=titles)

    def _label(self, record: Any, what: int, number: int, labels: list[Label]) -> Label:
        if what == ROOT:
            return Label(record.roots[number][1], "", "")
        return labels[number] if what == NODE else group_label(record, number)
