"""A training on real PyTorch, watched in a real notebook: a person holds it, steps it, winds it back and stops it."""

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
    expect(panel.locator(".vt-state")).to_have_text("paused", timeout=20_000)
    at = number_of(panel)
    panel.page.wait_for_timeout(300)
    assert number_of(panel) == at
    press(panel, "one step")
    goes_on(panel, at)
    assert number_of(panel) == at + 1
    shoot("torch")
    press(panel, "resume")
    goes_on(panel, at + 3)
    press(panel, "stop and keep")
    expect(nb.output(1)).to_contain_text("Stopped after step", timeout=20_000)


def test_a_trace_of_a_cell_on_torch(nb, shoot):
    nb = nb(BAD)
    nb.start(1)
    page = nb.output(1).locator(".vt-rp").first
    expect(page).to_be_visible(timeout=20_000)
    expect(page.locator(".vt-rp-verdict")).to_contain_text("log of p[1] = 0 gives −inf")
    expect(page.locator(".vt-tr-start")).to_contain_text("starts here")
    shoot("torch-trace")
