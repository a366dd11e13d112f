"""Records of any source: folding, search, text, state."""

import copy
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vistorch.debug.graph import Builder, layout
from vistorch.debug.graph.folding import MOST
from vistorch.debug.graph.words import bytes_text, cut, number_text, shape_text
from vistorch.widgets._frame import wire

from ..layout.pictures import points, within
from .networks import capture, chain, graph


@st.composite
def builders(draw):
    """A record that no engine made: ops in nested groups of neighbours, leaves, several uses."""
    b = Builder("any")
    depth = draw(st.integers(0, 3))
    count = draw(st.integers(1, 70))
    starts = sorted(draw(st.lists(st.integers(0, count), max_size=6)))
    groups = []
    for i, start in enumerate(starts):
        inside = [g for g, (low, high) in enumerate(groups) if low <= start < high and depth > 1]
        parent = inside[-1] if inside else -1
        end = groups[parent][1] if parent >= 0 else count
        high = draw(st.integers(start, end))
        same = draw(st.booleans())
        b.group("twice" if same else f"g{i}", parent, path="twice" if same else f"p.g{i}")
        groups.append((start, high))
    for i in range(count):
        mine = [g for g, (low, high) in enumerate(groups) if low <= i < high]
        b.node("op", draw(st.sampled_from(["T", "Mul", "Relu"])), group=mine[-1] if mine else -1)
    leaves = [b.node(draw(st.sampled_from(["parameter", "input"])), "Leaf", label=f"w{i}") for i in range(4)]
    for i in range(count):
        below = draw(st.lists(st.integers(0, count - 1), max_size=2))
        for j in below:
            if j > i:
                b.edge(i, j, shape=(2, 3), norm=draw(st.sampled_from([None, 0.0, 1.5, float("nan")])))
        if draw(st.booleans()):
            b.edge(i, draw(st.sampled_from(leaves)), shape=(4,))
    b.roots.append((0, "root"))
    return b


@settings(max_examples=30)
@given(builders())
def test_any_record_shows_each_op_once(b):
    r = b.record()
    for state in (r, r.fold(), r.unfold()):
        scene = state.scene
        shown = state.tree.shown(state.open)
        boxes = {(s.what, s.number) for s in scene.boxes}
        assert len(boxes) == len(scene.boxes)
        for i, n in enumerate(state.nodes):
            if n.kind == "op" and not n.chip:
                assert ((1, shown[i]) if shown[i] >= 0 else (0, i)) in boxes
        assert {f.group for f in scene.frames} <= state.open
        rects = [s.rect for s in scene.boxes] + [p.rect for p in scene.pills]
        for i, rect in enumerate(rects):
            assert not any(rect.meets(other) for other in rects[:i])
        for link in scene.links:
            assert not any(within(rect, x, y) for x, y in points(link.path) for rect in rects)
        assert state.text().count("\n") >= len([s for s in scene.boxes if s.what == 1])
        wire.pack(state.kind, state.wire())
    assert len(r.fold().scene.boxes) <= 2 * MOST


@settings(max_examples=30)
@given(builders())
def test_the_same_record_is_the_same_everywhere(b):
    copied = copy.deepcopy(b)
    one, other = b.record(), copied.record()
    assert one == other and one.text() == other.text()
    assert wire.pack("graph", one.wire()) == wire.pack("graph", other.wire())


def test_few_boxes_at_first_sight():
    for r in (graph(), capture(chain(700)[1])):
        seen = [s for s in r.scene.boxes if s.what != 2]
        assert 1 < len(seen) <= MOST
    assert len(r.groups) == 20 and all(g.synthetic for g in r.groups)
    steps = [n.step for n in r.nodes if n.group >= 0]
    assert sorted(steps) == list(range(1, 702))


def test_alike_groups_open_together():
    r = graph()
    assert [r.groups[g].path for g in sorted(r.open)] == ["blocks.1", "blocks.0"]


def test_fold_and_unfold():
    r = graph()
    closed = r.fold("blocks.1")
    assert [f.title for f in closed.scene.frames] == ["blocks[0]"]
    label = next(s.label for s in closed.scene.boxes if s.what == 1)
    assert label[:3] == ("blocks[1]", "Block · 5 ops", "4–8")
    assert closed.unfold("blocks.1").open == r.open == closed.toggle("blocks.1").open
    assert r.fold().open == frozenset() and r.fold().unfold().open == frozenset(r.tree.frames)
    assert len(r.scene.boxes) > len(closed.scene.boxes) > len(r.fold().scene.boxes)
    with pytest.raises(ValueError, match=r"no such group: 'blocks.7'; it has 'blocks.1', 'blocks.0'"):
        r.fold("blocks.7")
    with pytest.raises(ValueError, match="no such group: 99"):
        r.unfold(99)


def test_opening_an_inner_group_opens_what_is_around_it():
    b = Builder("t")
    outer = b.group("a", path="a")
    inner = b.group("b", outer, path="a.b")
    nodes = [b.node("op", "Mul", group=g) for g in (outer, inner, inner)]
    b.edge(nodes[0], nodes[1])
    b.edge(nodes[1], nodes[2])
    r = b.record().fold().unfold("a.b")
    assert r.open == {outer, inner} and r.fold("a").open == frozenset()


def test_a_group_of_one_op_is_a_name_in_its_box():
    r = graph()
    labels = {s.label.bold: s.label.plain for s in r.scene.boxes if s.what == 0}
    assert (
        labels["head"] == "Linear 4 → 2" and labels["act (2nd use)"] == "Tanh" and "blocks[0]" not in labels
    )


def test_boxes_are_as_wide_in_every_state():
    r = graph()
    widths = {s.rect.width for state in (r, r.fold(), r.unfold()) for s in state.scene.boxes if s.what != 2}
    assert len(widths) == 1


