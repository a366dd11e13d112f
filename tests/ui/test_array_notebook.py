"""The array view in JupyterLab and Notebook 7: as a cell's value, with a kernel behind it, saved and opened again."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from tests.ui import driver
from tests.ui.views import View, allow_clipboard, boxes, clipboard

START = """%load_ext vistorch
import vistorch as torch
from vistorch import nn
torch.manual_seed(0)
w = torch.zeros(12, 20)
w[5, 7] = 9.0
"""
END = {"light": "#01402f", "dark": "#adefd5"}
ALIVE = """
import gc, weakref
from vistorch.widgets._frame.live import Live
from vistorch.widgets._frame.display import shown
"""


def kinds(nb, index):
    return [set(output["data"]) for output in nb.outputs(index) if "data" in output]


def test_a_cells_value_shows_itself(notebook, page, shoot):
    nb = notebook(START + "w", "w.sum()", "[w, 1]", "print(w.shape)")
    nb.run(0)
    # Text, picture and page; no widget where none is needed.
    assert kinds(nb, 0) == [{"text/plain", "image/png", "text/html"}]
    assert nb.outputs(0)[0]["data"]["text/plain"].startswith("tensor([[0., 0., 0.,")
    view = View(page, nb.output(0))
    expect(view.root.locator(".vt-name")).to_have_text("w")
    expect(nb.output(0).get_by_text("w", exact=True)).to_have_count(1)  # its name is said once
    assert nb.output(0).locator("img").count() == 0
    allow_clipboard(page)
    view.click(view.shown(END["light"]))
    view.says("w[5, 7]", "9")
    expect(view.hint).to_have_text("copied w[5, 7]")
    assert clipboard(page) == "w[5, 7]"
    # Its keys are its own: JupyterLab would add, run and delete cells by them.
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    view.press("a", "b", "s", "d", "d", "x", "ArrowLeft", "ArrowLeft", "ArrowDown", "Enter")
    view.says("w[6, 5]")
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert len(nb.outputs(0)) == 1
    # The host's rules for lists and headings stay outside: the numbers stand in two rows of four.
    places = boxes(*view.root.locator(".vt-stats > div").all())
    assert len({round(box["y"]) for box in places}) == 2 and len({round(box["x"]) for box in places}) == 4
    printed = nb.output(0).locator("pre").first
    assert printed.evaluate("pre => getComputedStyle(pre).fontFamily").find("mono") >= 0
    shoot("light", nb.cell(0))
    nb.theme("dark")
    view.shown(END["dark"])
    expect(view.root).to_have_css("background-color", "rgb(17, 17, 17)")
    shoot("dark", nb.cell(0))
    for index, text in [(1, "tensor(9.)"), (2, "[tensor("), (3, "vistorch.Size([12, 20])")]:
        nb.run(index)
        assert nb.text(index).startswith(text)
    expect(nb.output(1).locator(".vt-number")).to_have_text("9")
    assert nb.output(2).locator(".vt").count() == 0


def test_a_kernel_sends_what_the_overview_lacks(notebook, page, shoot):
    nb = notebook(
        START + "big = torch.arange(1_000_000).reshape(1000, 1000).double() / 7",
        "%vt show big",
        "big[123, 457].item()",
        "del big",
    )
    for index in (0, 1, 2):
        nb.run(index)
    assert kinds(nb, 1) == [{"text/plain", "image/png", "text/html"}]  # live, and no widget in the file
    view = View(page, nb.output(1))
    say = view.root.locator(".vt-lens .vt-note")
    expect(say).to_contain_text("exact values, rows 0–")
    view.says("big[0, 0]", "0")
    allow_clipboard(page)
    # To one element by keys alone; its value is the kernel's, and not the block's.
    view.press("Shift+ArrowDown", "Shift+ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight")
    view.says("big[20, 3]", f"{20003 / 7:,.4g}".replace(",", ""))
    view.hover({"x": 200, "y": 150, "width": 0, "height": 0})
    for _ in range(8):
        page.mouse.wheel(0, -300)
    expect(view.zoom).not_to_have_text("1.0×")
    where = re.compile(r"^big\[(?!20, 3)\d+, \d+\]$")  # a single element, where the overview has blocks
    expect(view.where).to_have_text(where)
    i, j = map(int, re.findall(r"\d+", view.where.inner_text()))
    shown = float(view.values.first.inner_text().replace("e+", "e"))
    assert shown == pytest.approx((1000 * i + j) / 7, rel=1e-3)
    view.click({"x": 200, "y": 150, "width": 0, "height": 0})
    expect(view.hint).to_have_text(f"copied big[{i}, {j}]")
    assert clipboard(page) == f"big[{i}, {j}]"
    shoot("tiles", nb.cell(1))
    # Once the program lets go of the array the page says so, and keeps what it has.
    nb.run(3)
    view.press("0", "End", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown")
    expect(view.root.locator("> .vt-note")).to_contain_text("the array is gone from the kernel")
    expect(say).not_to_contain_text("asking")
    shoot("gone", nb.cell(1))


def test_a_parameter_and_a_module(notebook, page, shoot):
    nb = notebook(
        START + "net = nn.Sequential(nn.Conv2d(3, 8, 5), nn.ReLU(), nn.Flatten(), nn.Linear(32, 5))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=.1)\nx = torch.randn(4, 3, 6, 6)",
        "%vt show net[0].weight",
        "net(x).square().mean().backward(); opt.step()",
        "%vt show net[0].weight",
        "%vt show net",
        "net[3].bias",
    )
    for index in range(6):
        nb.run(index)
    expect(nb.output(1).locator(".vt-says, .vt-note", has_text="no gradient")).to_be_visible()
    view = View(page, nb.output(3))
    expect(view.root.locator(".vt-sub")).to_have_count(3)
    axes = view.root.locator(".vt-axname b")
    assert axes.all_inner_texts()[:2] == ["out", "in"]
    view.press("ArrowRight")
    view.says("[0, 0, 0, 1]")
    expect(view.values).to_have_count(3)
    shoot("linked", nb.cell(3))
    strip = nb.output(4)
    expect(strip.locator(".vt-title")).to_have_text("net")
    expect(strip.locator(".vt-row")).to_have_count(4)
    strip.get_by_role("button", name="Unfold all").click()
    expect(strip.locator(".vt-card:not(.vt-strip)")).to_have_count(4)
    shoot("strip", nb.cell(4))
    expect(nb.output(5).locator(".vt-name")).to_have_text("net[3].bias")
    shoot("bias", nb.cell(5))


def test_saved_opened_again_and_not_trusted(notebook, page, jupyter, shoot):
    nb = notebook(START + "w", "big = torch.randn(600, 600)", "%vt show big --live off")
    for index in range(3):
        nb.run(index)
    View(page, nb.output(0))
    nb.save()
    nb.open()  # by who wrote it: no cell has run, and the page answers
    view = View(page, nb.output(0))
    view.hover(view.shown(END["light"]))
    view.says("w[5, 7]", "9")
    saved = json.loads(nb.path().read_text())
    assert "widgets" not in saved["metadata"]
    saved["cells"][0]["source"] += "\n# someone else's"
    for cell in saved["cells"]:
        cell["metadata"].pop("trusted", None)
    (nb.server.folder / "foreign.ipynb").write_text(json.dumps(saved))
    foreign = driver.Notebook(page, jupyter, "foreign.ipynb")
    image = foreign.output(0).locator("img")
    expect(image).to_be_visible()  # untrusted: the picture
    assert image.evaluate("image => image.naturalWidth") > 300
    assert foreign.page.locator(".vt").count() == 0
    shoot("untrusted", foreign.cell(0))


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
def test_the_same_shown_again_and_again_leaks_nothing(notebook, page):
    nb = notebook(
        START + ALIVE + "big = torch.randn(500, 500)",
        "w",
        "%vt show big --live on",
        "gc.collect(); len(Live._open), len(shown._of_late), len(gc.get_referrers(big))",
    )
    nb.run(0)
    client = page.context.new_cdp_session(page)
    page.evaluate("window.marks = []")
    counts = []
    for turn in range(6):
        nb.run(2)
        nb.run(1)
        page.wait_for_function("document.querySelectorAll('.vt-card').length === 2")
        page.evaluate(
            "() => { marks.push(new WeakRef(document.querySelector('[data-windowed-list-index=\"1\"] .vt'))); }"
        )
        if turn in (2, 5):
            nb.run(3)
            counts.append(eval(nb.text(3)))
    # The kernel: one view answers, what is kept for export is bounded, and nothing more points at the array.
    assert counts[1][0] == 1 and counts[1][1] <= 16 and counts[1][2] == counts[0][2]
    # The page: only what stands there now is held.
    for _ in range(20):
        client.send("HeapProfiler.collectGarbage")
        page.wait_for_timeout(100)
        alive = page.evaluate("marks.map((mark) => mark.deref() !== undefined)")
        if sum(alive[:-1]) == 0:
            break
    assert alive == [False] * 5 + [True]


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
def test_a_small_picture_in_a_list_has_all_columns(notebook):
    fill = "for p in net.parameters():\n    p.data.zero_()\n    p.data[..., -1] = 1"
    nb = notebook(
        f"%load_ext vistorch\nfrom vistorch import nn\nnet = nn.Linear(8, 8)\n{fill}", "%vt show net"
    )
    nb.run(0)
    nb.run(1)
    canvases = nb.output(1).locator("canvas.vt-thumb")
    expect(canvases).to_have_count(2)
    shares = """all => all.map(c => {
        const { data } = c.getContext("2d").getImageData(0, c.height >> 1, c.width, 1);
        const at = i => data.slice(4 * i, 4 * i + 3).join();
        const columns = [...Array(c.width).keys()].map(at);
        return columns.filter(one => one !== columns[0]).length / c.width;
    })"""
    # A canvas stands in the page before it is drawn on.
    drawn = "all => all.every(c => c.getContext('2d').getImageData(0, 0, 1, 1).data[3] > 0)"
    end = time.monotonic() + 10
    while not canvases.evaluate_all(drawn) and time.monotonic() < end:
        time.sleep(0.05)
    assert canvases.evaluate_all(shares) == pytest.approx([1 / 8, 1 / 8], abs=0.02)
