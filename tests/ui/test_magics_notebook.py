"""Every `%vt` as a newcomer types it, in JupyterLab and in Notebook 7: what it says, shows and refuses."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.views import View

START = """%load_ext vistorch
import vistorch
from vistorch import nn
w = vistorch.arange(600).reshape(20, 30).float()
net = nn.Linear(4, 3)
small = vistorch.zeros(2)
"""


def test_the_table_of_names_is_sorted_and_opens_its_rows(notebook, page, shoot):
    nb = notebook(START, "%vt vars")
    nb.run(0)
    nb.run(1)
    out = nb.output(1)
    names = out.locator(".vt-vars tbody td:nth-child(2)")
    expect(names).to_have_text(["net", "small", "w"])
    shoot("table", nb.cell(1))
    head = out.get_by_role("button", name="bytes")
    head.click()
    expect(names).to_have_text(["w", "net", "small"])  # numbers: the largest first
    expect(out.locator("th", has_text="bytes")).to_have_attribute("aria-sort", "descending")
    head.click()
    expect(names).to_have_text(["small", "net", "w"])
    out.locator("tbody tr", has_text="20 × 30").click()
    view = View(page, out.locator(".vt-opened"))
    expect(view.root.locator(".vt-name")).to_have_text("w")
    view.press("ArrowDown", "ArrowRight")
    view.says("w[1, 1]", "31")
    shoot("opened", nb.cell(1))
    # By keys too, and JupyterLab takes none of them.
    rows = out.locator(".vt-vars tbody tr")
    rows.nth(2).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(out.locator(".vt-opened .vt-name")).to_have_text("small")
    nb.execute("del net")
    rows.nth(1).click()
    expect(out.locator(".vt-opened > .vt-note")).to_contain_text("net is gone")


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
def test_what_each_magic_says(notebook, page, shoot):
    nb = notebook(START)
    nb.run(0)

    def said(source, *, fails=False):
        index = nb.execute(source, fails=fails)
        return nb.text(index)

    overview = said("%vt")
    assert len(overview.splitlines()) <= 24
    for command in ("show", "vars", "device", "torch", "export", "doctor"):
        assert f"%vt {command}" in overview
    assert "Examples:" in said("%vt show?") and "--scale clip|max|log|fixed" in said("%vt show?")
    said("%vt show w")
    assert re.match(r"wrote w\.html \(\d+ kB\)", said("%vt export w.html"))
    assert (nb.server.folder / "w.html").stat().st_size > 10_000
    assert "cuda:3 (simulated)" in said("%vt device simulate 4")
    assert "device='cuda:0'" in said("vistorch.ones(2).cuda()")
    said("%vt torch on")
    assert said("import torch; torch.__spec__.name").strip("'") == "vistorch"
    assert "ok" in said("%vt doctor")
    # An error is one line that says what to type.
    for source, words in [
        ("%vt shwo w", "show"),
        ("%vt show nothing", "nothing"),
        ("%vt show w --scale lgo", "log"),
    ]:
        index = nb.execute(source)
        text = nb.output(index).inner_text()
        assert words in text and len(text.strip().splitlines()) == 1, text
        assert "Traceback" not in text
    said("%unload_ext vistorch")
    index = nb.execute("w")
    assert nb.output(index).locator(".vt").count() == 0
    said("%load_ext vistorch\n%load_ext vistorch")
    View(page, nb.output(nb.execute("w")))
    shoot("magics")
