"""Every view in every state of its notebook: it works, or says in a sentence what to do, and keeps what was recorded.

One notebook holds all views and is walked through the states, so that each view is looked at in each of them.
Invariant: no state leaves an error in the page's console, and none shows Jupyter's "model not found".
"""

import json

import pytest
from playwright.sync_api import expect

from tests.ui import driver

CELLS = {
    "start": """%load_ext vistorch
import vistorch as torch
from vistorch import nn
torch.manual_seed(0)
big = torch.randn(300, 400)
weight = nn.Linear(400, 120).weight
net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(20)])
x = torch.ones(3, requires_grad=True)
head = nn.Linear(3, 2)
loss = head((x * 2).relu()).square().sum()
m = nn.Linear(2, 2); m(torch.ones(4, 2)).sum().backward()
""",
    "show big": "%vt show big",
    "show weight": "%vt show weight",
    "show net": "%vt show net",
    "graph": "%vt graph loss",
    "step": "%vt step loss",
    "vars": "%vt vars",
    "flow": "%vt flow m",
    "trace": "%%vt trace\n_ = torch.zeros(2).log()",
    "memory": "%vt memory loss",
    "watch": """%%vt watch
opt = torch.optim.SGD(head.parameters(), lr=.01)
for _ in range(6):
    opt.zero_grad(); head(torch.ones(5, 3)).square().mean().backward(); opt.step()""",
}
NAMES = list(CELLS)
VIEWS = NAMES[1:]
LIVE = ["show big", "show weight", "graph", "step", "vars"]  # these meet a model in the kernel
RESTARTED = "The kernel was restarted: this shows what was recorded. Run the cell again to go on."
UNMET = "No kernel answers for this view: it shows what was recorded. Run the cell again to go on."


class Walk:
    """The notebook, and what is asked of every view in it."""

    def __init__(self, nb, page):
        self.nb, self.page = nb, page

    def output(self, name):
        index = NAMES.index(name)
        self.page.evaluate(
            "(i) => window.jupyterapp.shell.currentWidget.content.scrollToItem(i)", index
        )  # Lab paints what is near
        return self.nb.output(index)

    def said(self, name):
        return self.output(name).locator(".vt-lost:not([hidden])")

    def stands(self, name):
        """A view shows its card, and nothing of an error."""
        out = self.output(name)
        expect(out.locator(".vt .vt-card:visible").first).to_be_visible(timeout=15_000)
        for wrong in ("Error displaying widget", "Loading widget", "cannot be shown"):
            expect(out.locator(f"text={wrong} >> visible=true")).to_have_count(0)

    def walks(self):
        """What was recorded can be walked: steps, blocks, rows."""
        out = self.output("step")
        out.get_by_label("one step on").click()
        expect(out.locator(".vt-pos")).to_contain_text("step 1 of")
        out.get_by_label("one step back").click()
        expect(out.locator(".vt-pos")).to_contain_text("step 0 of")
        self.output("show big").locator(".vt-view").first.focus()
        self.page.keyboard.press("ArrowRight")
        expect(self.output("show big").locator(".vt-where").first).not_to_be_empty()

    def all_live(self):
        for name in VIEWS:
            self.stands(name)
            expect(self.said(name)).to_have_count(0)
        expect(self.output("show big").locator(".vt-lens .vt-note")).to_contain_text(
            "exact values", timeout=15_000
        )
        expect(self.output("step").locator("button", has_text="Finish")).to_be_enabled()
        self.walks()

    def none_live(self, sentence):
        for name in VIEWS:
            self.stands(name)
        for name in LIVE:
            expect(self.said(name)).to_have_text(sentence, timeout=15_000)
        finish = self.output("step").locator("button", has_text="Finish")
        assert finish.count() == 0 or finish.is_disabled()
        self.output("vars").locator("tbody tr").first.click()
        expect(self.output("vars")).to_contain_text("To look at it, type %vt show")
        self.walks()


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
def test_every_view_in_every_state(notebook, page, shoot, tmp_path):
    nb = notebook(*CELLS.values())
    walk = Walk(nb, page)
    for name in NAMES:
        nb.run(NAMES.index(name), fails=False)
        if name in VIEWS:  # the views that live in the kernel too, as they are at this moment
            nb.execute(f"%vt export {page_of(name)}")
    walk.all_live()
    shoot("fresh")

    # The page is loaded again while the kernel lives: every view meets its model again.
    nb.save()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    nb.open()
    walk.all_live()
    saved = json.loads(nb.path().read_text())
    saved["cells"] = saved["cells"][: len(NAMES)]

    # The kernel is restarted: within a second the views say so, and a running panel's controls are off.
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    expect(walk.nb.page.locator(".vt-lost:not([hidden])").first).to_have_text(RESTARTED, timeout=1_500)
    walk.none_live(RESTARTED)
    shoot("restarted")

    # Saved, closed, opened on a new kernel.
    page.console.allow(
        "widget model not found"
    )  # Jupyter's own words about the panel of the watched training
    nb.server.end_kernels()
    nb.open()
    walk.none_live(UNMET)
    shoot("reopened")
    # A cell that runs again is live again.
    for name in ("start", "step", "show big"):
        nb.run(NAMES.index(name))
    expect(walk.said("step")).to_have_count(0)
    expect(walk.output("step").locator("button", has_text="Finish")).to_be_enabled()
    expect(walk.output("show big").locator(".vt-lens .vt-note")).to_contain_text(
        "exact values", timeout=15_000
    )

    # No view needs a widget; what a training leaves is one, and its last state stands beside it.
    kinds = {
        name: {kind for out in cell["outputs"] for kind in out.get("data", {})}
        for name, cell in zip(NAMES, saved["cells"], strict=True)
    }
    assert all({"text/plain", "text/html"} <= kinds[name] for name in VIEWS)
    assert [name for name in VIEWS if any("widget" in kind for kind in kinds[name])] == ["watch"]

    untrusted(nb, page, saved)
    converted(page, saved, tmp_path, shoot)
    exported(page, nb.server.folder, shoot)


