"""The picture of README.md and of the site's first page, made anew in each run; `make pictures` keeps a copy of it."""

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui import driver
from tests.ui.views import boxes

CODE = """%load_ext vistorch
import vistorch as torch
from vistorch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
images, labels = torch.randn(5, 6), torch.tensor([0, 2, 1, 1, 0])
loss = nn.functional.cross_entropy(net(images), labels)"""
LARGEST = 150_000
KEPT = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
def test_the_stepper_at_a_node(notebook, page):
    nb = notebook(CODE, "%vt step loss")
    nb.run(0)
    steps = nb.run(1)
    for place in range(1, 5):
        steps.get_by_role("button", name="one step on").click()
        expect(steps.locator(".vt-pos")).to_contain_text(f"step {place} of ")
    expect(steps.locator(".vt-stepper")).to_contain_text("TanhBackward0")
    # The card of an array below has rules of its own for a list of keys, and must not lend them to this one.
    expect(steps.locator(".vt-closer .vt-card")).to_be_visible()
    assert steps.locator(".vt-keys").evaluate("keys => getComputedStyle(keys).position") == "static"
    hidden = page.add_style_tag(
        content=".jp-cell-toolbar { display: none !important }"
    )  # JupyterLab's own, over the cell
    page.mouse.move(0, 0)
    first, last = boxes(nb.cell(0), steps.locator(".vt-stepper"))
    clip = {name: first[name] for name in ("x", "y", "width")}
    clip["height"] = last["y"] + last["height"] + 8 - first["y"]
    driver.ARTEFACTS.mkdir(exist_ok=True)
    path = driver.ARTEFACTS / "readme-stepper.png"
    page.screenshot(path=path, clip=clip)
    hidden.evaluate("style => style.remove()")
    Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size < LARGEST


def test_the_pictures_that_are_kept_are_small_and_used():
    kept = sorted(KEPT.glob("*.png"))
    assert kept
    readme = (KEPT.parents[1] / "README.md").read_text(encoding="utf-8")
    for path in kept:
        assert path.stat().st_size < LARGEST
        assert f"docs/pictures/{path.name}" in readme
