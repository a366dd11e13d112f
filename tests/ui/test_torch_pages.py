"""Pages over the real PyTorch: files that are opened from a disk, a rewound training, runs that are compared."""

import re

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

import vistorch
from tests.torch_source.both import lenet
from tests.ui.test_watch_live import goes_on, number_of, panel_of, press
from tests.ui.test_watch_torch import START, TRAIN
from vistorch import vt

TORCH = re.compile(r"PyTorch 2\.\d+")


def program():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    return net, torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])


def recorded(lib, plant=""):
    lib.manual_seed(0)
    _, loss = lenet(lib, plant)
    with vt.record(lib.__name__) as run:
        loss().backward()
    return run


def traced():
    with vt.trace() as found:
        p = torch.tensor([0.5, 0.0], requires_grad=True)
        torch.where(p > 0, p.log(), 0.0).sum().backward()
    return found


def watched():
    net, x, y = program()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with vt.watch(net, optimizer) as run:
        for _ in range(12):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
    return run


def displays():
    """Of each command: what makes it, and what a person does with the page."""
    net, x, y = program()
    vt.graph(net(x).sum(), live="off")  # lines are noted from now on

    def loss():
        return nn.functional.cross_entropy(net(x), y)

    def flowing():
        loss().backward()
        return vt.flow(net)

    around = {"net": net, "x": x}
    return {
        "show": (lambda: vt.show(net[0].weight, name="weight"), _show),
        "vars": (lambda: vt.vars(namespace={**around, "half": x.bfloat16()}), _vars),
        "graph": (lambda: vt.graph(loss(), live="off", namespace=around), _graph),
        "step": (lambda: vt.step(loss(), live="off", namespace=around), _step),
        "replayed": (lambda: vt.step(loss(), ran=True, namespace=around), _step),
        "trace": (traced, _trace),
        "compare": (lambda: vt.compare(recorded(vistorch), recorded(torch, "leaky")), _compare),
        "memory": (lambda: vt.memory(loss(), namespace=around), _memory),
        "flow": (flowing, _flow),
        "watch": (watched, _watch),
    }


def _show(page):
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.locator("[data-vistorch]")).to_contain_text("float32")


def _vars(page):
    expect(page.locator("[data-vistorch]")).to_contain_text("bfloat16")
    expect(page.locator("[data-vistorch]")).to_contain_text("half")


def _graph(page):
    expect(page.locator(".vt-source-chip").first).to_have_text(TORCH)
    page.locator(".vt-node", has_text="Tanh").click()
    side = page.locator(".vt-inspector")
    expect(side).to_contain_text("TanhBackward0")
    page.locator(".vt-node", has_text="Addmm").first.click()
    expect(side).to_contain_text("AddmmBackward0")


def _step(page):
    expect(page.locator(".vt-source-chip").first).to_have_text(TORCH)
    position = page.locator(".vt-pos")
    page.get_by_role("button", name="one step on").click()
    expect(position).to_contain_text("step 1 of")
    page.locator(".vt-stepper").press("ArrowRight")
    expect(position).to_contain_text("step 2 of")
    page.locator(".vt-stepper").press("ArrowLeft")
    expect(position).to_contain_text("step 1 of")


def _trace(page):
    expect(page.locator(".vt-source-chip").first).to_have_text(TORCH)
    expect(page.locator(".vt-rp-verdict")).to_contain_text("log of p[1] = 0 gives −inf")
    page.locator(".vt-rp-body > .vt-rp-row", has_text="log()").first.click()
    expect(page.locator('.vt-rp-row[aria-selected="true"]').first).to_contain_text("log")


def _compare(page):
    expect(page.locator(".vt-source-chip")).to_have_text(["vistorch", "PyTorch"])
    expect(page.locator(".vt-rp-verdict").first).to_contain_text("leaky_relu")
    maps = page.locator(".vt-cm-maps")
    maps.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".vt-cm-place")).to_contain_text("[")


