"""Graphs as SVG: well formed, the same bytes, text that stays text."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.debug.graph.networks import capture, chain, graph
from vistorch.debug.graph import Builder, capture_last
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.kinds import painter

SVG = "{http://www.w3.org/2000/svg}"


def drawn(r, theme="light"):
    return ET.fromstring(painter("graph").paint(r, theme))


def texts(root):
    return ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]


def test_what_is_drawn():
    r = graph(backward=True)
    root = drawn(r)
    said = texts(root)
    assert "loss.backward()13 ops · 10 parameters" in said
    assert {
        "headLinear 4 → 2",
        "Addmm 3",
        "act (2nd use)Tanh",
        "▾ blocks[1]",
        "Block · 5 ops · 4 parameters",
    } <= set(said)
    assert sum(t.startswith("weight") for t in said) == 5
    rects = [float(e.get("width")) for e in root.iter(f"{SVG}rect")]
    assert max(rects) < float(root.get("width"))
    assert root.get("role") == "img" and root.get("aria-label").startswith("loss.backward(): 13 ops")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_same_record_gives_the_same_bytes(theme):
    one, other = (graph(backward=True) for _ in range(2))
    assert painter("graph").paint(one, theme) == painter("graph").paint(other, theme)


def test_themes_differ_in_colours_only():
    r = graph()
    light, dark = (re.sub(rb"#[0-9a-f]{6}", b"", painter("graph").paint(r, t)) for t in ("light", "dark"))
    assert light == dark


def test_nothing_is_drawn_outside():
    for r in (graph(), graph().unfold(), graph().fold(), capture(chain(200)[1])):
        root = drawn(r)
        wide, tall = float(root.get("width")), float(root.get("height"))
        (move,) = [g for g in root.iter(f"{SVG}g") if g.get("transform")]
        dx, dy = map(float, re.findall(r"[\d.]+", move.get("transform")))
        for e in move.iter(f"{SVG}rect"):
            x, y = float(e.get("x")) + dx, float(e.get("y")) + dy
            assert x >= 0 and y >= 0
            assert x + float(e.get("width")) <= wide and y + float(e.get("height")) <= tall


def test_markup_in_names_stays_text():
    evil = "<script>alert(1)</script>&\"'\x00\x1b]\ud800"
    b = Builder(evil)
    g = b.group(evil)
    nodes = [b.node("op", evil, label=evil, line=evil, group=g, says=evil) for _ in range(2)]
    b.edge(*nodes)
    b.edge(nodes[1], b.node("parameter", "p", label=evil))
    b.edge(nodes[1], b.node("input", "p", label=evil))
    b.roots.append((0, evil))
    r = b.record()
    for state in (r, r.fold()):
        root = drawn(state)
        assert not list(root.iter(f"{SVG}script"))
        assert any("<script>alert(1)" in t for t in texts(root))


def test_norms_make_edges_wider():
    b = Builder("t")
    nodes = [b.node("op", "Mul") for _ in range(5)]
    for i, norm in enumerate((1e-3, 1.0, 1e3, float("inf"))):
        b.edge(nodes[i], nodes[i + 1], norm=norm)
    lines = [e for e in drawn(b.record()).iter(f"{SVG}path") if e.get("stroke-width") and "V" in e.get("d")]
    widths = [float(e.get("stroke-width")) for e in lines]
    assert widths == [1.5, 3.75, 6.0, 6.0]
    assert lines[3].get("stroke") != lines[2].get("stroke")


def test_a_failure_is_said_in_the_picture():
    import vistorch as L

    with pytest.raises(RuntimeError) as caught:
        L.ones(2, 3, requires_grad=True).exp() @ L.ones(2, 3)
    said = " ".join(texts(drawn(capture_last(caught.value))))
    assert "RuntimeError: mat1 and mat2 shapes cannot be" in said and "mm failed" in said


def test_a_display_of_it():
    shown = Display(graph(), "g")
    assert shown.picture()[0] == "image/svg+xml" and shown.svg().startswith("<svg")
    assert shown.text().startswith("loss.backward()")
    assert shown.payload()[:4] == b"VT1\0"
