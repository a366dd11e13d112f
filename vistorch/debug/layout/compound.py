"""Nested groups: each is solved like a picture of its own and stands in the level above it as one item.

An edge that crosses a frame has an end there, which all edges to the same neighbour share; the level above leads on
from that end. Which edges must lead upwards, because groups feed each other both ways, is settled from the outside in;
then groups are solved from the inside out. Nothing is recursive.

Invariant: a frame holds its members and nothing else, because its level holds nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .level import Item, Placed, solve
from .model import Box, Key, Layout, Point, Rect, Spacing
from .ranks import without_cycles

IN, OUT = "in", "out"
End = tuple[Key, tuple[str, Key] | None]  # a child of a level, and for a group which of its ends


@dataclass
class _Level:
    """One group (or the whole, with key None) on its way."""

    children: list[Key] = field(default_factory=list)  # ("box", key) or ("group", key)
    ports: dict[tuple[str, Key], int] = field(default_factory=dict)  # number among the items
    ways: dict[tuple[End, End], int] = field(default_factory=dict)  # number among the edges
    number: dict[Key, int] = field(default_factory=dict)
    flipped: set[tuple[str, Key]] = field(default_factory=set)  # ports at the other frame than usual
    turned: set[int] = field(default_factory=set)  # ways that lead upwards
    items: list[Item] = field(default_factory=list)
    placed: Placed = field(default_factory=Placed)
    down: int = 0  # from the frame's top to the level's own zero
    weight: float = 0.0


def lay_out(
    boxes: Iterable[Box],
    edges: Sequence[tuple[Key, Key]],
    groups: Mapping[Key, Key | None] | None = None,
    *,
    titles: Mapping[Key, tuple[int, int]] | None = None,
    spacing: Spacing | None = None,
) -> Layout:
    """Where boxes, frames and edges stand.

    Args:
        boxes: the boxes, in the order that decides ties.
        edges: pairs of keys of boxes; an edge of a box with itself has no path.
        groups: the parent of each group, None for one at the top.
        titles: how far a group's frame must reach to the left and the right of the edge that leads into it.
        spacing: distances.

    Example:
        >>> from vistorch.debug.layout import Box, lay_out
        >>> found = lay_out([Box("a", 40, 20), Box("b", 40, 20)], [("a", "b")])
        >>> found.boxes["b"]
        Rect(x=0, y=34, width=40, height=20)
        >>> found.paths
        [[(20, 20), (20, 34)]]
    """
    return _Compound(list(boxes), edges, dict(groups or {}), titles or {}, spacing or Spacing()).run()


class _Compound:
    def __init__(self, boxes: list, edges: Sequence, groups: dict, titles: Mapping, spacing: Spacing) -> None:
        self.boxes = {box.key: box for box in boxes}
        if len(self.boxes) != len(boxes):
            raise ValueError("two boxes have the same key")
        self.edges, self.titles, self.spacing = edges, titles, spacing
        self.parent = groups
        self.chain = self._chains([box.group for box in boxes])
        self.levels: dict[Key, _Level] = {None: _Level()}
        for box in boxes:
            for key in reversed(self.chain[box.group]):  # from the outside
                if key not in self.levels:
                    self.levels[key] = _Level()
                    self._child(groups[key], ("group", key))
            self._child(box.group, ("box", box.key))

    def _chains(self, used: list) -> dict[Key, list[Key]]:
        """Each group that is used, with those around it, from the inside out."""
        found: dict[Key, list[Key]] = {None: []}
        for start in dict.fromkeys(used):
            new = []
            key = start
            while key not in found:
                if key not in self.parent:
                    raise ValueError(f"a box stands in a group that was not given: {key!r}")
                if len(new) > len(self.parent):
                    raise ValueError(f"the group {key!r} stands in itself")
                new.append(key)
                key = self.parent[key]
            for i, one in enumerate(new):
                found[one] = new[i:] + found[key]
        return found

    def _child(self, level: Key, child: Key) -> None:
        found = self.levels[level]
        found.number[child] = len(found.children)
        found.children.append(child)

    def run(self) -> Layout:
        pieces = [self._lead(a, b) for a, b in self.edges]
        inside_out = sorted((k for k in self.levels if k is not None), key=lambda k: -len(self.chain[k]))
        for key in [None, *reversed(inside_out)]:
            self._turn(self.levels[key])
        for key in [*inside_out, None]:
            self._solve(key)
        return self._assembled(pieces)

    def _lead(self, a: Key, b: Key) -> list[tuple[Key, int]]:
        """The levels an edge runs through, and the number of its way in each."""
        if a == b:
            return []
        above, below = self.chain[self.boxes[a].group], self.chain[self.boxes[b].group]
        i, j = len(above), len(below)
        while i and j and above[i - 1] == below[j - 1]:  # what both stand in
            i, j = i - 1, j - 1
        # all edges between two neighbours of the level that both stand in share their ends at frames
        to: Key = ("group", below[j - 1]) if j else ("box", b)
        of: Key = ("group", above[i - 1]) if i else ("box", a)
        found = []
        end: End = (("box", a), None)
        for group in above[:i]:
            found.append((group, self._way(group, end, (None, (OUT, to)))))
            end = (("group", group), (OUT, to))
        target: End = (("box", b), None)
        inner = []
        for group in below[:j]:
            inner.append((group, self._way(group, (None, (IN, of)), target)))
            target = (("group", group), (IN, of))
        shared = above[i] if i < len(above) else None
        found.append((shared, self._way(shared, end, target)))
        return found + inner[::-1]

    def _way(self, level: Key, start: End, end: End) -> int:
        found = self.levels[level]
        for child, port in (start, end):
            if child is None and port is not None:
                found.ports.setdefault(port, len(found.ports))
        return found.ways.setdefault((start, end), len(found.ways))

    def _turn(self, level: _Level) -> None:
        """Which ways of a level lead upwards; the ends they have at groups are then at the other frame."""
        ways = list(level.ways)
        for i, (start, end) in enumerate(ways):
            if any(child is None and port in level.flipped for child, port in (start, end)):
                level.turned.add(i)
        between = [i for i, (start, end) in enumerate(ways) if start[0] is not None and end[0] is not None]
        pairs = [(level.number[ways[i][0][0]], level.number[ways[i][1][0]]) for i in between]
        _, turned = without_cycles(len(level.children), pairs)
        level.turned |= {between[i] for i in turned}
        for i in level.turned:
            for child, port in ways[i]:
                if child is not None and port is not None:
                    self.levels[child[1]].flipped.add(port)  # type: ignore[index]

    def _solve(self, key: Key) -> None:
        level, s = self.levels[key], self.spacing
        for kind, child in level.children:  # type: ignore[misc]
            level.items.append(self._box(self.boxes[child]) if kind == "box" else self._group(child))
        level.weight = sum([item.weight for item in level.items])
        count = len(level.children)
        reach = s.wire // 2
        level.items += [Item(reach, reach, 0, weight=0.5) for _ in level.ports]
        for port in level.ports:
            level.ports[port] += count
        edges = []
        for i, (start, end) in enumerate(level.ways):
            if i in level.turned:
                start, end = end, start
            a, p = self._end(level, start)
            b, q = self._end(level, end)
            edges.append((a, b, p, q))
        upper = {port for port in level.ports if (port[0] == IN) != (port in level.flipped)}
        level.placed = solve(
            level.items,
            edges,
            [i for port, i in level.ports.items() if port in upper],
            [i for port, i in level.ports.items() if port not in upper],
            s,
        )

    def _end(self, level: _Level, end: End) -> tuple[int, int]:
        """The item an end belongs to, and how far beside its axis it stands."""
        child, port = end
        if child is None:
            return level.ports[port], 0  # type: ignore[index]
        number = level.number[child]
        if port is None:
            return number, 0
        inner = self.levels[child[1]]  # type: ignore[index]
        return number, inner.placed.x[inner.ports[port]]

    def _box(self, box: Box) -> Item:
        half = box.width // 2
        item = Item(half, box.width - half, box.height, tail=box.height, half=max(0, half - 12))
        if box.beside:
            stack = sum([h for _, h in box.beside]) + self.spacing.stack * (len(box.beside) - 1)
            item.right += self.spacing.beside + max([w for w, _ in box.beside])
            item.head = max(0, (stack - box.height + 1) // 2)
            item.tail = max(box.height, stack - item.head)
        return item

    def _group(self, key: Key) -> Item:
        level, s = self.levels[key], self.spacing
        placed = level.placed
        left, right = placed.left + s.inside, placed.right + s.inside
        before, after = self.titles.get(key, (0, 0))
        left, right = max(left, before), max(right, after)
        level.down = s.header
        # ends at the lower frame are below the last box already
        ends = any((side == OUT) != ((side, box) in level.flipped) for side, box in level.ports)
        foot = 0 if ends else s.inside
        tall = s.header + placed.height + max(foot, 2)
        return Item(left, right, tall, tail=tall, weight=level.weight, group=True)

    def _assembled(self, pieces: list) -> Layout:
        """Everything in the coordinates of the whole, from the outside in."""
        out = Layout()
        whole = self.levels[None].placed
        out.width, out.height = whole.left + whole.right, whole.height
        origin: dict[Key, tuple[int, int]] = {None: (whole.left, 0)}
        waiting: list[Key] = [None]
        for key in waiting:  # grows while it is walked
            level, (x0, y0) = self.levels[key], origin[key]
            for i, (kind, child) in enumerate(level.children):  # type: ignore[misc]
                item, x, y = level.items[i], x0 + level.placed.x[i], y0 + level.placed.y[i]
                if kind == "group":
                    out.frames[child] = Rect(x - item.left, y, item.left + item.right, item.tall)
                    origin[child] = x, y + self.levels[child].down
                    waiting.append(child)
                    continue
                box = self.boxes[child]
                out.boxes[child] = Rect(x - item.left, y, box.width, box.height)
                if box.beside:
                    out.beside[child] = self._stack(box, x - item.left + box.width, y - item.head)
        for found in pieces:
            path: list[Point] = []
            for key, way in found:
                x0, y0 = origin[key]
                part = self.levels[key].placed.paths[way]
                for x, y in reversed(part) if way in self.levels[key].turned else part:
                    point = x0 + x, y0 + y
                    if len(path) > 1 and path[-2][0] == path[-1][0] == point[0]:
                        path.pop()
                    if not path or path[-1] != point:
                        path.append(point)
            out.paths.append(path)
        return out

    def _stack(self, box: Box, right: int, top: int) -> list[Rect]:
        found = []
        for width, height in box.beside:
            found.append(Rect(right + self.spacing.beside, top, width, height))
            top += height + self.spacing.stack
        return found
