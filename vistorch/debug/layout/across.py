"""Where the elements of each layer stand from left to right: near their neighbours, never over each other.

Each layer is fitted to its neighbours by weighted least squares under the distances that must be kept (pool adjacent
violators), forth and back; then what belongs to one straight line is drawn onto it. The spine stands at 0 throughout.

Invariant: two neighbours of a layer are never nearer than `apart` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

Link = tuple[int, int, int]  # another element, how far beside it this one should stand, how much that matters
Run = tuple[list[int], list[int]]  # elements of one straight line, and each one's distance from the line


def stand(
    layers: list[list[int]],
    up: list[list[Link]],
    down: list[list[Link]],
    runs: list[Run],
    spine: Sequence[tuple[int, int]],
    apart: Callable[[int, int], int],
) -> list[float]:
    """The place of each element.

    Args:
        layers: elements by layer, from left to right.
        up: what each element wants of the layer above.
        down: what it wants of the layer below.
        runs: straight lines, the most important first.
        spine: (element, place) of those that do not move.
        apart: the distance that two neighbours keep.
    """
    count = sum(map(len, layers))
    x = [0.0] * count
    fixed = [False] * count
    for element, place in spine:
        x[element], fixed[element] = place, True
    gaps = [[apart(a, b) for a, b in pairwise(layer)] for layer in layers]
    for layer, gap in zip(layers, gaps, strict=True):
        _spread(layer, gap, x, fixed)
    passes = 3 if count > 8_000 else 6 if count > 3_000 else 12
    for sweep in range(passes):
        turn = range(len(layers)) if sweep % 2 == 0 else range(len(layers) - 1, -1, -1)
        sides = (up, down)[sweep % 2 : sweep % 2 + 1] if sweep < passes - 2 else (up, down)
        for i in turn:
            _fit(layers[i], gaps[i], sides, x, fixed)
    for _ in range(2):
        _straighten(layers, gaps, runs, x, fixed)
    return x


def _spread(layer: list[int], gap: list[int], x: list[float], fixed: list[bool]) -> None:
    """A first place for each: side by side, around the spine or around 0."""
    at, total = [0.0], 0.0
    for g in gap:
        total += g
        at.append(total)
    middle = next((at[i] - x[e] for i, e in enumerate(layer) if fixed[e]), total / 2)
    for element, place in zip(layer, at, strict=True):
        x[element] = place - middle


def _fit(layer: list[int], gap: list[int], sides: Sequence, x: list[float], fixed: list[bool]) -> None:
    if len(layer) == 1:
        if not fixed[layer[0]]:
            x[layer[0]] = _wish(layer[0], sides, x)[0]
        return
    middle = next((i for i, e in enumerate(layer) if fixed[e]), None)
    if middle is None:
        _pool(layer, gap, sides, x, None)
        return
    if middle + 1 < len(layer):
        bound = x[layer[middle]] + gap[middle]
        _pool(layer[middle + 1 :], gap[middle + 1 :], sides, x, bound)
    if middle:
        left = layer[:middle]
        # the same to the other side: mirrored
        bound = -(x[layer[middle]] - gap[middle - 1])
        _pool(left[::-1], gap[: middle - 1][::-1], sides, x, bound, -1)


def _wish(element: int, sides: Sequence, x: list[float]) -> tuple[float, float]:
    total = weight = 0.0
    for near in sides:
        for other, shift, w in near[element]:
            total += w * (x[other] + shift)
            weight += w
    return (total / weight, weight) if weight else (x[element], 0.1)


def _pool(
    layer: list[int], gap: list[int], sides: Sequence, x: list[float], bound: float | None, sign: int = 1
) -> None:
    """Least squares with distances kept, and with nobody before `bound`."""
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    offsets = []
    offset = 0.0
    for i, element in enumerate(layer):
        if i:
            offset += gap[i - 1]
        offsets.append(offset)
        mean, weight = _wish(element, sides, x)
        mean, size = sign * mean - offset, 1
        while means and means[-1] > mean:
            w = weights.pop()
            mean = (mean * weight + means.pop() * w) / (weight + w)
            weight += w
            size += sizes.pop()
        means.append(mean)
        weights.append(weight)
        sizes.append(size)
    i = 0
    for mean, size in zip(means, sizes, strict=True):
        base = mean if bound is None or mean > bound else bound
        for _ in range(size):
            x[layer[i]] = sign * (base + offsets[i])
            i += 1


def _straighten(
    layers: list[list[int]], gaps: list[list[int]], runs: list[Run], x: list[float], fixed: list[bool]
) -> None:
    """Draw the elements of each run onto one line, as far as their neighbours allow."""
    where: list[tuple[int, int]] = [(0, 0)] * len(x)
    for i, layer in enumerate(layers):
        for j, element in enumerate(layer):
            where[element] = i, j
    for elements, shifts in runs:
        start = 0
        while start < len(elements):
            low, high, end = float("-inf"), float("inf"), start
            while end < len(elements):
                element, shift = elements[end], shifts[end]
                if fixed[element]:
                    least = most = x[element] - shift
                else:
                    i, j = where[element]
                    layer, gap = layers[i], gaps[i]
                    least = x[layer[j - 1]] + gap[j - 1] - shift if j else float("-inf")
                    most = x[layer[j + 1]] - gap[j] - shift if j + 1 < len(layer) else float("inf")
                if max(low, least) > min(high, most):
                    break
                low, high, end = max(low, least), min(high, most), end + 1
            if end == start:  # neighbours stand exactly as near as they may, but for rounding
                start += 1
                continue
            part = range(start, end)
            mean = sum([x[elements[k]] - shifts[k] for k in part]) / len(part)
            line = min(max(mean, low), high)
            for k in part:
                if not fixed[elements[k]]:
                    x[elements[k]] = line + shifts[k]
            start = end
