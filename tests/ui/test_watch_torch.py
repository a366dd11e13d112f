"""A training on real PyTorch that is watched in a real notebook: a person holds it, steps it and stops it.

And a bad value of a cell on PyTorch, found.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.test_watch_live import goes_on, number_of, panel_of, press

START = """%load_ext vistorch
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(512, 1, 12, 12)
y = (x.mean((1, 2, 3)) > 0).long() + (x[:, 0, 0, 0] > 1).long()
data = torch.utils.data.TensorDataset(x, y)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(400, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
criterion = nn.CrossEntropyLoss()"""
TRAIN = """%%vt watch --epochs 2000 --classes ['low','mid','high']
for epoch in range(2000):
    for images, labels in torch.utils.data.DataLoader(data, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()
        optimizer.step()"""
NAN = """%%vt watch --epochs 20 --snapshot-every 10 --name run
for epoch in range(20):
    for images, labels in torch.utils.data.DataLoader(data, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        scores = net(images)
        p = (scores * (1e4 if run.step + 1 == 40 else 1.0)).softmax(-1)
        spread = (p * p.log()).sum(-1).mean()
        loss = criterion(scores, labels) + 0.1 * spread
        loss.backward()
        optimizer.step()"""
FORGOTTEN = """%%vt watch --epochs 2 --name run
import time
for images, labels in 2 * list(torch.utils.data.DataLoader(data, batch_size=16)):
    criterion(net(images), labels).backward()
    optimizer.step()
    time.sleep(0.02)"""
BAD = """%%vt trace
p = torch.tensor([0.5, 0.0], requires_grad=True)
h = torch.where(p > 0, -p * p.log(), 0.0)
h.sum().backward()"""


@pytest.fixture
def nb(notebook):
    """A notebook that imports torch, with a cell below."""

    def new(source):
        made = notebook(START, source, kernel="python3")
        made.run(0)
        return made

    return new


def test_a_person_holds_steps_rewinds_and_stops_a_loop_on_torch(nb, shoot):
    nb = nb(TRAIN)
    panel = panel_of(nb)
    goes_on(panel, 5)
    expect(panel).to_contain_text("high")
    press(panel, "pause")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I), timeout=20_000)
    at = number_of(panel)
    panel.page.wait_for_timeout(300)
    assert number_of(panel) == at
    press(panel, "one step")
    goes_on(panel, at)
    assert number_of(panel) == at + 1
    expect(panel.locator(".vt-source-chip")).to_have_text(re.compile(r"PyTorch 2\.\d+"))
    shoot("torch", panel)
    press(panel, "resume")
    goes_on(panel, at + 3)
    press(panel, "stop and keep")
    nb.wait(1)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("stopped", re.I))


def test_a_trace_of_a_cell_on_torch(nb, shoot):
    nb = nb(BAD)
    nb.start(1)
    page = nb.output(1).locator(".vt-rp").first
    expect(page).to_be_visible(timeout=20_000)
    expect(page.locator(".vt-rp-verdict")).to_contain_text("log of p[1] = 0 gives −inf")
    expect(page.locator(".vt-tr-start")).to_contain_text("starts here")
    expect(page.locator(".vt-source-chip")).to_have_text(re.compile(r"PyTorch 2\.\d+"))
    shoot("torch-trace", page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_alarm_on_torch_has_its_line_and_that_step_is_traced(notebook, shoot, theme):
    made = notebook(START, NAN, kernel="python3", theme=theme)
    made.run(0)
    panel = panel_of(made)
    said = panel.get_by_role("alert")
    expect(said).to_contain_text("Loss is NaN since step 40", timeout=60_000)
    expect(said).to_contain_text(
        re.compile(r"Made at log in line 7 of cell \[\d+\]: [\d,]+ of 48 values were 0\.")
    )
    tab = panel.get_by_role("tab", name=re.compile("^Findings"))
    expect(tab).to_have_attribute("aria-selected", "true")
    first = panel.locator(".vt-dg-one").first
    expect(first.locator('[data-role="guilty"]').first).to_contain_text("p.log()")
    shoot("torch-alarm", panel)
    panel.press("t")
    trace = made.output(1).locator(".vt-rp-trace")
    expect(trace).to_be_visible(timeout=30_000)
    expect(trace).to_contain_text("log")
    expect(said).to_contain_text("Loss is NaN since step 40")  # it came again, and holds the loop again
    panel.get_by_role("button", name=re.compile("Step into it")).click()
    expect(made.output(1).locator(".vt-stepper")).to_be_visible(timeout=20_000)
    shoot("torch-alarm-into", made.output(1))
    made.output(1).get_by_role("button", name="run the rest").click()
    expect(said).to_contain_text("Loss is NaN since step 40")
    panel.get_by_role("button", name=re.compile("Stop, keep")).click()
    made.wait(1)
    expect(panel.locator(".vt-status")).to_have_text("stopped")


def test_a_rule_finds_it_on_torch_and_a_person_says_that_it_is_meant(notebook, shoot):
    made = notebook(START, FORGOTTEN, kernel="python3")
    made.run(0)
    panel = panel_of(made)
    tab = panel.get_by_role("tab", name=re.compile("^Findings"))
    expect(tab.locator(".vt-w-count")).to_have_text("1", timeout=30_000)
    expect(tab).to_have_attribute("aria-selected", "false")  # a warning opens nothing
    tab.click()
    one = panel.locator(".vt-dg-one")
    expect(one).to_contain_text("Gradients are never cleared")
    expect(one.locator(".vt-dg-where")).to_contain_text("line 5")
    shoot("torch-finding", panel)
    one.get_by_role("button", name="Say nothing more of it").click()
    expect(panel.locator(".vt-dg-one")).to_have_count(0)
    made.wait(1)
    tab.click()
    expect(panel.locator(".vt-w-findings")).to_contain_text("Nothing found")


def test_the_stepper_opens_in_a_running_loop_on_torch(notebook, shoot, theme):
    made = notebook(START, TRAIN, kernel="python3", theme=theme)
    made.run(0)
    panel = panel_of(made)
    goes_on(panel, 5)
    press(panel, "open the stepper")
    steps = made.output(1).locator(".vt-stepper")
    expect(steps).to_be_visible(timeout=20_000)
    expect(made.output(1).locator(".vt-source-chip").last).to_have_text(re.compile(r"PyTorch 2\.\d+"))
    expect(panel.locator(".vt-said")).to_contain_text("The stepper is open below")
    stood = number_of(panel)
    made.output(1).get_by_role("button", name="one step on").click()
    expect(made.output(1).locator(".vt-pos")).to_contain_text("step 1 of")
    steps.press("ArrowRight")
    expect(made.output(1).locator(".vt-pos")).to_contain_text("step 2 of")
    steps.press("ArrowLeft")
    expect(made.output(1).locator(".vt-pos")).to_contain_text("step 1 of")
    shoot("torch-step-in", made.output(1))
    assert number_of(panel) == stood
    made.output(1).get_by_role("button", name="run the rest").click()
    goes_on(panel, stood + 1)
    press(panel, "stop and keep")
    made.wait(1)


MEMORY = "loss = criterion(net(x), y)\n%vt memory loss"
CELL = "%%vt memory\nfor _ in range(2):\n    criterion(net(x), y).backward()"


def test_the_memory_of_a_graph_and_of_a_cell_on_torch(notebook, shoot, theme):
    made = notebook(START, MEMORY, CELL, kernel="python3", theme=theme)
    made.run(0)
    for cell, name in ((1, "loss"), (2, "cell")):
        page = made.run(cell).locator(".vt-rp").first
        expect(page.locator(".vt-rp-verdict")).to_contain_text("are kept for backward", timeout=20_000)
        expect(page.locator(".vt-source-chip").first).to_have_text(re.compile(r"PyTorch 2\.\d+"))
        expect(page).to_contain_text("ReluBackward0")
        expect(page.locator(".vt-node").first).to_be_attached()
        shoot(f"torch-memory-{name}", page)


COMPARE = """%%vt record before
torch.manual_seed(0)
criterion(net(x), y).backward()"""
AFTER = """%%vt record after
criterion(net(x) * 2, y).backward()"""


def test_two_runs_on_torch_are_recorded_and_compared(notebook, shoot):
    made = notebook(START, COMPARE, AFTER, "%vt compare before after", kernel="python3")
    for cell in range(3):
        made.run(cell)
    page = made.run(3)
    expect(page.locator(".vt-rp-verdict").first).to_contain_text("mul", timeout=20_000)
    expect(page.locator(".vt-source-chip")).to_have_text("PyTorch")
    shoot("torch-compare", page)


def test_a_pass_that_ran_by_itself_is_stepped(notebook, shoot):
    source = (
        "from torch.utils.checkpoint import checkpoint\nx.requires_grad_()\n"
        "loss = criterion(checkpoint(net, x, use_reentrant=True), y)\n%vt step loss --ran"
    )
    made = notebook(START, source, kernel="python3")
    made.run(0)
    steps = made.run(1)
    expect(steps.locator(".vt-source-chip").first).to_have_text(re.compile(r"PyTorch 2\.\d+"))
    expect(steps).to_contain_text("torch has run this pass by itself")
    shoot("torch-ran", steps)
