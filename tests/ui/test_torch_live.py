"""The graph, the stepper and a breakpoint over the real PyTorch, with a kernel."""

import re

from playwright.sync_api import expect

from tests.ui import test_graph_live

NET = test_graph_live.NET.replace("import vistorch as torch\nfrom vistorch", "import torch\nfrom torch")
AGAIN = "loss = net(X).pow(2).mean()\n%vt graph loss"


def test_a_graph_of_torch_is_looked_into(notebook, shoot, theme):
    nb = notebook(NET, "%vt graph loss", AGAIN, theme=theme)
    nb.run(0)
    first = nb.run(1)
    expect(first.locator(".vt-source-chip")).to_have_text(re.compile(r"PyTorch 2\.\d+"))
    expect(first).to_contain_text("Lines and modules are noted from now on")
    graph = nb.run(2)
    graph.locator(".vt-node", has_text="Tanh").click()
    side = graph.locator(".vt-inspector")
    expect(side).to_contain_text("TanhBackward0")
    expect(side).to_contain_text("return self.second(self.first(x))")
    side.get_by_role("button", name=re.compile("check")).click()
    expect(side.locator(".vt-checked")).to_contain_text("vistorch agrees")
    expect(graph.locator(".vt-closer canvas").first).to_be_visible()
    shoot("torch-graph", graph)
    nb.execute("assert all(p.grad is None for p in net.parameters())")


def test_a_pass_of_torch_is_stepped_both_ways_and_undone(notebook, shoot, theme):
    ask = "print([p.grad is None for p in net.parameters()])"
    nb = notebook(NET, "%vt step loss", ask, theme=theme)
    nb.run(0)
    steps = nb.run(1)
    expect(steps.locator(".vt-source-chip")).to_have_text(re.compile(r"PyTorch 2\.\d+"))
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
    steps.locator(".vt-inspector").get_by_role("button", name=re.compile("check")).click()
    expect(steps.locator(".vt-checked")).to_contain_text("✓ vistorch agrees")
    shoot("torch-steps", steps)
    nb.run(2)
    assert nb.text(2).strip() == "[True, True, False, False]"
    card.press("End")
    expect(position).to_have_text("step 6 of 6")
    nb.run(2)
    assert nb.text(2).strip() == "[False, False, False, False]"
    steps.get_by_role("button", name="take all steps back").click()
    expect(steps.locator(".vt-stop")).to_contain_text("The pass was undone")
    nb.run(2)
    assert nb.text(2).strip() == "[True, True, True, True]"


def test_a_pass_of_torch_stops_before_nan_is_used(notebook, shoot):
    source = (
        "x = torch.zeros(3, requires_grad=True)\nbad = (x.sqrt() * x).sum()\nbad.backward()\nprint('after')"
    )
    nb = notebook("%load_ext vistorch\nimport torch", "%vt break nan", source)
    nb.run(0)
    nb.run(1)
    steps = nb.run(2, fails=True)
    expect(steps.locator(".vt-stop")).to_contain_text("Stopped before step 3, Sqrt (SqrtBackward0)")
    assert "after" not in nb.text(2)
    shoot("torch-stopped", steps)
    steps.get_by_role("button", name="run the rest").click()
    expect(steps.locator(".vt-stop")).to_contain_text("The pass was finished")
    assert "nan" in nb.text(nb.execute("print(x.grad)"))


def test_a_tensor_of_torch_shows_itself(notebook, shoot):
    nb = notebook("%load_ext vistorch\nimport torch", "torch.arange(12.0).reshape(3, 4).bfloat16()")
    nb.run(0)
    shown = nb.run(1)
    expect(shown.locator("canvas").first).to_be_visible()
    expect(shown).to_contain_text("bfloat16")
    shoot("torch-tensor", shown)
