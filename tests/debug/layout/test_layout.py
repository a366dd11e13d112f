"""Layouts of any graph: nothing overlaps, frames hold their own, edges avoid boxes and lead down."""

import random
import time
from bisect import bisect
from itertools import pairwise

import pytest
from hypothesis import given, settings

from vistorch.debug.layout import Box, Spacing, lay_out

from .pictures import acyclic, check, graphs, points, ranges

MANY = 10_000


@settings(max_examples=150)
@given(graphs())
def test_any_graph(graph):
    boxes, edges, parents = graph
    made = lay_out(boxes, edges, parents)
    check(boxes, edges, parents, made)
    if acyclic(boxes, edges, parents):
        for path in made.paths:
            heights = [y for _, y in path]
            assert heights == sorted(heights)


@settings(max_examples=60)
@given(graphs(cycles=True))
def test_any_graph_with_cycles(graph):
    boxes, edges, parents = graph
    check(boxes, edges, parents, lay_out(boxes, edges, parents))


@settings(max_examples=60)
@given(graphs(most=40))
def test_edges_lead_down(graph):
    boxes, edges, _ = graph
    boxes, parents = ranges(boxes)
    made = lay_out(boxes, edges, parents)
    check(boxes, edges, parents, made)
    for (a, b), path in zip(edges, made.paths, strict=True):
        if a != b:
            one, other = made.boxes[a], made.boxes[b]
            assert path[0][1] == one.bottom and one.x < path[0][0] < one.right
            assert path[-1][1] == other.y and other.x < path[-1][0] < other.right
            heights = [y for _, y in points(path)]
            assert all(h0 <= h1 + 1e-9 for h0, h1 in pairwise(heights))


@settings(max_examples=40)
@given(graphs(cycles=True))
def test_same_input_same_picture(graph):
    assert lay_out(*graph) == lay_out(*graph)


@settings(max_examples=40)
@given(graphs())
def test_edges_in_lanes_keep_the_invariants(graph):
    from vistorch.debug.layout import level

    boxes, edges, parents = graph
    before = level.BENDS, level.MOST
    level.BENDS, level.MOST = 0, 0
    try:
        made = lay_out(boxes, edges, parents)
    finally:
        level.BENDS, level.MOST = before
    check(boxes, edges, parents, made)


def chain(n):
    return [(i, i + 1) for i in range(n - 1)]


def picture(n, edges, **more):
    boxes = [Box(i, 100, 24) for i in range(n)]
    made = lay_out(boxes, edges, **more)
    check(boxes, edges, {}, made)
    return made


def test_a_chain_is_a_straight_line():
    made = picture(5, chain(5))
    assert [p for p in made.paths if len(p) != 2 or p[0][0] != p[1][0]] == []
    assert [r.y for r in made.boxes.values()] == [0, 38, 76, 114, 152]


def test_the_longest_way_is_straight_and_what_skips_it_runs_beside():
    made = picture(5, [*chain(5), (0, 3), (0, 4)])
    assert len({r.x for r in made.boxes.values()}) == 1
    assert all(len(p) == 2 for p in made.paths[:4])
    assert all(min(x for x, _ in p) < made.boxes[0].x for p in made.paths[4:])


def test_a_straight_way_through_frames():
    boxes = [Box(i, 100, 24, group="inner" if i == 2 else "outer" if i in (1, 3) else None) for i in range(5)]
    made = lay_out(boxes, chain(5), {"outer": None, "inner": "outer"})
    assert len({r.x for r in made.boxes.values()}) == 1
    assert all(len(p) == 2 and p[0][0] == p[1][0] for p in made.paths)


def test_small_boxes_stand_beside_theirs_in_one_column():
    boxes = [Box(i, 100, 24, beside=((80, 18), (60, 18))) for i in range(3)]
    made = lay_out(boxes, chain(3))
    assert {r.x for found in made.beside.values() for r in found} == {made.boxes[0].right + Spacing().beside}
    assert [r.y for r in made.boxes.values()][1] - made.boxes[0].y < 50


def test_an_edge_runs_over_what_is_beside_a_neighbour():
    tall = ((100, 40),) * 4
    boxes = [Box(0, 100, 24), Box(1, 100, 24, beside=tall), Box(2, 100, 24), Box(3, 100, 24)]
    edges = [(0, 1), (0, 2), (1, 3)]
    made = lay_out(boxes, edges)
    check(boxes, edges, {}, made)
    assert made.boxes[2].x > made.beside[1][0].x
    assert made.beside[1][0].y - made.boxes[0].bottom >= Spacing().curved


def test_frames_of_one_column_are_equally_wide():
    boxes = [Box(0, 100, 24, "a", ((90, 18),)), Box(1, 100, 24, "b")]
    made = lay_out(boxes, [(0, 1)], {"a": None, "b": None})
    assert made.frames["a"][::2] == made.frames["b"][::2]


def test_a_title_needs_its_width():
    made = lay_out([Box(0, 40, 24, "a")], [], {"a": None}, titles={"a": (90, 200)})
    assert made.frames["a"].width == 290 == made.width and made.boxes[0].x == 70


def test_deep_nesting_needs_no_recursion():
    deep = 3000
    parents = {0: None} | {i: i - 1 for i in range(1, deep)}
    made = lay_out([Box("a", 10, 10, deep - 1), Box("b", 10, 10)], [("b", "a")], parents)
    assert len(made.frames) == deep and made.frames[0].contains(made.boxes["a"])


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="a group that was not given: 'g'"):
        lay_out([Box(0, 1, 1, "g")], [])
    with pytest.raises(ValueError, match="stands in itself"):
        lay_out([Box(0, 1, 1, "g")], [], {"g": "h", "h": "g"})
    with pytest.raises(ValueError, match="same key"):
        lay_out([Box(0, 1, 1), Box(0, 1, 1)], [])
    with pytest.raises(KeyError):
        lay_out([Box(0, 1, 1)], [(0, 1)])


def large(kind):
    rng = random.Random(5)
    if kind == "chain":
        return chain(MANY)
    if kind == "fan":
        return [(0, i) for i in range(1, MANY)]
    if kind == "random":
        return [(rng.randrange(i), i) for i in range(1, MANY) for _ in range(2)]
    return chain(MANY) + [tuple(sorted(rng.sample(range(MANY), 2))) for _ in range(MANY)]


@pytest.mark.parametrize("kind", ["chain", "fan", "random", "skips"])
def test_ten_thousand_boxes(kind):
    edges = large(kind)
    begin = time.perf_counter()
    made = lay_out([Box(i, 100, 24) for i in range(MANY)], edges)
    assert time.perf_counter() - begin < 30  # a hang, not a slow machine
    rows = {}
    for r in made.boxes.values():
        rows.setdefault(r.y, []).append(r)
    tops = sorted(rows)
    assert all(low - high >= 24 for high, low in pairwise(tops))
    for row in rows.values():
        row.sort()
        assert all(a.right < b.x for a, b in pairwise(row))
    for (a, b), path in zip(edges, made.paths, strict=True):
        assert path[0][1] == made.boxes[a].bottom and path[-1][1] == made.boxes[b].y
    for path in made.paths[:: len(made.paths) // 150]:
        for x, y in points(path):
            row = rows[tops[max(0, bisect(tops, y) - 1)]]
            assert not any(r.x < x < r.right and r.y < y < r.bottom for r in row)
