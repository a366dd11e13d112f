"""The order of the elements within each layer: few crossings, the same input the same order.

Invariant: elements never leave their layer; a sweep that made things worse is not kept where it could be counted.
"""

from __future__ import annotations

from itertools import pairwise

COUNTED = 6_000  # elements; above this many crossings are not counted and one round of sweeps must do


def arrange(
    layers: list[list[int]], up: list[list[int]], down: list[list[int]], wires: set[int], starts: list[int]
) -> list[list[int]]:
    """Sort each layer.

    Args:
        layers: elements by layer.
        up: the neighbours of each element in the layer above, once per edge.
        down: those below.
        wires: elements that are bends of edges: in a tie they stand left, where nothing hangs at a box's side.
        starts: elements to begin with, the most important first.
    """
    count = sum(map(len, layers))
    layers = _first(layers, up, down, starts)
    if all(len(layer) < 2 for layer in layers):
        return layers
    large = count > COUNTED
    place = [0] * (max(max(layer, default=0) for layer in layers) + 1)
    for layer in layers:
        for i, element in enumerate(layer):
            place[element] = i
    best = None if large else [list(layer) for layer in layers]
    fewest = None if large else crossings(layers, down, place)
    for sweep in range(2 if large else 8):
        if fewest == 0 and sweep > 1:
            break
        forth = sweep % 2 == 0
        near = up if forth else down
        for layer in layers if forth else reversed(layers):
            if len(layer) > 1:
                _sorted(layer, near, place, wires)
                if not large:
                    _swapped(layer, near, place)
        if not large:
            now = crossings(layers, down, place)
            if fewest is None or now <= fewest:
                fewest, best = now, [list(layer) for layer in layers]
    return layers if best is None else best


def _first(
    layers: list[list[int]], up: list[list[int]], down: list[list[int]], starts: list[int]
) -> list[list[int]]:
    """The order of a depth-first walk."""
    of = {}
    for i, layer in enumerate(layers):
        for element in layer:
            of[element] = i
    found: list[list[int]] = [[] for _ in layers]
    seen: set[int] = set()
    for root in [*starts, *(e for layer in layers for e in layer if not up[e]), *of]:
        if root in seen:
            continue
        stack = [root]
        while stack:
            element = stack.pop()
            if element in seen:
                continue
            seen.add(element)
            found[of[element]].append(element)
            stack.extend(e for e in reversed(down[element]) if e not in seen)
    return found


def _sorted(layer: list[int], near: list[list[int]], place: list[int], wires: set[int]) -> None:
    """Sort one layer by the mean place of each element's neighbours."""
    key = {}
    for i, element in enumerate(layer):
        around = near[element]
        mean = sum([place[e] for e in around]) / len(around) if around else i
        key[element] = (mean, element not in wires)
    layer.sort(key=key.__getitem__)
    for i, element in enumerate(layer):
        place[element] = i


def _swapped(layer: list[int], near: list[list[int]], place: list[int]) -> None:
    """Swap neighbours where that leaves fewer crossings."""
    for _ in range(2):
        changed = False
        for i in range(len(layer) - 1):
            a, b = layer[i], layer[i + 1]
            left, right = [place[e] for e in near[a]], [place[e] for e in near[b]]
            if len(left) * len(right) > 256:
                continue
            if sum([x > y for x in left for y in right]) > sum([x < y for x in left for y in right]):
                layer[i], layer[i + 1] = b, a
                changed = True
        if not changed:
            break
    for i, element in enumerate(layer):
        place[element] = i


def crossings(layers: list[list[int]], down: list[list[int]], place: list[int]) -> int:
    """How many pairs of edges cross."""
    found = 0
    for layer, following in pairwise(layers):
        if len(layer) < 2 or len(following) < 2:
            continue
        size = len(following)
        tree = [0] * (size + 1)
        met = 0
        for element in layer:
            ends = sorted([place[e] for e in down[element]])
            for end in ends:
                i, before = end + 1, 0
                while i:
                    before += tree[i]
                    i &= i - 1
                found += met - before
                met += 1
                i = end + 1
                while i <= size:
                    tree[i] += 1
                    i += i & -i
    return found
