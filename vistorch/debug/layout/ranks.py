"""Which layer each item stands in, and which way leads through the picture as its spine.

Invariant: an edge leads to a later layer; an edge that closes a cycle is turned round first, and is told apart.
"""

from __future__ import annotations

from collections.abc import Sequence


def without_cycles(count: int, edges: Sequence[tuple[int, int]]) -> tuple[list[int], set[int]]:
    """A topological order, and the numbers of the edges that had to be turned for it.

    Args:
        count: how many items.
        edges: pairs of items.
    """
    below: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for a, b in edges:
        below[a].append(b)
        waits[b] += 1
    order = [i for i in range(count) if not waits[i]]
    for item in order:  # grows while it is walked
        for b in below[item]:
            waits[b] -= 1
            if not waits[b]:
                order.append(b)
    if len(order) == count:
        return order, set()
    place = _by_depth(count, below)
    turned = {i for i, (a, b) in enumerate(edges) if place[a] > place[b]}
    turned_edges = [(b, a) if i in turned else (a, b) for i, (a, b) in enumerate(edges)]
    return without_cycles(count, turned_edges)[0], turned


def _by_depth(count: int, below: list[list[int]]) -> list[int]:
    """Places in the order of a depth-first walk's ends, reversed: only edges back to an ancestor lead upwards."""
    state = [0] * count  # 0 not met, 1 open, 2 done
    done: list[int] = []
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(below[root]))]
        while stack:
            item, rest = stack[-1]
            for b in rest:
                if not state[b]:
                    state[b] = 1
                    stack.append((b, iter(below[b])))
                    break
            else:
                state[item] = 2
                done.append(item)
                stack.pop()
    place = [0] * count
    for i, item in enumerate(reversed(done)):
        place[item] = i
    return place


def layered(
    order: Sequence[int], edges: Sequence[tuple[int, int]], first: Sequence[int], last: Sequence[int]
) -> list[int]:
    """The layer of each item: as high as its feeders allow, or lower where that makes its edges shorter.

    Args:
        order: a topological order of the items.
        edges: pairs of items, none of them upwards in `order`.
        first: items that stand alone in the first layer: nothing leads to them.
        last: items that stand alone in the last one: nothing leads from them.
    """
    count = len(order)
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        above[b].append(a)
        below[a].append(b)
    ends, floor = set(first), 1 if first else 0
    rank = [0] * count
    for item in order:
        if item not in ends:
            rank[item] = max([rank[a] + 1 for a in above[item]], default=0)
            rank[item] = max(rank[item], floor)
    for item in reversed(order):
        if item not in ends and len(below[item]) > len(above[item]):
            rank[item] = max(rank[item], min([rank[b] for b in below[item]]) - 1)
    if last:
        lower = set(last)
        bottom = max([rank[i] for i in order if i not in lower], default=floor - 1) + 1
        for item in last:
            rank[item] = bottom
    return rank


def spine_of(order: Sequence[int], edges: Sequence[tuple[int, int]], weight: Sequence[float]) -> list[int]:
    """The edges of the heaviest way through the items, from above to below."""
    if not edges:
        return []
    out: list[list[int]] = [[] for _ in order]
    for i, (a, _) in enumerate(edges):
        out[a].append(i)
    best = list(weight)
    step = [-1] * len(order)
    for item in reversed(order):
        for i in out[item]:
            reached = weight[item] + best[edges[i][1]]
            if step[item] < 0 or reached > best[item]:
                best[item], step[item] = reached, i
    led = {b for _, b in edges}
    item = max((i for i in order if i not in led), key=lambda i: best[i])
    found = []
    while step[item] >= 0:
        found.append(step[item])
        item = edges[step[item]][1]
    return found
