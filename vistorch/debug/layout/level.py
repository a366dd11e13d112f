"""One level of a picture: items in layers and the edges between them, without what is inside the items.

An edge over several layers bends beside the items of the layers between; if all such bends were too many, the longest
edges run in lanes around everything instead.

Invariant: between two layers there is a strip that no item reaches into; only there an edge leaves its vertical.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from .across import stand
from .crossings import arrange
from .model import Point, Spacing
from .ranks import layered, spine_of, without_cycles

BENDS = 4  # per edge and item on the average, before edges take to the lanes
MOST = 16_000  # bends in all, where that is less


@dataclass
class Item:
    """What stands in a layer: a box with what is beside it, a group, or the end of an edge at a group's frame.

    Across it reaches from `left` to `right` of its axis; down, its box has the height `tall`, and with what is beside
    it, it reaches from `head` above the box's top to `tail` below that.
    """

    left: int
    right: int
    tall: int
    head: int = 0
    tail: int = 0
    weight: float = 1.0
    half: int = 0  # how far from its axis an edge may end; 0 where ends have places of their own
    group: bool = False


@dataclass
class Placed:
    """A solved level: the axis and top of each item's box, the path of each edge, the extent of it all."""

    x: list[int] = field(default_factory=list)
    y: list[int] = field(default_factory=list)
    paths: list[list[Point]] = field(default_factory=list)
    left: int = 0
    right: int = 0
    height: int = 0


def solve(
    items: Sequence[Item],
    edges: Sequence[tuple[int, int, int, int]],
    first: Sequence[int],
    last: Sequence[int],
    spacing: Spacing,
) -> Placed:
    """Place the items of one level and lead its edges.

    Args:
        items: what stands in it; groups may be widened, so that those of one column are equally wide.
        edges: (from, to, where it leaves beside the axis of the one, where it meets the other); without cycles.
        first: items that stand alone in the first layer.
        last: items that stand alone in the last one.
        spacing: distances.
    """
    if not items:
        return Placed()
    return _Solver(items, edges, first, last, spacing).run()


