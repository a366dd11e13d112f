"""What a person does with a trace: reads it, walks it by hand and by keys, copies it, in a file and in Jupyter."""

import re

import pytest

from tests.widgets import findings
from vistorch.widgets._frame.display import Display

CELL = """%%vt trace
p = logits.softmax(-1)
h = -p * p.log()
h = torch.where(p > 0, h, torch.zeros_like(h))
H = h.sum()
H.backward()
print("said")
H"""
START = """%load_ext vistorch
import vistorch as torch
logits = torch.tensor([[1.0, 0.0, -1.0], [-200.0, 0.0, -200.0]], requires_grad=True)"""
FRAMES = "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r))))"
SCROLLS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def chosen(page):
    return page.locator('.vt-rp-row[aria-selected="true"]').inner_text()


@pytest.fixture
def shown(standalone, theme):
    """A record's page as a file."""

    def show(record):
        page = standalone(Display(record).html(), theme)
        page.wait_for_selector(".vt-rp")
        return page

    return show


def test_a_page_that_needs_no_server(shown, shoot):
    page = shown(findings.entropy())
    verdict = page.locator(".vt-rp-verdict")
    assert (
        "comes from cell [8], line 2: log of p[1, 0] = 0 gives −inf, in 2 of 6 values" in verdict.inner_text()
    )
    assert (
        page.locator(".vt-tr-start").inner_text().split()
        == "2 h = -p * p.log() starts here bad again in backward".split()
    )
    assert page.locator(".vt-tr-bad").all_inner_texts() == ["−inf", "−inf"]
    assert page.locator(".vt-tr-cause").all_inner_texts() == ["0", "0"]
    assert "log" in chosen(page)
    shoot("entropy")


def test_hands_and_keys(shown):
    page = shown(findings.entropy())
    rows = page.locator(".vt-rp-body > .vt-rp-row")
    rows.nth(3).click()
    assert "mul" in chosen(page)
    assert "0 · (−inf) = nan" in page.locator(".vt-rp-side").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert "where" in chosen(page)
    assert "torch.where" in page.locator(".vt-tr-here").inner_text()
    page.keyboard.press("]")
    assert "origin 3 of 3" in page.locator(".vt-rp-side").inner_text()
    page.get_by_role("button", name="next origin").click()
    assert "origin 1 of 3" in page.locator(".vt-rp-side").inner_text()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "next origin"
    page.keyboard.press("c")
    noted = page.locator(".vt-rp-status, .vt-rp-take:not([hidden])").first
    noted.wait_for(state="attached")
    page.wait_for_function("/copied|press/.test(document.querySelector('.vt-rp-status').textContent)")


def test_a_node_of_the_graph_and_its_row_are_chosen_together(shown, shoot):
    page = shown(findings.entropy())
    node = page.locator(".vt-linked .vt-node", has_text="Where")
    assert page.locator(".vt-linked .vt-found").count() == 5
    node.scroll_into_view_if_needed()
    node.click()
    assert "where" in chosen(page)
    page.locator(".vt-rp-body > .vt-rp-row", has_text="-p * p.log()").click()
    assert "Mul" in page.locator(".vt-linked .vt-chosen").text_content()
    shoot("linked")


# What a mark of the graph lies on: words of boxes and edges, drawn in full or in part below or above it.
LIES_ON = """() => {
  const found = [];
  for (const mark of document.querySelectorAll(".vt-found")) {
    const a = mark.getBoundingClientRect();
    for (const text of document.querySelectorAll(".vt-graph text")) {
      const b = text.getBoundingClientRect();
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (b.width && wide > 0 && high > 0) found.push(text.textContent);
    }
  }
  return found;
}"""


@pytest.mark.parametrize("make", [findings.entropy, findings.diverging, findings.forked])
def test_no_mark_of_the_graph_lies_on_words(shown, shoot, make):
    page = shown(make())
    assert page.locator(".vt-found").count() > 2
    assert page.evaluate(LIES_ON) == []
    shoot(make.__name__)


