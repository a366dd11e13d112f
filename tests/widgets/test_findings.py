"""Pictures of traces, comparisons and memory: well formed, the same bytes, inside their sheet, text that stays text."""

import re
import xml.etree.ElementTree as ET

import pytest

import vistorch as L
from tests.widgets import findings
from vistorch.debug.timeline import Timeline
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.kinds import painter

SVG = "{http://www.w3.org/2000/svg}"
RECORDS = {
    "trace": findings.entropy,
    "long": findings.diverging,
    "failed": findings.failed,
    "clean": findings.clean,
    "evil": findings.evil,
    "compare": findings.compared,
    "memory": findings.memory,
}
every = pytest.mark.parametrize("make", RECORDS.values(), ids=RECORDS)


def drawn(record, theme="light"):
    return ET.fromstring(painter(record.kind).paint(record, theme))


def texts(root):
    return ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]


@every
def test_the_same_run_gives_the_same_bytes(make):
    one, other = make(), make()
    for theme in ("light", "dark"):
        assert painter(one.kind).paint(one, theme) == painter(one.kind).paint(other, theme)
    assert Display(one).payload() == Display(other).payload()


@every
def test_themes_differ_in_colours_only(make):
    record = make()
    light, dark = (
        re.sub(rb"#[0-9a-f]{6}", b"", painter(record.kind).paint(record, t)) for t in ("light", "dark")
    )
    assert light == dark


@every
def test_nothing_is_drawn_outside(make):
    root = drawn(make())
    wide, tall = float(root.get("width")), float(root.get("height"))
    assert wide == 760
    for e in root.iter():
        x, y = float(e.get("x") or 0), float(e.get("y") or 0)
        assert 0 <= x <= wide and 0 <= y <= tall
        if e.tag == f"{SVG}rect":
            assert x + float(e.get("width")) <= wide and y + float(e.get("height")) <= tall
        if e.tag == f"{SVG}text":
            size = float(e.get("font-size") or 12)
            length = len("".join(e.itertext())) * size * 0.5
            assert (x - length if e.get("text-anchor") == "end" else x) >= 0
            assert x + (0 if e.get("text-anchor") == "end" else length) <= wide, "".join(e.itertext())


def test_a_trace():
    said = texts(drawn(findings.entropy()))
    assert "first bad value7 ops forward · 6 back" in said
    assert {
        "starts here",
        "bad again in backward",
        "healed forward only",
        "▼ −inf",
        "origin",
        "healed",
    } <= set(said)
    assert said.count("▼ −inf") == 2 and said.count("propagated") == 3
    assert any(text.startswith("Cure: take the log of a clamped value, such as ") for text in said)
    assert any(text.startswith("To step into it, type %vt break bad (in a script ") for text in said)


def test_a_long_trace_counts_what_it_leaves_out():
    record = findings.diverging()
    root = drawn(record)
    said = texts(root)
    assert len([e for e in root.iter(f"{SVG}rect") if e.get("fill") == "#e7effc"]) == 1, (
        "the origin's row is not drawn"
    )
    ops = sum(text in ("clean", "propagated", "origin", "healed", "–") for text in said) // 2
    (more,) = [int(re.sub(r"\D", "", text)) for text in said if re.fullmatch(r"and [\d,]+ more", text)]
    assert ops + more == len(record.rows)
    assert any(text.startswith("\u00a0\u00a0\u00a0\u00a0loss = net(X)") for text in said)


def test_an_exception_and_nothing_to_find():
    assert any(t.startswith("The cell ended with RuntimeError: ") for t in texts(drawn(findings.failed())))
    said = texts(drawn(findings.clean()))
    assert "There is no bad value in 2 ops forward and 0 back." in said and len(said) == 2, said


def test_a_comparison():
    said = texts(drawn(findings.compared()))
    assert "before against after7 ops · 7 differ" in said or any(
        "before against after" in text for text in said
    )
    assert "its own" in said and "inherited" in said and "LeakyReLU · leaky_relu" in said


def test_memory():
    record = findings.memory()
    said = texts(drawn(record))
    assert any(text.startswith("At most ") and "TanhBackward0" in text for text in said)
    assert sum(text.startswith("Tanh · TanhBackward0 · 32 × ") for text in said) == 4
    root = drawn(record)
    shaded = [e for e in root.iter(f"{SVG}rect") if e.get("fill") == "#fbeee2"]
    assert len(shaded) == len(record.backward) == 2


def test_a_very_long_run_stays_small():
    x = L.ones(10, requires_grad=True)
    with Timeline() as seen:
        for i in range(3000):
            if i % 2 == 0:
                y = x.exp()
            y = y.sin()
    record = seen.record()
    assert len(painter("memory").paint(record)) < 60_000


def test_nothing_was_kept():
    with Timeline() as seen:
        pass
    assert "Nothing is kept for backward." in texts(drawn(seen.record()))


def test_markup_and_control_characters_stay_text():
    record = findings.evil()
    record.sentence = f'"{findings.EVIL}'
    record.error = "\x00\x1b]\ud800 " + findings.EVIL
    root = drawn(record)
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {"svg", "rect", "text", "tspan", "path", "g"}
    assert any(findings.EVIL in text for text in texts(root))


@every
def test_what_a_display_weighs(make):
    shown = Display(make())
    assert len(shown.html()) + len(shown.svg()) + len(shown.text()) < 120_000
