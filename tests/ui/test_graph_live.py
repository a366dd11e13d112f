"""The graph and the stepper with a kernel, in JupyterLab and in Notebook 7."""

import re

from playwright.sync_api import expect

NET = """
%load_ext vistorch
import vistorch as torch
from vistorch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.second = nn.Sequential(nn.Linear(8, 4), nn.Tanh())
    def forward(self, x):
        return self.second(self.first(x))
net, X = Net(), torch.randn(5, 6)
loss = net(X).pow(2).mean()
"""


def test_a_graph_is_looked_into(notebook, shoot):
    nb = notebook(NET, "%vt graph loss")
    nb.run(0)
    graph = nb.run(1)
    graph.locator(".vt-bar", has_text="second").click()
    expect(graph.locator(".vt-bar")).to_have_count(1)
    graph.locator(".vt-bar", has_text="first").click()
    expect(graph.locator(".vt-bar")).to_have_count(0)
    closed = graph.locator('.vt-node[aria-expanded="false"]')
    expect(closed).to_have_count(2)
    closed.first.click()
    expect(graph.locator(".vt-bar", has_text="second")).to_be_visible()
    graph.locator(".vt-node", has_text="Tanh").click()
    side = graph.locator(".vt-inspector")
    expect(side).to_contain_text("TanhBackward0")
    expect(side).to_contain_text("In [1], line 11")
    expect(side).to_contain_text("return self.second(self.first(x))")
    side.get_by_role("button", name=re.compile("check")).click()
    expect(side.locator(".vt-checked")).to_contain_text("✓ finite difference agrees")
    view = graph.locator(".vt-closer")
    expect(view.locator("canvas").first).to_be_visible()
    expect(view).to_contain_text("TanhBackward0")
    shoot("graph", graph)
    nb.execute("assert all(p.grad is None for p in net.parameters())")


def test_a_pass_is_stepped_and_undone(notebook, shoot, theme):
    nb = notebook(NET, "%vt step loss", "[p.grad is None for p in net.parameters()]", theme=theme)
    nb.run(0)
    steps = nb.run(1)
    position = steps.locator(".vt-pos")
    expect(position).to_have_text("step 0 of 6")
    card = steps.locator(".vt-stepper")
    steps.get_by_role("button", name="one step on").click()
    expect(position).to_have_text("step 1 of 6")
    for key, place in [
        ("ArrowRight", 2),
        ("ArrowRight", 3),
        ("ArrowRight", 4),
        ("ArrowLeft", 3),
        ("ArrowRight", 4),
    ]:
        card.press(key)
        expect(position).to_have_text(f"step {place} of 6")
    shoot("steps", steps)
    steps.locator(".vt-inspector").get_by_role("button", name=re.compile("check")).click()
    expect(steps.locator(".vt-checked")).to_contain_text("✓")
    assert nb.text(nb.execute("[p.grad is None for p in net.parameters()]")) == "[True, True, False, False]"
    for _ in range(2):
        steps.get_by_role("button", name="one step back").click()
    expect(position).to_have_text("step 2 of 6")
    nb.run(2)
    assert nb.text(2) == "[True, True, True, True]"
    card.press("End")
    expect(position).to_have_text("step 6 of 6")
    nb.run(2)
    assert nb.text(2) == "[False, False, False, False]"
    steps.get_by_role("button", name="take all steps back").click()
    expect(steps.locator(".vt-stop")).to_contain_text("The pass was undone")
    nb.run(2)
    assert nb.text(2) == "[True, True, True, True]"


def test_a_converted_notebook_steps_with_no_kernel(notebook, standalone, page):
    import nbformat
    from nbconvert import HTMLExporter

    nb = notebook(NET, "%vt step loss")
    nb.run(0)
    steps = nb.run(1)
    expect(
        steps.get_by_role("button", name="take all steps back")
    ).to_be_visible()  # the widget, not the page
    nb.save()
    path = nb.path()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    read = nbformat.read(path, as_version=4)
    made, _ = HTMLExporter(template_name="basic").from_notebook_node(read)
    page.console.allow("requirejs|require is not defined|Failed to load|MathJax")
    shown = standalone(made)
    position = shown.locator(".vt-pos")
    expect(position).to_have_text("step 0 of 6")
    shown.get_by_role("button", name="one step on").click()
    shown.locator(".vt-stepper").press("ArrowRight")
    expect(position).to_have_text("step 2 of 6")
    shown.locator(".vt-stepper").press("ArrowLeft")
    expect(position).to_have_text("step 1 of 6")
    expect(shown.get_by_role("button", name="take all steps back")).to_have_count(0)


def test_a_pass_stops_before_nan_is_used_and_is_finished(notebook, shoot):
    source = (
        "x = torch.zeros(3, requires_grad=True)\nbad = (x.sqrt() * x).sum()\nbad.backward()\nprint('after')"
    )
    nb = notebook("%load_ext vistorch\nimport vistorch as torch", "%vt break nan", source)
    nb.run(0)
    nb.run(1)
    assert nb.text(1) == "1: nan\n"
    steps = nb.run(2, fails=True)
    expect(steps.locator(".vt-stop")).to_contain_text("Stopped before step 3, Sqrt (SqrtBackward0)")
    assert "after" not in nb.text(2)
    assert nb.text(nb.execute("print(x.grad)")) == "None\n"
    shoot("stopped", steps)
    steps.get_by_role("button", name="run the rest").click()
    expect(steps.locator(".vt-stop")).to_contain_text("The pass was finished")
    assert "nan" in nb.text(nb.execute("print(x.grad)"))