@pytest.mark.parametrize("height", [120, 333])
def test_a_table_that_scrolls_to_a_row_cuts_none_below_its_head(shown, height):
    page = shown(findings.diverging())
    page.add_style_tag(content=f".vt-rp-list {{ max-height: {height}px !important }}")
    turn = page.get_by_role("button", name="Only what is bad")
    turn.click()  # each press shows other rows, and the chosen one again
    turn.click()
    page.evaluate(FRAMES)
    cut = page.evaluate(
        """() => {
          const head = document.querySelector(".vt-rp-heads").getBoundingClientRect().bottom;
          const rows = [...document.querySelectorAll(".vt-rp-body > .vt-rp-row")].map(r => r.getBoundingClientRect());
          return rows.filter(r => r.top < head - 1 && r.bottom > head + 1).length;
        }"""
    )
    scrolled = page.locator(".vt-rp-list").evaluate("e => e.scrollTop")
    assert cut == 0 and scrolled > 0


def test_tab_goes_through_all_of_it(shown):
    page = shown(findings.entropy())
    seen = []
    for _ in range(7):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("document.activeElement.getAttribute('role') || document.activeElement.tagName")
        )
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") in ("solid", "auto")
    assert seen[:3] == ["BUTTON", "list", "row"] and seen.count("BUTTON") == 3 and seen.count("table") >= 2


@pytest.mark.parametrize("make", [findings.entropy, findings.diverging, findings.compared, findings.memory])
@pytest.mark.parametrize("width", [420, 640])
def test_nothing_is_wider_than_a_narrow_page(shown, shoot, page, make, width):
    page.set_viewport_size({"width": width, "height": 900})
    shown(make())
    assert not page.evaluate(SCROLLS)
    outside = """[...document.querySelectorAll('.vt-rp-cell, .vt-rp-side, .vt-rp-verdict, .vt-tr-lines')].filter(
        e => e.offsetParent && e.getBoundingClientRect().right > innerWidth).length"""
    assert page.evaluate(outside) == 0
    shoot(f"{make.__name__}-{width}")


def test_a_long_one_scrolls_in_its_own_box_and_shows_only_what_is_bad(shown, shoot):
    page = shown(findings.diverging())
    rows = page.locator(".vt-rp-body > .vt-rp-row")
    before = rows.count()
    assert page.locator(".vt-rp-list").evaluate("e => e.scrollHeight > e.clientHeight")
    page.get_by_role("button", name="Only what is bad").click()
    assert rows.count() != before
    shoot("long")


def test_markup_is_text(shown, shoot):
    page = shown(findings.evil())
    assert page.locator("img").count() == 0
    assert findings.EVIL in page.locator(".vt-tr-start").inner_text()
    shoot("evil")


def test_letters_can_be_read(shown, page):
    """4.5 : 1 for every text on what lies behind it."""
    for make in (findings.entropy, findings.compared, findings.memory):
        shown(make())
        poor = page.evaluate(
            """() => {
              const light = c => { const v = c / 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
              const lum = ([r, g, b]) => .2126 * light(r) + .7152 * light(g) + .0722 * light(b);
              const rgb = s => s.match(/[\\d.]+/g).map(Number);
              const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
                if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
              const out = [];
              for (const e of document.querySelectorAll('.vt-rp *')) {
                if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.offsetParent) continue;
                const [a, b] = [lum(rgb(getComputedStyle(e).color)), lum(ground(e))].sort((x, y) => y - x);
                const ratio = (a + .05) / (b + .05);
                if (ratio < 4.5) out.push(`${e.className} ${e.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
              }
              return out;
            }"""
        )
        assert poor == []


def test_a_comparison_has_one_cursor_for_three_pictures(shown, page, shoot):
    shown(findings.compared())
    maps = page.locator(".vt-cm-maps")
    maps.scroll_into_view_if_needed()
    assert page.locator(".vt-cm-place").inner_text().endswith("where it is largest")
    canvases = maps.locator("canvas")
    assert canvases.count() == 3
    ink = "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"
    page.wait_for_function(f"[...document.querySelectorAll('.vt-cm-map canvas')].every(c => ({ink})(c) > 3)")
    canvases.nth(1).hover(position={"x": 5, "y": 5})
    assert page.locator(".vt-cm-place").inner_text() == "[0, 0]"
    maps.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".vt-cm-place").inner_text() == "[0, 1]"
    shoot("compare")


