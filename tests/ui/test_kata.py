"""Three kata from broken to solved, as a person does it in a notebook; and a card in a file, without a kernel."""

import pytest
from playwright.sync_api import expect

import vistorch
from vistorch import vt
from vistorch.debug.kata import KATA

SETUP = "%load_ext vistorch\nimport os, tempfile\nos.environ['XDG_DATA_HOME'] = tempfile.mkdtemp()"
IMPORT = "from vistorch.tutorials import kata\n"


def solve(nb, page, number, cells, wrong, place, hints=0):
    """Name a wrong place, open hints, name the right one, run the mended cell."""
    card, run = cells
    nb.run(card)
    box = nb.output(card).locator(".vt-kt")
    expect(box.locator("h3")).to_have_text(KATA[number - 1].title)
    expect(box.locator("figure path").first).to_be_attached()
    box.get_by_label("the place").click()
    page.keyboard.type(wrong)
    page.keyboard.press("Enter")
    expect(box.locator(".vt-kt-row").first).to_have_attribute("data-state", "not yet")
    expect(box.get_by_label("the place")).to_be_focused()  # one may type on
    for i in range(hints):
        box.get_by_role("button", name=f"Hint {i + 1} of 2").click()
        expect(box.locator(".vt-kt-hint")).to_have_count(i + 1)
    box.get_by_label("the place").click()
    page.keyboard.type(place)
    page.keyboard.press("Enter")
    expect(box.locator(".vt-kt-row").first).to_have_attribute("data-state", "right")
    nb.run(run)
    done = nb.output(run).locator(".vt-kt")
    expect(done.locator(".vt-kt-chip")).to_have_text("solved")
    expect(done.locator(".vt-kt-row[data-state=right]")).to_have_count(3)
    return box, done


def test_three_kata_from_broken_to_solved(notebook, theme, shoot, page):
    numbers = (3, 5, 9)
    sources = [SETUP]
    for number in numbers:
        sources += [f"{IMPORT}kata({number})", f"%%vt kata {number}\n{KATA[number - 1].answer}"]
    nb = notebook(*sources, IMPORT + "kata.progress()", theme=theme)
    nb.run(0)
    box, done = solve(nb, page, 3, (1, 2), "6", "PowBackward0", hints=1)
    shoot("named", box)
    shoot("solved", done)
    box, done = solve(nb, page, 5, (3, 4), "14", "13", hints=2)
    box.get_by_role("button", name="Solution").click()
    expect(box.locator(".vt-kt-solution [data-mark='+']")).to_have_count(1)
    shoot("nan", box)
    shoot("nan-solved", done)
    solve(nb, page, 9, (5, 6), "TanhBackward0", "line 14")
    nb.run(7)
    table = nb.output(7).locator(".vt-kt")
    expect(table.locator("[role=progressbar]")).to_have_attribute("aria-valuenow", "3")
    expect(table.locator("[data-state=helped]")).to_have_count(2)
    expect(table.locator("[data-state=solved]")).to_have_count(1)
    shoot("progress", table)
    table.get_by_role("button", name="Ten steps, then NaN").click()
    expect(nb.output(7).locator(".vt-kt h3")).to_have_text("Ten steps, then NaN")
    shoot("fourth", nb.output(7).locator(".vt-kt"))
    nb.output(7).locator(".vt-kt").press("a")
    expect(nb.output(7).locator(".vt-kt-entry")).to_have_count(12)


@pytest.fixture
def apart(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    state = vistorch.get_rng_state()
    yield
    vistorch.set_rng_state(state)


def test_a_saved_card_shows_what_it_holds_and_asks_nothing(standalone, theme, shoot, apart):
    page = standalone(vt.kata(11).document(), theme)
    card = page.locator(".vt-kt")
    expect(card.locator("h3")).to_have_text("Right picture, wrong name")
    expect(card.get_by_role("button", name="Name it")).to_be_disabled()
    expect(card).to_contain_text("run the cell: a kernel answers")
    shoot(theme, card)
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    shoot(f"{theme}-narrow", card)
