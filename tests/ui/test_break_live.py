"""A breakpoint in a training loop that runs: the cell waits while a person steps the pass, and then goes on.

The same over vistorch and over the real PyTorch: what follows the pass is what would have followed without it.
"""

import re

import pytest
from playwright.sync_api import expect

NET = """%load_ext vistorch
import {torch}
from {package} import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(8, 3)
def train(steps):
    norms = []
    for step in range(steps):
        opt.zero_grad()
        loss = net(X).pow(2).mean()
        loss.backward()
        norms.append(float(sum(p.grad.abs().sum() for p in net.parameters())))
        opt.step()
    return norms
kept = {{name: t.clone() for name, t in net.state_dict().items()}}
want = train(3)
net.load_state_dict(kept)"""
LOOP = "norms = train(3)\nprint('went on', norms == want)"


@pytest.fixture(params=["torch", "vistorch as torch"])
def nb(request, notebook):
    """A notebook over one of the two libraries, with a loop that has trained once."""
    made = notebook(
        NET.format(torch=request.param, package=request.param.split()[0]),
        "%vt break Tanh* --wait",
        LOOP,
        kernel="python3",
    )
    made.run(0)
    made.run(1)
    assert made.text(1) == "1: Tanh*  (waits)\n"
    return made


def test_a_running_loop_waits_at_a_breakpoint_and_goes_on(nb, shoot):
    nb.start(2)
    steps = nb.output(2)
    card = steps.locator(".vt-stepper").first
    expect(card).to_be_visible(timeout=20_000)
    position = steps.locator(".vt-pos").first
    expect(position).to_have_text("before step 4 of 5")
    for key, place in [("ArrowRight", 4), ("ArrowLeft", 3), ("ArrowLeft", 2), ("ArrowRight", 3), ("End", 5)]:
        card.press(key)
        expect(position).to_contain_text(f"step {place} of 5")
    shoot("break-waits", steps)
    assert "went on" not in nb.text(2)
    steps.get_by_role("button", name="run the rest").click()
    expect(steps.locator(".vt-stop").first).to_contain_text("the cell went on")
    second = steps.locator(".vt-stepper").nth(1)  # the next pass stops there, too
    expect(second).to_be_visible(timeout=20_000)
    steps.get_by_role("button", name="with this breakpoint off").last.click()
    nb.wait(2)
    assert "went on True" in nb.text(2)
    expect(steps.locator(".vt-stepper")).to_have_count(2)
    assert "(off)" in nb.text(nb.execute("%vt break"))


def test_a_pass_that_is_undone_ends_the_cell(nb):
    nb.start(2)
    steps = nb.output(2)
    expect(steps.locator(".vt-stepper").first).to_be_visible(timeout=20_000)
    steps.get_by_role("button", name="take all steps back and end").click()
    nb.wait(2)
    said = [one for one in nb.outputs(2) if one["output_type"] == "error"]
    assert said[0]["ename"] == "Stopped" and "the pass was undone" in said[0]["evalue"]
    assert nb.text(nb.execute("print([p.grad for p in net.parameters()] == [None] * 4)")) == "True\n"


def test_a_watched_loop_waits_too_and_its_losses_are_seen(nb):
    cell = nb.add("%%vt watch net opt --name run\n" + LOOP)
    nb.start(cell)
    steps = nb.output(cell)
    expect(steps.locator(".vt-stepper").first).to_be_visible(timeout=20_000)
    steps.get_by_role("button", name=re.compile("with this breakpoint off")).first.click()
    nb.wait(cell)
    assert "went on True" in nb.text(cell)
    assert nb.text(nb.execute("print(run.step, run.loss is not None)")) == "3 True\n"