def test_memory_is_walked_in_time(shown, page, shoot):
    shown(findings.memory())
    noted = page.locator(".vt-me-status")
    assert noted.inner_text().endswith("the peak")
    page.locator(".vt-me-slider").focus()
    page.keyboard.press("End")
    assert re.match(r"tick (\d+) of \1, backward 2: 0 B kept by 0 nodes", noted.inner_text())
    page.keyboard.press("p")
    assert noted.inner_text().endswith("the peak")
    box = page.locator(".vt-me-view").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 60)
    assert noted.inner_text().startswith("tick 0 of")
    page.locator(".vt-rp-body > .vt-rp-row").first.click()
    assert float(page.locator(".vt-me-life").get_attribute("width")) > 10
    shoot("memory")


def test_in_a_notebook(notebook, shoot):
    nb = notebook(START, CELL, "1 / 0")
    nb.run(0)
    nb.run(1)
    outputs = nb.outputs(1)
    assert [o["output_type"] for o in outputs] == ["stream", "execute_result", "display_data"]
    assert outputs[0]["text"] in ("said\n", ["said\n"])
    assert outputs[1]["execution_count"] == 2
    text = "".join(outputs[2]["data"]["text/plain"])
    assert text.startswith("first bad value: 7 ops forward, 6 back\n")  # showing H adds none
    assert "comes from cell [2], line 3: log of p[1, 0] = 0 gives -inf" in text
    page = nb.page
    card = nb.output(1).locator(".vt-rp-trace")
    card.wait_for()
    assert "cell [2], line 3" in card.locator(".vt-rp-verdict").inner_text()
    rows = card.locator(".vt-rp-body > .vt-rp-row")
    rows.nth(0).click()
    page.keyboard.press("ArrowDown")
    assert "neg" in card.locator('.vt-rp-row[aria-selected="true"]').inner_text()
    assert page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex") == 1
    shoot("notebook", card)
    nb.run(2, fails=True)
    (error,) = nb.outputs(2)
    assert error["ename"] == "ZeroDivisionError" and "Traceback" in "".join(error["traceback"])


def test_an_exception_in_a_notebook(notebook, shoot):
    nb = notebook(START, "%%vt trace\ny = (logits - 1).log()\ny @ torch.ones(4)", "print('after')")
    nb.run(0)
    nb.run(1, fails=True)
    kinds = [one["output_type"] for one in nb.outputs(1)]
    assert sorted(kinds) == [
        "display_data",
        "display_data",
        "error",
    ]  # the trace, and the shapes that do not fit
    (error,) = (one for one in nb.outputs(1) if one["output_type"] == "error")
    assert error["ename"] == "RuntimeError"
    noted = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert "y @ torch.ones(4)" in noted and "run_cell_magic" not in noted
    card = nb.output(1).locator(".vt-rp-trace")
    card.wait_for()
    assert "The cell ended with RuntimeError" in card.inner_text()
    shoot("exception", nb.output(1))


def test_record_compare_and_memory_in_a_notebook(notebook, shoot, theme):
    nb = notebook(
        START + "\nw = torch.ones(3, requires_grad=True)",
        "%%vt record before\n(w * logits).exp().sum().backward()",
        "%%vt record after\n(w * logits * 1.5).exp().sum().backward()",
        "%vt compare before after",
        "%%vt memory\nloss = (w * logits).exp().sum()\nloss.backward()",
        theme=theme,
    )
    for cell in range(5):
        nb.run(cell)
    assert nb.text(1).startswith("recording 'before': 3 ops, gradients of 2 leaves")
    card = nb.output(3).locator(".vt-rp-compare")
    card.wait_for()
    assert "Only after has mul" in card.inner_text()
    shoot("compare", card)
    curve = nb.output(4).locator(".vt-rp-memory")
    curve.wait_for()
    assert "the peak" in curve.locator(".vt-me-status").inner_text()
    shoot("memory", curve)
