"""Every kind of array as it looks: in the light, in the dark, in a narrow column, and behind a reader of the screen."""

import re

import pytest
from playwright.sync_api import expect

import vistorch
from tests.ui.views import View, boxes, middle
from vistorch import nn, optim, vt

MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>&amp;"\''

PAPER = {"light": "background: #fff; color: #333", "dark": "background: #14161b; color: #ccc"}

# Text on what is painted behind it: every element with text of its own, and its contrast.
CONTRAST = """() => {
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => [r, g, b].map((v) => linear(v / 255))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const under = (e) => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll(".vt *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    if (e.closest(".vt-hidden, style, [disabled]") || !e.checkVisibility()) continue;
    const [a, b] = [light(numbers(getComputedStyle(e).color)), light(under(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push([e.className, e.textContent.slice(0, 30), (a + 0.05) / (b + 0.05)]);
    if (parseFloat(getComputedStyle(e).fontSize) < 11) bad.push([e.className, e.textContent.slice(0, 30), "too small"]);
  }
  return bad;
}"""
# Controls without a name for a screen reader.
NAMELESS = """() => [...document.querySelectorAll(".vt :is(button, select, input, [tabindex='0'])")]
  .filter((e) => e.checkVisibility() && !(e.getAttribute("aria-label") || e.textContent.trim()))
  .map((e) => e.outerHTML)"""


def trained(layer):
    """Take one step, so that a layer has gradients and updates."""
    step = optim.SGD(layer.parameters(), lr=0.1)
    vt.show(layer.weight)  # from here on updates are kept
    layer(
        vistorch.randn(*((8, layer.in_features) if hasattr(layer, "in_features") else (4, 3, 9, 9)))
    ).square().mean().backward()
    step.step()
    return layer


def complex_spiral():
    t = vistorch.linspace(-3, 3, 24)
    return vistorch.complex(t[:, None].expand(24, 24), t[None, :].expand(24, 24)) ** 2


def cases():
    """Return the things a cell may end with, by name."""
    vistorch.manual_seed(3)
    picture = vistorch.stack(
        [
            vistorch.linspace(0, 1, 48).expand(32, 48),
            vistorch.linspace(0, 1, 32)[:, None].expand(32, 48),
            vistorch.full((32, 48), 0.4),
        ]
    )
    special = vistorch.randn(10, 24)
    special[2, 3], special[6, 20], special[8, 8] = float("nan"), float("inf"), -float("inf")
    big = vistorch.randn(400, 600).cumsum(1)
    return {
        "matrix": special,
        "tiles": vistorch.randn(16, 6, 5, 5),
        "row": vistorch.randn(10),
        "long-row": vistorch.randn(3000).cumsum(0),
        "scalar": vistorch.tensor(0.3522, requires_grad=True),
        "nan": vistorch.tensor(float("nan")),
        "empty": vistorch.zeros(0, 3),
        "bool": vistorch.rand(12, 30) > 0.6,
        "integers": vistorch.arange(120).reshape(8, 15),
        "complex": complex_spiral(),
        "half": vistorch.randn(9, 30).bfloat16(),
        "picture": picture,
        "big": big,
        "expanded": vistorch.arange(5).float()[:, None].expand(5, 40),
        "parameter": trained(nn.Linear(30, 20)).weight,
        "strip": {
            "hidden": vistorch.randn(8, 30),
            "logits": vistorch.randn(10),
            "loss": vistorch.tensor(2.3),
            "none": vistorch.zeros(0),
            "kernel": vistorch.randn(6, 3, 5, 5),
        },
    }


@pytest.fixture(scope="module")
def gallery():
    """All of it as one page."""
    return "".join(
        f"<section id='{name}' style='margin-bottom:24px'>{vt.show(x, name=name, live='off').html()}</section>"
        for name, x in cases().items()
    )


@pytest.mark.parametrize("width", [1000, 420])
def test_every_kind_is_shown(standalone, gallery, theme, width, shoot):
    page = standalone(
        f"<style>body {{ {PAPER[theme]} }}</style>{gallery}",
        theme,
    )
    page.set_viewport_size({"width": width, "height": 1000})
    page.wait_for_function("document.querySelectorAll('[data-shown] .vt-card').length >= 16")
    page.wait_for_timeout(400)
    assert page.locator("[data-failed]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    for name in cases():
        shoot(name, page.locator(f"#{name}"))


def test_the_dark_comes_while_the_page_is_open(standalone):
    x = vistorch.zeros(4, 6)
    x[1, 2] = 1.0
    view = View(standalone(vt.show(x, name="w", scale="max").html()))
    view.shown("#01402f")
    view.page.emulate_media(color_scheme="dark")
    view.shown("#adefd5")
    expect(view.root).to_have_css("background-color", "rgb(20, 22, 27)")
    view.page.evaluate("document.querySelector('.vt').dataset.theme = 'light'")
    view.shown("#01402f")


def test_markup_stays_text(standalone, shoot):
    layers = {
        MARKUP: vistorch.randn(3, 4),
        f"</script>{MARKUP}": vistorch.tensor(1.0),
        "plain": vistorch.zeros(0),
    }
    named = vt.show(vistorch.randn(2, 3, 4), name=MARKUP, dims=[MARKUP, "<b>b</b>", "c"])
    page = standalone(named.html() + vt.show(layers, name=f"<h1>{MARKUP}</h1>").html())
    page.get_by_role("button", name="Unfold all").click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".vt :is(img, script, h1)").count() == 0
    names = page.locator(".vt-name").all_inner_texts()
    assert names[0] == MARKUP and f"</script>{MARKUP}" in names
    assert page.locator(".vt-axname b").all_inner_texts()[:2] == [MARKUP, "<b>b</b>"]
    expect(page.locator(".vt-title")).to_have_text(f"<h1>{MARKUP}</h1>")
    shoot("markup")