def page_of(name):
    """The file that a view was written to."""
    return f"{name.replace(' ', '-')}.html"


def exported(page, folder, shoot):
    """As files of `%vt export`, with no kernel and no network: each works, and waits for no kernel."""
    page.context.set_offline(True)
    try:
        for name in VIEWS:
            page.goto((folder / page_of(name)).as_uri())
            expect(page.locator("[data-vistorch][data-shown] .vt .vt-card").first).to_be_visible()
            assert page.locator("[data-failed]").count() == 0, name
            assert page.locator(".vt-lost:not([hidden])").count() == 0, name
            for wrong in ("cannot be shown", "needs a page that runs scripts"):
                expect(page.locator(f"text={wrong} >> visible=true")).to_have_count(0)
            live = page.locator("button:visible", has_text="Finish")
            assert live.count() == 0 or live.first.is_disabled(), name
            if name == "step":
                page.get_by_label("one step on").click()
                expect(page.locator(".vt-pos")).to_contain_text("step 1 of")
            if name.startswith("show b"):
                page.locator(".vt-view").first.focus()
                page.keyboard.press("ArrowRight")
                expect(page.locator(".vt-where").first).not_to_be_empty()
            if name == "vars":
                page.locator("tbody tr").first.click()
                expect(page.locator("body")).to_contain_text("To look at it, type %vt show")
        shoot("exported")
    finally:
        page.context.set_offline(False)


def untrusted(nb, page, saved):
    """Opened by another person: the picture and the text of each view, no script."""
    foreign = json.loads(json.dumps(saved))
    foreign["cells"][0]["source"] += "\n# someone else's"
    for cell in foreign["cells"]:
        cell["metadata"].pop("trusted", None)
    (nb.server.folder / "foreign.ipynb").write_text(json.dumps(foreign))
    other = driver.Notebook(page, nb.server, "foreign.ipynb")
    for name in VIEWS:
        page.evaluate(
            "(i) => window.jupyterapp.shell.currentWidget.content.scrollToItem(i)", NAMES.index(name)
        )
        out = other.output(NAMES.index(name))
        shown = out.locator("img:visible, svg:visible, pre:visible").first
        expect(shown).to_be_visible()
        expect(out).not_to_contain_text("needs a page that runs scripts")
        for image in out.locator("img").all():
            assert image.get_attribute("alt"), name
    assert page.locator(".vt").count() == 0
    nb.server.end_kernels()


def converted(page, saved, tmp_path, shoot):
    """As HTML of nbconvert: every page works, with no kernel and no network."""
    import nbformat
    from nbconvert import HTMLExporter

    made = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="", mermaid_js_url="")
    body, _ = made.from_notebook_node(nbformat.reads(json.dumps(saved), 4))
    (tmp_path / "book.html").write_text(body, encoding="utf-8")
    page.goto((tmp_path / "book.html").as_uri())
    hosts = page.locator("[data-vistorch]")
    expect(hosts).to_have_count(len(VIEWS))
    expect(page.locator("[data-vistorch][data-shown] .vt .vt-card:not(.vt-card .vt-card)")).to_have_count(
        len(VIEWS), timeout=15_000
    )
    assert page.locator("[data-failed]").count() == 0
    assert page.locator(".vt-lost:not([hidden])").count() == 0  # who reads a file waits for no kernel
    page.get_by_label("one step on").click()
    expect(page.locator(".vt-pos")).to_contain_text("step 1 of")
    expect(page.locator(".vt-name", has_text="weight").first).to_be_visible()
    shoot("converted")
