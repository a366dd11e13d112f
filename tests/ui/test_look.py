"""The first notebook as a newcomer meets it: in JupyterLab from first cell to last, and on the site from a file."""

import json
import re

import pytest
from playwright.sync_api import expect

from docs.making import notebooks, sources

LOOK = sources.ROOT / "notebooks" / "00_look.ipynb"


def code():
    cells = json.loads(LOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_from_the_first_cell_to_the_last(notebook, theme, shoot, page):
    cells = code()
    nb = notebook(*cells, cells[-1].replace("lr = 0.1", "lr = 0.083"), theme=theme)
    for index in range(len(cells) + 1):
        nb.run(index)
    expect(nb.output(0).locator("canvas").first).to_be_visible()
    stepper = nb.output(1).locator(".vt-stepper")
    stepper.locator(".vt-step").last.scroll_into_view_if_needed()
    stepper.locator(".vt-head").click()
    stepper.press("ArrowRight")
    expect(stepper.locator(".vt-arrow").nth(1)).to_have_text("−2.5")
    expect(stepper.locator(".vt-equation")).to_contain_text("g · 2 · error")
    shoot("step", nb.output(1))
    asks = nb.output(2).locator(".vt-stepper")
    asks.locator(".vt-head").click()
    asks.press("ArrowRight")
    answers = [("-2.5", "Right"), ("1", "You said 1. It is −2.5."), ("-2.5", "Right"), ("2.5", "Right: 2.5.")]
    for answer, said in answers:
        expect(asks.get_by_label("your answer")).to_be_focused()
        page.keyboard.type(answer)
        page.keyboard.press("Enter")
        expect(asks.locator(".vt-ask")).to_contain_text(said)
        page.keyboard.press("Enter")
    expect(asks.locator(".vt-step").last).to_contain_text("−5−2.52.5")
    expect(asks.locator(".vt-score")).to_contain_text("3 of 4 right")
    shoot("asked", nb.output(2))
    assert "first bad value" in nb.output(3).inner_text()
    shoot("trace", nb.output(3))
    expect(nb.output(4)).to_contain_text("You jumped past the goal: the prediction is now too high by 0.25.")
    expect(nb.output(5)).to_contain_text("Right: the loss is")
    shoot("right", nb.output(5))


def tutorial(path, folder):
    """The views of a tutorial's page on the site, in a file of their own."""
    made = notebooks.page(path, folder)
    views = re.findall(r"```{raw} html\n(.*?)\n```", made, re.S)
    return f"<!doctype html><meta charset='utf-8'><body data-theme='auto'>{''.join(views)}", len(views)


def test_the_page_of_the_site_steps_from_a_file(standalone, theme, shoot, tmp_path):
    """No request and no error: the fixture `page` looks at both."""
    html, views = tutorial(LOOK, tmp_path)
    assert views == 5
    page = standalone(html, theme)
    steppers = page.locator(".vt-stepper")
    expect(steppers).to_have_count(2)
    first = steppers.first
    first.press("ArrowRight")
    first.press("ArrowRight")
    expect(first.locator(".vt-pos")).to_have_text("step 2 of 4")
    expect(first.locator(".vt-arrow").nth(2)).to_have_text("−2.5")
    asks = steppers.nth(1)
    asks.press("ArrowRight")
    page.keyboard.type("-2.5")
    page.keyboard.press("Enter")
    expect(asks.locator(".vt-ask")).to_contain_text("Right: −2.5.")
    dark = page.evaluate("getComputedStyle(document.querySelector('.vt-stepper')).backgroundColor")
    assert (sum(int(part) for part in dark[4:-1].split(",")) < 200) == (theme == "dark")
    shoot(theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


LIVE = sorted(
    path.stem for path in LOOK.parent.glob("*.ipynb") if "data-vistorch=" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", LIVE)
def test_every_view_of_a_tutorial_is_live_on_the_site(standalone, name, tmp_path):
    html, views = tutorial(LOOK.with_name(f"{name}.ipynb"), tmp_path)
    page = standalone(html)
    shown = page.locator("[data-vistorch]")
    expect(page.locator("[data-vistorch] .vt")).to_have_count(shown.count())
    assert 0 < shown.count() <= views
    assert page.locator("[data-failed]").count() == 0
    assert page.locator(".vistorch-off").count() == 0
