"""A training that is watched in a real notebook: what a person sees and does while the cell runs, and what stays."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from tests.ui import kernels

START = """%load_ext vistorch
import vistorch as torch
from vistorch import nn, vt
from vistorch.utils.data import DataLoader
from vistorch.vision import transforms
from vistorch.vision.datasets import Shapes
from vistorch.vision.models import LeNet
torch.manual_seed(0)
train = Shapes(length=600, transform=transforms.ToTensor())
test = Shapes(length=100, train=False, transform=transforms.ToTensor())
net = LeNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
criterion = nn.CrossEntropyLoss()"""
TRAIN = """%%vt watch --epochs 400 --name run
for epoch in range(400):
    for images, labels in DataLoader(train, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()
        optimizer.step()"""
SHORT = TRAIN.replace("400", "2")


def number_of(panel):
    return int(re.sub(r"\D", "", panel.locator(".vt-step").inner_text().partition(" of ")[0]))


def press(panel, name):
    panel.get_by_role("button", name=name, exact=True).click()


def shares(panel):
    return [
        bar.get_attribute("aria-valuenow") for bar in panel.locator(".vt-class .vt-bar").all()
    ]


@pytest.fixture
def book(notebook):
    """A notebook with a network, and its training in the cell below."""

    def new(source=TRAIN, kernel="python3"):
        made = notebook(START, source, kernel=kernel)
        made.run(0)
        return made

    return new


def panel_of(book, index=1):
    book.start(index)
    panel = book.output(index).locator(".vt-watch").first
    expect(panel).to_be_visible(timeout=20_000)
    return panel


def play(book, shoot, clicks=True):
    """What a person does with the panel; returns it, after the training was stopped."""
    panel = panel_of(book)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("running", re.I), timeout=20_000)
    expect(panel.locator(".vt-class")).to_have_count(10, timeout=20_000)
    before = shares(panel)
    book.page.wait_for_function(
        "(before) => [...document.querySelectorAll('.vt-class .vt-bar')]"
        ".map((one) => one.getAttribute('aria-valuenow')).join() !== before",
        arg=",".join(str(one) for one in before),
        timeout=20_000,
    )

    press(panel, "pause")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I), timeout=5_000)
    stood = number_of(panel)
    late = re.search(r"(\d+) ms after the click", panel.locator(".vt-said").inner_text())
    assert late is not None, panel.locator(".vt-said").inner_text()
    time.sleep(0.4)
    assert number_of(panel) == stood
    shoot("paused", panel)

    field = panel.get_by_label("learning rate", exact=True)
    field.fill("-1")
    field.press("Enter")
    expect(panel.locator(".vt-refused")).to_have_text(re.compile("positive"))
    field.fill("0.005")
    field.press("Enter")
    panel.get_by_role("tab", name=re.compile("^Log")).click()
    expect(panel.locator(".vt-log .vt-entry").filter(has_text="learning rate 0.02 → 5e-3")).to_have_count(1)

    press(panel, "one step")
    expect(panel.locator(".vt-step")).to_contain_text(re.compile(rf"^{stood + 1:,}\b"))
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I))
    assert number_of(panel) == stood + 1

    press(panel, "resume")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("running", re.I))
    book.page.wait_for_timeout(600)
    assert number_of(panel) > stood + 1

    panel.get_by_role("tab", name="Confusion").click()
    press(panel, "pause")
    expect(panel.locator(".vt-status")).to_have_text(re.compile("paused", re.I))
    seen = json.loads(
        panel.evaluate(
            "(panel) => JSON.stringify([...panel.querySelectorAll('.vt-confusion [role=gridcell]')]"
            ".map((c) => [c.dataset.label, c.dataset.read, c.textContent]))"
        )
    )
    label, read, _ = max(
        (cell for cell in seen if cell[0] != cell[1] and cell[0]), key=lambda cell: int(re.sub(r"\D", "", cell[2]) or 0)
    )
    panel.locator(f'.vt-confusion [role=gridcell][data-label="{label}"][data-read="{read}"]').click()
    expect(panel.locator(".vt-samples .vt-sample").first).to_be_visible(timeout=5_000)
    shoot("samples", panel)

    press(panel, "stop and keep")
    book.wait(1)
    expect(panel.locator(".vt-status")).to_have_text(re.compile("stopped", re.I))
    shoot("stopped", panel)
    return panel, int(late[1])


@pytest.mark.parametrize("kernel", ["python3", "ipykernel-6.31"])
def test_a_person_watches_and_steers_a_training(book, shoot, kernel):
    made = book(kernel=kernel)
    _, late = play(made, shoot)
    assert late < 500  # a step of the loop, 50 ms, and the other programs of this machine
    assert [one for one in made.outputs(1) if one["output_type"] in ("error", "stream")] == []
    told = made.text(made.execute("print(run, run.log.entries[-1].what, optimizer.param_groups[0]['lr'])"))
    assert re.match(r"<Run: stopped, step \d+> stopped 0.005", told)