def test_a_picture_is_one_and_numbers_too(standalone):
    view = View(standalone(vt.show(cases()["picture"], name="photo").html()))
    corner = view.canvas.evaluate("c => [...c.getContext('2d').getImageData(c.width - 8, 10, 1, 1).data]")
    assert (
        corner[0] > 240 and corner[1] < 25 and abs(corner[2] - 102) < 4
    )  # red grows to the right, green downwards
    view.hover({"x": 3, "y": 3, "width": 0, "height": 0})
    expect(view.values.first).to_have_text(re.compile(r"0\S*\s+0\S*\s+0\.400?"))
    view.root.get_by_role("button", name="values").click()
    expect(view.root.locator(".vt-ax").first.get_by_role("combobox")).to_be_visible()
    view.press("i")
    expect(view.root.get_by_role("button", name="picture")).to_have_attribute("aria-pressed", "true")


def test_magnitude_and_phase(standalone):
    view = View(standalone(vt.show(complex_spiral(), name="z", scale=None).html()))
    expect(view.values.first).to_contain_text("magnitude")
    expect(view.values.first).to_contain_text("phase")
    said = view.root.locator(".vt-say").inner_text()
    view.press("l")
    expect(view.root.get_by_role("button", name="phase")).to_have_attribute("aria-pressed", "true")
    expect(view.root.locator(".vt-say")).not_to_have_text(said)


def test_value_gradient_and_update_share_one_cursor(standalone, shoot):
    layer = trained(nn.Linear(30, 20))
    view = View(standalone(vt.show(layer.weight, name="fc.weight").html()))
    expect(view.root.locator(".vt-sub")).to_have_count(3)
    places = boxes(*(view.root.locator(".vt-view canvas").nth(i) for i in range(3)))
    assert len({box["y"] for box in places}) == 1 and len({box["width"] for box in places}) == 1
    middle_one = view.root.locator(".vt-view canvas").nth(1)
    middle_one.hover(position={"x": places[1]["width"] * 0.5, "y": places[1]["height"] * 0.5})
    expect(view.where).not_to_have_text("[0, 0]")
    i, j = map(int, re.findall(r"\d+", view.where.inner_text()))
    shown = [float(text.replace("−", "-")) for text in view.values.all_inner_texts()]
    assert shown[0] == pytest.approx(layer.weight[i, j].item(), rel=1e-3)
    assert shown[1] == pytest.approx(layer.weight.grad[i, j].item(), rel=1e-3)
    assert shown[2] == pytest.approx(-0.1 * layer.weight.grad[i, j].item(), rel=2e-2)
    shoot("linked", view.root)


def test_a_strip_unfolds(standalone):
    page = standalone(vt.show(cases()["strip"], name="out").html())
    rows = page.locator(".vt-row")
    expect(rows).to_have_count(5)
    assert len({round(row["height"]) for row in boxes(*rows.all())}) == 1
    page.keyboard.press("Tab")
    rows.first.focus()
    page.keyboard.press("Enter")
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    view = View(page)
    view.press("ArrowRight")
    view.says(re.compile(r"\[0, 1\]$"))
    rows.first.click()
    expect(view.root).to_have_count(0)


def test_the_legend_counts_and_is_changed(standalone):
    x = vistorch.randn(30, 40)
    x[3, 3] = 60.0
    view = View(standalone(vt.show(x, name="w").html()))
    say, select = view.root.locator(".vt-say"), view.root.get_by_label("colour scale", exact=True)
    for option in select.locator("option").all_inner_texts():
        select.select_option(label=option)
        bars = view.root.locator(".vt-legend canvas")
        bars.focus()
        total, seen = 0, view.root.locator(".vt-ticks .vt-on")
        for _ in range(60):
            view.page.keyboard.press("ArrowRight")
            total += int(
                re.match(r"[\d,  ]+", seen.inner_text())[0].replace(",", "").replace(" ", "").strip()
            )
        beyond = sum(map(int, re.findall(r"(\d+) beyond", say.inner_text())))
        assert total + beyond == 1200, option
        bars.blur()


def test_a_screen_reader_has_the_numbers(standalone):
    page = standalone(vt.show(vistorch.arange(12.0).reshape(3, 4), name="w").html())
    table = page.get_by_role("table", name="w: 3 × 4, float32, cpu, 48 B")
    expect(table.get_by_role("row", name="max 11")).to_be_attached()
    expect(table.get_by_role("row", name="mean 5.5")).to_be_attached()
    expect(page.get_by_role("application")).to_have_accessible_name(re.compile("heatmap, 3 by 4"))


def test_many_pages_share_one_module(standalone):
    one = vt.show(vistorch.eye(3), name="w").html()
    page = standalone(one + one + vt.show(vistorch.ones(2, 2), name="v").html())
    page.wait_for_function("document.querySelectorAll('.vt-card').length === 3")
    assert page.evaluate("Object.keys(globalThis.vistorchPages).length") == 1
    View(page, number=0).press("ArrowRight")
    View(page, number=0).says("w[0, 1]")
    View(page, number=1).says("w[0, 0]")


def test_the_place_of_a_scalar_is_where_its_bar_ends(standalone):
    page = standalone(vt.show(vistorch.tensor(0.75), name="p").html())
    number = page.locator(".vt-number")
    expect(number).to_have_text("0.7500")
    number.click()
    expect(page.locator(".vt-line .vt-hint")).to_have_text("copied 0.7500")
    bar, figure = boxes(page.locator(".vt-range canvas"), number)
    assert middle(bar)["y"] == pytest.approx(middle(figure)["y"], abs=8)