def _memory(page):
    expect(page.locator(".vt-source-chip").first).to_have_text(TORCH)
    expect(page.locator(".vt-rp-verdict").first).to_contain_text("are kept for backward")
    expect(page.locator("[data-vistorch]").first).to_contain_text("TanhBackward0")


def _flow(page):
    expect(page.locator("[data-vistorch]")).to_contain_text("0.weight")


def _watch(page):
    expect(page.locator(".vt-source-chip").first).to_have_text(TORCH)
    expect(page.locator(".vt-status")).to_have_text(re.compile("finished", re.I))
    tab = page.get_by_role("tab", name=re.compile("^Log"))
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize(
    "command", ["show", "vars", "graph", "step", "replayed", "trace", "compare", "memory", "flow", "watch"]
)
def test_a_page_over_torch_works_from_a_file(command, page, tmp_path, theme, shoot):
    make, use = displays()[command]
    vt.export(tmp_path / "it.html", make())
    page.context.set_offline(True)
    try:
        page.emulate_media(color_scheme=theme)
        page.goto((tmp_path / "it.html").as_uri())
        use(page)
        shoot(f"torch-file-{command}")
    finally:
        page.context.set_offline(False)


def test_a_training_on_torch_is_rewound_and_goes_on_from_there(notebook, shoot):
    nb = notebook(START, TRAIN, kernel="python3")
    nb.run(0)
    panel = panel_of(nb)
    goes_on(panel, 5)
    press(panel, "pause")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I), timeout=20_000)
    press(panel, "snapshot")
    kept = number_of(panel)
    choice = panel.locator("select").filter(has_text="step")
    expect(choice.locator("option").first).to_have_text(re.compile(rf"step {kept:,}$"), timeout=20_000)
    for past in range(3):
        press(panel, "one step")
        expect(panel.locator(".vt-step")).to_contain_text(
            re.compile(rf"^{kept + past + 1:,}\b"), timeout=20_000
        )
    choice.select_option(str(kept))
    press(panel, "rewind")
    expect(panel.locator(".vt-step")).to_contain_text(re.compile(rf"^{kept:,}\b"), timeout=20_000)
    shoot("torch-rewound", panel)
    press(panel, "one step")
    expect(panel.locator(".vt-step")).to_contain_text(re.compile(rf"^{kept + 1:,}\b"), timeout=20_000)
    press(panel, "resume")
    goes_on(panel, kept + 1)
    press(panel, "stop and keep")
    nb.wait(1)
    panel.get_by_role("tab", name=re.compile("^Log")).click()
    expect(panel.locator(".vt-log")).to_contain_text(f"to snapshot {kept:,}")
    assert [one for one in nb.outputs(1) if one["output_type"] == "error"] == []


MODEL = """%load_ext vistorch
import torch, vistorch
def make(lib, slope):
    lib.manual_seed(0)
    nn = lib.nn
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8, eps=slope), nn.Tanh(), nn.Linear(8, 2)), lib.randn(6, 4)"""
OURS = "%%vt record ours\nnet, x = make(vistorch, 1e-5)\nnet(x).square().mean().backward()"
THEIRS = "%%vt record theirs\nnet, x = make(torch, 1e-2)\nnet(x).square().mean().backward()"


def test_a_run_on_torch_is_compared_with_the_same_model_here(notebook, shoot):
    nb = notebook(MODEL, OURS, THEIRS, "%vt compare ours theirs", kernel="python3")
    for cell in range(3):
        nb.run(cell)
    assert nb.text(1).startswith("recording 'ours': ") and "gradients of 6 leaves" in nb.text(2)
    page = nb.run(3)
    expect(page.locator(".vt-rp-verdict").first).to_contain_text("native_layer_norm", timeout=20_000)
    expect(page.locator(".vt-rp-verdict").first).to_contain_text("by its own doing")
    maps = page.locator(".vt-cm-maps")
    maps.focus()
    maps.press("ArrowRight")
    expect(page.locator(".vt-cm-place")).to_contain_text("[")
    page.locator(".vt-rp-body > .vt-rp-row").last.click()
    expect(page.locator('.vt-rp-row[aria-selected="true"]').first).to_be_visible()
    shoot("torch-compared", page)
