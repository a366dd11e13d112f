"""A record becomes text, a picture and a page; what is kept of it is bounded."""

import base64
import gc
import re
import sys
import types
import weakref
import zlib

import numpy as np
import pytest

from tests.widgets.states import Record, item
from vistorch.widgets._frame import bundles, display, standalone
from vistorch.widgets._frame.display import Display, Shown
from vistorch.widgets._frame.wire import unpack

MARKUP = "</script><script>alert(1)</script><b>&amp;"


def carried(html):
    """The page's module and the record, as a browser would read them."""
    script = re.search(r'<script type="module">(.*?)</script>', html, re.S)[1]
    found = re.search(r'code="([^"]*)",data="([^"]*)"', script)
    return [zlib.decompress(base64.b64decode(text), -15) for text in found.groups()]


def test_layers_and_their_order(pages):
    bundle = Display(Record(item(np.eye(3))))._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "image/png", "text/html"]
    assert bundle["text/plain"] == "tensor([...])"
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")


def test_the_page_carries_everything(pages):
    record = Record(item(np.eye(3)), text="tensor <1> & 2")
    html = Display(record).html()
    code, data = carried(html)
    assert code == (pages / "array.js").read_bytes()
    kind, state = unpack(data)
    assert kind == "array" and "text" not in state
    np.testing.assert_array_equal(state["items"][0]["layers"][0]["values"]["data"], np.eye(3))
    assert "tensor &lt;1&gt; &amp; 2</pre>" in html
    assert html.count("src=") == html.count('src="data:image/png;base64,') == 1
    assert not re.search(r"https?:|href=", html.replace(re.search(r'code="[^"]*",data="[^"]*"', html)[0], ""))


def test_the_same_record_gives_the_same_html(pages):
    first, again = (Display(Record(item(np.eye(3)))).html() for _ in range(2))
    other = Display(Record(item(np.eye(4)))).html()
    assert first == again != other
    assert re.search(r'data-vistorch="(\w+)"', first)[1] != re.search(r'data-vistorch="(\w+)"', other)[1]


def test_names_are_text(pages):
    made = Display(Record(item(np.eye(2), name=MARKUP), title=MARKUP, text=MARKUP), name=MARKUP)
    for html in (made.html(), made.document()):
        assert html.count("<script") == html.count("</script>") == 1
        assert "<b>" not in html and "alert(1)&lt;/script&gt;" in html
    assert unpack(carried(made.html())[1])[1]["items"][0]["name"] == MARKUP


def test_a_document_stands_alone(pages):
    text = Display(Record(item(np.eye(2))), name="w").document()
    assert text.startswith("<!doctype html>") and "<title>w</title>" in text
    assert "<noscript><img" in text


def test_without_a_built_page_there_are_text_and_picture(pages):
    (pages / "array.js").unlink()
    made = Display(Record(item(np.eye(2))))
    assert list(made._repr_mimebundle_()) == ["text/plain", "image/png"]
    with pytest.raises(FileNotFoundError, match="the page for 'array' is not built: run `make js`"):
        made.html()


def test_a_rebuilt_page_is_read_again(pages):
    before = bundles.packed("array")
    (pages / "array.js").write_text("export default {}")
    assert bundles.packed("array")[1] != before[1]


def test_a_second_kind_needs_no_change(pages, monkeypatch):
    class Dots:
        kind = "dots"

        def text(self):
            return "two dots"

        def wire(self):
            return {"title": "dots", "at": np.array([1, 2])}

    drawing = types.ModuleType("dots")
    drawing.MIME = "image/svg+xml"
    drawing.paint = lambda record, theme="light": b"<svg/>"
    monkeypatch.setitem(sys.modules, "vistorch.widgets.dots", types.ModuleType("dots"))
    monkeypatch.setitem(sys.modules, "vistorch.widgets.dots.picture", drawing)
    (pages / "dots.js").write_text("export default {}")
    made = Display(Dots())
    assert made._repr_mimebundle_() == {
        "text/plain": "two dots",
        "image/svg+xml": "<svg/>",
        "text/html": made.html(),
    }
    assert unpack(carried(made.html())[1])[0] == "dots" and made.svg() == "<svg/>"
    with pytest.raises(ValueError, match=r"drawn as SVG: export it to a \.svg or \.html file"):
        made.png()


def test_work_is_done_when_asked_and_once(pages, monkeypatch):
    asked = []
    record = Record(item(np.eye(2)))
    monkeypatch.setattr(record, "wire", lambda: asked.append("wire") or record.state)
    made = Display(record)
    assert asked == []
    made.html()
    once = list(asked)  # by the page, and by the picture in it
    assert 1 <= len(once) <= 2
    made.html(), made.payload(), made.picture()
    assert asked == once


def test_the_newest_are_found_by_name(pages):
    kept = Shown(kept=3)
    made = [Display(Record(item(np.eye(2))), name=name) for name in ("a", "b", "a", "")]
    assert kept.last is None and kept.find("a") is None
    for one in made[:3]:
        kept.add(one)
    assert kept.find("a") is made[2] and kept.names() == ["a", "b"] and kept.last is made[2]
    kept.add(made[3])
    kept.add(made[1])
    assert kept.last is made[1] and kept.names() == ["b", "a"]


def test_what_is_shown_again_and_again_is_let_go(pages):
    seen = []
    for _ in range(40):
        made = Display(Record(item(np.eye(8))))
        made._repr_mimebundle_()
        seen.append(weakref.ref(made.record))
    del made
    gc.collect()
    assert sum(one() is not None for one in seen) == display.KEPT


def test_deflated_is_what_a_browser_inflates():
    data = bytes(range(256)) * 300
    assert zlib.decompress(base64.b64decode(bundles.deflated(data)), -15) == data


def test_the_script_is_closed_by_its_own_tag_alone():
    assert "<" not in standalone._literal("</script><!--")
