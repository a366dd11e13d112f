"""Random graphs in nested groups, and what must hold for the layout of any."""

from bisect import bisect
from itertools import pairwise

from hypothesis import strategies as st

from vistorch.debug.layout import Box, Rect

STEPS = 12  # points looked at on each curve


@st.composite
def graphs(draw, cycles=False, most=24):
    """Boxes, edges and the parents of groups."""
    depth = draw(st.integers(0, 5))
    parents = {f"g{i}": draw(st.sampled_from([None, *[f"g{j}" for j in range(i)]])) for i in range(depth)}
    count = draw(st.integers(0, most))
    pills = st.lists(st.tuples(st.integers(10, 120), st.integers(8, 30)), max_size=3)
    boxes = [
        Box(
            i,
            draw(st.integers(20, 160)),
            draw(st.integers(8, 60)),
            draw(st.sampled_from([None, *parents])),
            tuple(draw(pills)),
        )
        for i in range(count)
    ]
    if count < 2:
        return boxes, [], parents
    ends = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=2 * count))
    return boxes, pairs if cycles else [(min(p), max(p)) for p in pairs], parents


def ranges(boxes):
    """Boxes in groups of neighbours, so that closing one makes no cycle."""
    starts = [0, len(boxes) // 3, 2 * len(boxes) // 3]
    return [
        Box(b.key, b.width, b.height, f"r{bisect(starts, i) - 1}", b.beside) for i, b in enumerate(boxes)
    ], {f"r{i}": None for i in range(3)}


def points(path):
    """Points of a path, close enough together that none jumps over a box."""
    for (x0, y0), (x1, y1) in pairwise(path):
        for k in range(STEPS + 1):
            t = k / STEPS
            if x0 == x1 or y0 == y1:
                yield x0 + (x1 - x0) * t, y0 + (y1 - y0) * t
            else:  # the curve: vertical at both ends
                s = 1 - t
                middle = (y0 + y1) / 2
                yield (
                    x0 * (s**3 + 3 * s * s * t) + x1 * (3 * s * t * t + t**3),
                    y0 * s**3 + 3 * middle * (s * s * t + s * t * t) + y1 * t**3,
                )


def within(rect, x, y):
    """Whether a point lies inside, not on the border."""
    return rect.x < x < rect.right and rect.y < y < rect.bottom


def around(key, parents):
    """A group and all groups it stands in."""
    found = []
    while key is not None:
        found.append(key)
        key = parents[key]
    return found


def check(boxes, edges, parents, made):
    """All invariants of a layout that hold with cycles, too."""
    group = {b.key: b.group for b in boxes}
    taken = [(b.key, b.group, made.boxes[b.key]) for b in boxes]
    taken += [(b.key, b.group, r) for b in boxes for r in made.beside.get(b.key, ())]
    for b in boxes:
        assert made.boxes[b.key][2:] == (b.width, b.height)
        assert [r[2:] for r in made.beside.get(b.key, [])] == list(b.beside)
        assert all(r.x >= made.boxes[b.key].right for r in made.beside.get(b.key, ()))
    page = Rect(0, 0, made.width, made.height)
    for i, (_, _, rect) in enumerate(taken):
        assert page.contains(rect)
        for _, _, other in taken[:i]:
            assert not rect.meets(other)
    used = {g for b in boxes for g in around(b.group, parents)}
    assert set(made.frames) == used
    for key, frame in made.frames.items():
        assert page.contains(frame)
        for _, inside, rect in taken:
            assert frame.contains(rect) if key in around(inside, parents) else not frame.meets(rect)
        for other, second in made.frames.items():
            if other != key:
                if key in around(other, parents):
                    assert frame.contains(second)
                elif other not in around(key, parents):
                    assert not frame.meets(second)
    for (a, b), path in zip(edges, made.paths, strict=True):
        if a == b:
            assert path == []
            continue
        allowed = {*around(group[a], parents), *around(group[b], parents)}
        frames = [f for k, f in made.frames.items() if k not in allowed]
        for x, y in points(path):
            assert 0 <= x <= made.width and 0 <= y <= made.height
            assert not any(within(rect, x, y) for _, _, rect in taken)
            assert not any(within(frame, x, y) for frame in frames)


def acyclic(boxes, edges, parents):
    """Whether no level has a cycle, so that every edge can lead downwards."""
    group = {b.key: b.group for b in boxes}
    levels = {}
    for a, b in edges:
        if a == b:
            continue
        above = [("box", a), *around(group[a], parents)]
        below = [("box", b), *around(group[b], parents)]
        while above and below and above[-1] == below[-1]:
            above.pop(), below.pop()
        levels.setdefault(None, set()).add((above[-1], below[-1]))
    waits = {}
    for a, b in levels.get(None, ()):
        waits.setdefault(a, set())
        waits.setdefault(b, set()).add(a)
    while waits:
        free = [k for k, v in waits.items() if not v]
        if not free:
            return False
        for k in free:
            del waits[k]
        for v in waits.values():
            v.difference_update(free)
    return True