class _Solver:
    def __init__(self, items: Any, edges: Any, first: Any, last: Any, spacing: Spacing) -> None:
        self.items, self.spacing = items, spacing
        pairs = [(a, b) for a, b, _, _ in edges]
        order, _ = without_cycles(len(items), pairs)
        self.edges = edges
        self.rank = layered(order, pairs, first, last)
        self.ports = ({*first}, {*last})
        self.spine = spine_of(order, pairs, [item.weight for item in items])

    def run(self) -> Placed:
        self._bend()
        self._even()
        self._across()
        self._ends()
        self._down()
        return self._placed()

    def _bend(self) -> None:
        """Give long edges an element in each layer between, or a lane."""
        self.layers: list[list[int]] = [[] for _ in range(max(self.rank) + 1)]
        for i, r in enumerate(self.rank):
            self.layers[r].append(i)
        self.at = list(self.rank)
        self.chains: list[list[int] | None] = [None] * len(self.edges)
        spans = sorted(range(len(self.edges)), key=lambda i: (self._span(i), i))
        budget = min(BENDS * (len(self.items) + len(self.edges)) + 500, MOST)
        for i in spans:
            a, b, _, _ = self.edges[i]
            budget -= self._span(i) - 1
            if budget < 0:
                continue
            chain = [a]
            for r in range(self.rank[a] + 1, self.rank[b]):
                chain.append(len(self.at))
                self.layers[r].append(len(self.at))
                self.at.append(r)
            chain.append(b)
            self.chains[i] = chain

    def _span(self, i: int) -> int:
        a, b, _, _ = self.edges[i]
        return self.rank[b] - self.rank[a]

    def _even(self) -> None:
        """Groups that stand alone in their layers on the spine get one width."""
        on = {self.edges[i][k] for i in self.spine for k in (0, 1)}
        column = [
            item
            for i, item in enumerate(self.items)
            if item.group and i in on and len(self.layers[self.rank[i]]) == 1
        ]
        if len(column) > 1:
            left, right = max(i.left for i in column), max(i.right for i in column)
            for item in column:
                item.left, item.right = left, right

    def _across(self) -> None:
        count, items = len(self.at), len(self.items)
        near = self.spacing
        # how much it matters that an edge runs straight: most between two of its bends
        up: list[list] = [[] for _ in range(count)]
        down: list[list] = [[] for _ in range(count)]
        follow: list[tuple[int, int] | None] = [
            None
        ] * count  # what stands straight below, and how far beside
        led = [False] * count
        by_weight = sorted(
            (i for i, chain in enumerate(self.chains) if chain is not None),
            key=lambda i: (len(self.chains[i] or ()) < 3, i),
        )
        for i in by_weight:
            chain, (_, _, p, q) = self.chains[i], self.edges[i]
            assert chain is not None
            end = len(chain) - 2
            for k in range(end + 1):
                a, b = chain[k], chain[k + 1]
                shift = (p if k == 0 else 0) - (q if k == end else 0)
                weight = 8 if a >= items and b >= items else 2 if a >= items or b >= items else 1
                down[a].append((b, -shift, weight))
                up[b].append((a, shift, weight))
        spine: list[tuple[int, int]] = []
        at = 0
        for i in self.spine:
            chain, (_, _, p, q) = self.chains[i], self.edges[i]
            if chain is None:
                at = 0
                continue
            spine += [(chain[0], at)] if not spine or spine[-1][0] != chain[0] else []
            spine += [(e, at + p) for e in chain[1:-1]]
            at += p - q
            spine.append((chain[-1], at))
        if not spine and self.spine:
            spine = [(self.edges[self.spine[0]][0], 0)]
        fixed = {e for e, _ in spine}
        for i in by_weight:
            chain, (_, _, p, q) = self.chains[i], self.edges[i]
            assert chain is not None
            end = len(chain) - 2
            for k in range(end + 1):
                a, b = chain[k], chain[k + 1]
                if follow[a] is None and not led[b] and not (a in fixed and b in fixed):
                    follow[a] = b, (p if k == 0 else 0) - (q if k == end else 0)
                    led[b] = True
        neighbours = [[b for b, _, _ in links] for links in down], [[a for a, _, _ in links] for links in up]
        self.layers = arrange(
            self.layers, neighbours[1], neighbours[0], set(range(items, count)), [e for e, _ in spine]
        )
        bare = near.wire // 2

        def apart(a: int, b: int) -> int:
            real = (a < items) + (b < items)
            return (
                (self.items[a].right if a < items else bare // 2)
                + (self.items[b].left if b < items else bare // 2)
                + (near.across if real == 2 else near.wire if real else bare)
            )

        runs = _runs(follow, led)
        x = stand(self.layers, up, down, runs, spine, apart)
        self.x = [int(v // 1) for v in _whole(x)]

    def _ends(self) -> None:
        """Where edges leave and meet boxes: the straightest in the middle, the others beside it."""
        self.leave = [p for _, _, p, _ in self.edges]
        self.meet = [q for _, _, _, q in self.edges]
        outs: dict[int, list] = {}
        ins: dict[int, list] = {}
        for i, (a, b, _, _) in enumerate(self.edges):
            chain = self.chains[i]
            x0, x1 = self.x[a], self.x[b]
            if chain is None:
                toward = back = -(10**9)
            else:
                toward = self.x[chain[1]] + (self.edges[i][3] if len(chain) == 2 else 0) - x0
                back = self.x[chain[-2]] + (self.edges[i][2] if len(chain) == 2 else 0) - x1
            if self.items[a].half:
                outs.setdefault(a, []).append((toward, i))
            if self.items[b].half:
                ins.setdefault(b, []).append((back, i))
        for found, ends in ((outs, self.leave), (ins, self.meet)):
            for item, wanted in found.items():
                if len(wanted) < 2:
                    continue
                wanted.sort()
                middle = min(range(len(wanted)), key=lambda k: (abs(wanted[k][0]), k))
                step = self.spacing.spread
                most = max(middle, len(wanted) - 1 - middle)
                step = min(step, self.items[item].half // max(1, most))
                for k, (_, i) in enumerate(wanted):
                    ends[i] = (k - middle) * step

    def _down(self) -> None:
        """The top of each layer's boxes: close where edges run straight, with room for curves where not."""
        s, n = self.spacing, len(self.items)
        head, tall, tail = ([0] * len(self.layers) for _ in range(3))
        for i, layer in enumerate(self.layers):
            for e in layer:
                if e < n:
                    item = self.items[e]
                    head[i], tall[i] = max(head[i], item.head), max(tall[i], item.tall)
                    tail[i] = max(tail[i], item.tall, item.tail)
        bent = [0] * len(self.layers)
        for i, chain in enumerate(self.chains):
            if chain is None:
                a, b, _, _ = self.edges[i]
                bent[self.rank[a]] = max(bent[self.rank[a]], 1)
                bent[self.rank[b] - 1] = max(bent[self.rank[b] - 1], 1)
                continue
            for k in range(len(chain) - 1):
                r = self.rank[chain[0]] + k
                aside = abs(self._end(i, chain, k, True) - self._end(i, chain, k + 1, False))
                bent[r] = max(bent[r], aside)
        self.top, self.low, self.high = [head[0]], [], []
        for i in range(len(self.layers) - 1):
            y = self.top[i]
            port = (i == 0 and bool(self.ports[0])) or (i == len(self.layers) - 2 and bool(self.ports[1]))
            if bent[i]:
                gap = (s.down if port else s.curved) + min(48, bent[i] // 14)
                following = y + tail[i] + gap + head[i + 1]
            else:
                gap = s.down // 3 if port else s.down
                following = y + max(tall[i] + gap, tail[i] + head[i + 1] + 2)
            self.low.append(y + tail[i])
            self.high.append(following - head[i + 1])
            self.top.append(following)
        self.height = self.top[-1] + tail[-1]

    def _end(self, i: int, chain: list[int], k: int, leaving: bool) -> int:
        """Where edge `i` stands at element `k` of its chain."""
        x = self.x[chain[k]]
        if k == 0 and leaving:
            return x + self.leave[i]
        return x + self.meet[i] if k == len(chain) - 1 and not leaving else x

    def _placed(self) -> Placed:
        n = len(self.items)
        left = max([item.left - self.x[i] for i, item in enumerate(self.items)])
        right = max([item.right + self.x[i] for i, item in enumerate(self.items)])
        if len(self.x) > n:
            aside = self.spacing.wire // 2
            left, right = max(left, aside - min(self.x[n:])), max(right, aside + max(self.x[n:]))
        lanes = self._lanes()
        paths = []
        for i, chain in enumerate(self.chains):
            a, b, _, _ = self.edges[i]
            first = self.top[self.rank[a]] + self.items[a].tall, self.top[self.rank[b]]
            if chain is None:
                path = self._around(i, -left - self.spacing.lane * (lanes[i] + 1), *first)
            else:
                path = self._through(i, chain, *first)
            paths.append(path)
        if lanes:
            left += self.spacing.lane * (max(lanes.values()) + 2)
        y = [self.top[r] for r in self.rank]
        return Placed(self.x[:n], y, paths, left, right, self.height)

    def _through(self, i: int, chain: list[int], start: int, end: int) -> list[Point]:
        r = self.rank[chain[0]]
        path = [(self._end(i, chain, 0, True), start)]
        for k in range(len(chain) - 1):
            here, there = path[-1][0], self._end(i, chain, k + 1, False)
            if here != there:
                _add(path, (here, self.low[r + k]))
                _add(path, (there, self.high[r + k]))
        _add(path, (path[-1][0], end))
        return path

    def _around(self, i: int, lane: int, start: int, end: int) -> list[Point]:
        a, b, _, _ = self.edges[i]
        r, q = self.rank[a], self.rank[b] - 1
        x0, x1 = self.x[a] + self.leave[i], self.x[b] + self.meet[i]
        upper, lower = (self.low[r] + self.high[r]) // 2, (self.low[q] + self.high[q]) // 2
        path = [(x0, start)]
        for point in ((x0, upper), (lane, upper), (lane, lower), (x1, lower), (x1, end)):
            _add(path, point)
        return path

    def _lanes(self) -> dict[int, int]:
        """A lane for each edge without bends; edges to one item share one."""
        trunks: dict[int, list[int]] = {}
        for i, chain in enumerate(self.chains):
            if chain is None:
                a, b, _, _ = self.edges[i]
                span = trunks.setdefault(b, [self.rank[a], self.rank[b]])
                span[0] = min(span[0], self.rank[a])
        free: list[int] = []
        taken: list[tuple[int, int]] = []
        lane: dict[int, int] = {}
        used = 0
        for b, (start, end) in sorted(trunks.items(), key=lambda t: (t[1], t[0])):
            while taken and taken[0][0] < start:
                heappush(free, heappop(taken)[1])
            if not free:
                heappush(free, used)
                used += 1
            lane[b] = heappop(free)
            heappush(taken, (end, lane[b]))
        return {i: lane[self.edges[i][1]] for i, chain in enumerate(self.chains) if chain is None}


def _add(path: list[Point], point: Point) -> None:
    """Go on to a point; one on a straight way on is not kept."""
    if len(path) > 1:
        (x0, y0), (x1, y1) = path[-2:]
        if (x0 == x1 == point[0]) or (y0 == y1 == point[1]):
            path.pop()
    if path[-1] != point:
        path.append(point)


def _runs(follow: list, led: list[bool]) -> list[tuple[list[int], list[int]]]:
    """Straight lines of two elements and more."""
    runs = []
    for start, follows in enumerate(follow):
        if follows is None or led[start]:
            continue
        elements, shifts = [start], [0]
        step = follows
        while step is not None:
            elements.append(step[0])
            shifts.append(shifts[-1] + step[1])
            step = follow[step[0]]
        runs.append((elements, shifts))
    runs.sort(key=lambda run: -len(run[0]))
    return runs


def _whole(x: list[float]) -> list[float]:
    """Places whose floors keep their distances: rounding errors of sums must not cost a pixel."""
    return [round(v, 6) for v in x]