def test_search():
    r = graph()
    assert [r.nodes[i].label for i in r.find("blocks.0 bias")] == [
        "blocks.0.a.bias",
        "blocks.0.b.bias",
    ] or r.find("head.weight")
    assert {r.nodes[i].op for i in r.find("TANHBACKWARD0")} == {"Tanh"}
    assert r.find("blocks.1 tanh") and r.find("4 × 4") and not r.find("nothing") and not r.find("  ")


def test_text():
    assert (
        graph().fold("blocks.0").text()
        == """\
loss.backward(): 13 ops, 10 parameters, saved 360 B
step  op                                       output  saved
   1  loss  Mean                               scalar
   2  Pow                                      3 × 2    24 B
   3  head Linear 4 → 2  Addmm                 3 × 2    48 B
          weight                               2 × 4
          bias                                 2
      ▾ blocks[1]: Block, 5 ops, 4 parameters
   4    Add                                    3 × 4
   5    act (2nd use) Tanh                     3 × 4    48 B
   6    b Linear 4 → 4  Addmm                  3 × 4
            weight                             4 × 4
            bias                               4
   7    act Tanh                               3 × 4    48 B
   8    a Linear 4 → 4  Addmm                  3 × 4    48 B
            weight                             4 × 4
            bias                               4
   9  ▸ blocks[0]: Block, 5 ops, 4 parameters  3 × 4   144 B"""
    )
    assert "‖gradient‖" in graph(backward=True).text()


def test_state_is_what_the_record_says():
    r = graph(backward=True)
    s = r.wire()
    text = s["strings"]
    nodes, edges = s["nodes"], s["edges"]
    assert [text[i] for i in nodes["op"]] == [n.op for n in r.nodes]
    assert [tuple(s["shapes"][i]) for i in nodes["shape"]] == [n.shape for n in r.nodes]
    assert list(zip(edges["source"], edges["target"], strict=True)) == [(e.source, e.target) for e in r.edges]
    assert [n.grad for n in r.nodes if n.grad] == [v for v in nodes["grad"] if v == v]
    assert {len(column) for column in nodes.values()} == {len(r.nodes)}
    assert {len(column) for column in edges.values()} == {len(r.edges)}
    assert [g["path"] for g in s["groups"]] == [g.path for g in r.groups]
    packed = wire.pack("graph", s)
    assert json.loads(packed[8 : 8 + int.from_bytes(packed[4:8], "little")])["kind"] == "graph"


def test_layouts_that_a_page_can_reach_without_a_kernel():
    r = graph()
    made = {tuple(m["open"]): m for m in r.wire()["layouts"]}
    first = next(iter(made))
    assert first == tuple(sorted(r.open))
    for g in r.tree.frames:
        assert tuple(sorted(r.toggle(g).open)) in made
    assert tuple(sorted(r.tree.frames)) in made
    for m in made.values():
        starts = m["edges"][:, 4]
        assert (np.diff(starts) >= 2).all() and len(m["points"]) - starts[-1] >= 2
        assert m["edges"][:, :2].max() < len(m["boxes"]) and m["pills"][:, 1].max(initial=0) < len(m["boxes"])
        assert (m["boxes"][:, 2:4] >= 0).all()
    closed = layout(r.fold())
    for key, value in closed.items():
        assert np.array_equal(value, made[()][key], equal_nan=key == "norms"), key


@given(builders())
@settings(max_examples=20, deadline=None)
def test_stages_run_from_all_closed_to_what_is_open_at_first(b):
    r = b.record()
    state = r.wire()
    opened = [frozenset(map(int, state["layouts"][i]["open"])) for i in state["stages"]]
    assert opened[0] == frozenset() and opened[-1] == r.open and state["stages"][-1] == 0
    assert all(a < b for a, b in itertools.pairwise(opened))
    asked = r.unfold().wire()  # the reader's wish is the first layout, and the stages stay
    assert frozenset(map(int, asked["layouts"][0]["open"])) == frozenset(r.tree.frames)
    assert [frozenset(map(int, asked["layouts"][i]["open"])) for i in asked["stages"]] == opened


def test_the_budget_of_layouts():
    r = capture(chain(3000)[1])
    made = r.wire()["layouts"]
    assert 1 <= len(made) < 60
    assert len(wire.pack("graph", r.wire())) < 600_000


def test_markup_stays_text():
    evil = "<b onload=x>&\n\x00"
    b = Builder(evil)
    g = b.group(evil)
    n = b.node("op", evil, label=evil, line=evil, group=g)
    b.edge(n, b.node("parameter", "p", label=evil))
    r = b.record()
    assert "\n" not in r.nodes[0].label and r.nodes[0].op.startswith("<b onload=x>&")
    assert "<b onload" in r.text()


def test_words():
    assert [shape_text(s) for s in [(), (3,), (3, 4)]] == ["scalar", "3", "3 × 4"]
    assert [bytes_text(n) for n in (0, 999, 1000, 49_600, 2_100_000, 3 * 10**12)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "50 kB",
        "2.1 MB",
        "3.0 TB",
    ]
    numbers = (0, 1, -0.25, 27.0, 1234.5, 3e-9, float("nan"), float("inf"), float("-inf"))
    assert [number_text(v, 3) for v in numbers] == [
        "0",
        "1.00",
        "−0.250",
        "27.0",
        "1234",
        "3.0e−9",
        "NaN",
        "+inf",
        "−inf",
    ]
    assert [cut("hello", n) for n in (5, 4, 1, 0)] == ["hello", "hel…", "…", ""]
    assert cut("名前名前", 5) == "名前…"
