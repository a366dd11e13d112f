"""The array view under the hand: pointer, wheel and keys, in a file with no kernel behind it."""

import numpy as np
import pytest
from playwright.sync_api import expect

import vistorch
from tests.ui.views import View, allow_clipboard, clipboard, middle
from vistorch import vt

END = {"light": "#01402f", "dark": "#adefd5"}  # the colour of +1
BAD = "#c0302a"


def spotted(shape=(12, 20), at=(5, 7)):
    """Zeros and one nine: the one cell in the colour of the map's end."""
    x = vistorch.zeros(*shape)
    x[at] = 9.0
    return x


def opened(standalone, x, theme="light", **wishes):
    wishes = {"name": "w", "scale": "max", **wishes}
    return View(standalone(vt.show(x, **wishes).html(), theme))


def test_the_pointer_reads_the_cell_that_is_painted_under_it(standalone, theme, shoot):
    view = opened(standalone, spotted(), theme)
    view.says("w[0, 0]", "0")
    spot = view.shown(END[theme])
    view.hover(spot)
    view.says("w[5, 7]", "9")
    shoot("hover", view.root)
    for dx, dy, where in [(1, 0, "w[5, 8]"), (-1, 0, "w[5, 6]"), (0, 1, "w[6, 7]"), (0, -1, "w[4, 7]")]:
        view.hover({**spot, "x": spot["x"] + dx * spot["width"], "y": spot["y"] + dy * spot["height"]})
        view.says(where, "0")
    view.page.mouse.move(1, 1)
    view.says("w[0, 0]", "0")


@pytest.mark.parametrize("shape", [(2, 1), (1, 30), (30, 1), (3, 200), (200, 3), (150, 160)])
def test_every_shape_is_read_where_it_is_painted(standalone, shape):
    at = (shape[0] - 1, shape[1] - 1)
    view = opened(standalone, spotted(shape, at))
    view.hover(view.shown(END["light"]))
    view.says(f"w[{at[0]}, {at[1]}]", "9")


def test_a_click_copies_what_can_be_typed(standalone, shoot):
    x = spotted((4, 3, 5, 6), (2, 1, 3, 4))
    view = opened(standalone, x, name="weight", index="net[0].weight")
    allow_clipboard(view.page)
    view.click(view.shown(END["light"]))
    expect(view.hint).to_have_text("copied net[0].weight[2, 1, 3, 4]")
    shoot("copied", view.root)
    code = clipboard(view.page)
    assert code == "net[0].weight[2, 1, 3, 4]"
    assert eval(code.replace("net[0].weight", "x"), {"x": x}) == 9
    view.says(code)  # the cursor stays where the click was
    expect(view.hint).to_have_text("click copies the index · wheel zooms · drag pans", timeout=4000)


def test_without_a_clipboard_the_text_is_offered(standalone):
    view = opened(standalone, spotted())
    view.page.evaluate(
        "navigator.clipboard.writeText = () => Promise.reject(new Error('no')); document.execCommand = () => false"
    )
    view.click(view.shown(END["light"]))
    expect(view.root.locator("input.vt-take")).to_have_value("w[5, 7]")
    expect(view.root.locator("input.vt-take")).to_be_focused()


def test_the_wheel_zooms_to_single_cells_with_their_numbers(standalone, shoot):
    view = opened(standalone, spotted((60, 80), (30, 40)))
    spot = view.shown(END["light"])
    assert len(view.colours(spot)) == 1  # no room for a number
    view.hover(spot)
    before = view.canvas.bounding_box()
    for _ in range(12):
        view.page.mouse.wheel(0, -200)
    view.says("w[30, 40]", "9")  # the cell under the pointer stays there
    expect(view.zoom).not_to_have_text("1.0×")
    near = view.shown(END["light"])
    assert near["width"] > 3 * spot["width"]
    assert len(view.colours(near)) > 5  # its number is printed in it
    shoot("zoomed", view.root)
    assert view.canvas.bounding_box() == before  # nothing moved on the page, and it did not scroll
    view.root.get_by_role("button", name="fit").click()
    expect(view.zoom).to_have_text("1.0×")
    assert view.shown(END["light"])["width"] == pytest.approx(spot["width"], abs=1)


def test_a_page_that_scrolls_under_a_still_pointer_does_not_zoom(standalone):
    page = standalone(
        f"<div style='height:900px'></div>{vt.show(spotted(), name='w').html()}<div style='height:2000px'>"
    )
    view = View(page)
    page.mouse.move(200, 300)
    page.mouse.wheel(0, 1000)
    page.wait_for_timeout(150)
    top = view.canvas.bounding_box()["y"]
    assert top < 300  # the pointer is over the picture now
    page.mouse.wheel(0, 60)
    page.wait_for_timeout(150)
    assert view.canvas.bounding_box()["y"] < top
    expect(view.zoom).to_have_text("1.0×")


def test_a_drag_pans_and_copies_nothing(standalone):
    view = opened(standalone, spotted((60, 80), (30, 40)))
    view.hover(view.shown(END["light"]))
    for _ in range(8):
        view.page.mouse.wheel(0, -200)
    page = view.page
    page.wait_for_timeout(60)
    before, box = view.shown(END["light"]), view.canvas.bounding_box()
    start = middle(before)
    page.mouse.move(box["x"] + start["x"], box["y"] + start["y"])
    page.mouse.down()
    page.mouse.move(box["x"] + start["x"] - 30, box["y"] + start["y"] + 20, steps=4)
    page.mouse.move(box["x"] + start["x"] - 60, box["y"] + start["y"] + 40, steps=4)
    page.mouse.up()
    page.wait_for_timeout(60)
    after = view.shown(END["light"])
    assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((-60, 40), abs=2)
    expect(view.hint).not_to_contain_text("copied")


def test_everything_is_done_by_keys(standalone, shoot):
    view = opened(standalone, spotted((20, 30), (1, 11)))
    page = view.page
    allow_clipboard(page)
    for _ in range(6):  # it is reached without a pointer
        page.keyboard.press("Tab")
        if view.box.evaluate("box => box === document.activeElement"):
            break
    expect(view.box).to_be_focused()
    page.keyboard.press("ArrowRight")
    view.says("w[0, 1]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowRight")
    view.says("w[1, 11]", "9")
    expect(view.root.get_by_role("status")).to_have_text("w[1, 11] 9")
    page.keyboard.press("Enter")
    expect(view.hint).to_have_text("copied w[1, 11]")
    assert clipboard(page) == "w[1, 11]"
    page.keyboard.press("End")
    view.says("w[1, 29]")
    page.keyboard.press("Home")
    view.says("w[1, 0]")
    page.keyboard.press("+")
    expect(view.zoom).to_have_text("1.6×")
    page.keyboard.press("0")
    expect(view.zoom).to_have_text("1.0×")
    before = view.root.locator(".vt-say").inner_text()
    page.keyboard.press("s")
    expect(view.root.locator(".vt-say")).not_to_have_text(before)
    page.keyboard.press("?")
    keys = view.root.locator(".vt-help")
    expect(keys).to_contain_text("copy the index")
    shoot("keys", view.root)
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)


def test_what_is_not_finite_is_counted_marked_and_visited(standalone, theme, shoot):
    x = vistorch.linspace(-1, 1, 600).reshape(20, 30).clone()
    x[2, 3], x[9, 20], x[15, 4] = float("nan"), float("inf"), -float("inf")
    view = opened(standalone, x, theme, scale=None)
    expect(view.root.locator(".vt-bads")).to_contain_text("1 NaN1 +inf1 −inf")
    bad = view.shown({"light": BAD, "dark": "#ff8172"}[theme])
    assert bad["pixels"] > 100
    for where, value in [("w[2, 3]", "NaN"), ("w[9, 20]", "+inf"), ("w[15, 4]", "−inf"), ("w[2, 3]", "NaN")]:
        view.root.get_by_role("button", name="next bad value").click()
        view.says(where, value)
    expect(view.root.locator(".vt-remark")).to_have_text("bad value 1 of 3")
    view.press("[")
    view.says("w[15, 4]", "−inf")
    shoot("bad", view.root)
    stats = view.root.locator(".vt-stats").inner_text()
    assert "NaN\n1" in stats and "±inf\n2" in stats


def test_sliders_tiles_and_the_choice_of_axes(standalone, shoot):
    x = vistorch.arange(5 * 4 * 3 * 6 * 7).reshape(5, 4, 3, 6, 7).float()
    view = opened(standalone, x, scale=None, dims="batch,head,part,query,key")
    axis = {name: view.root.locator(".vt-ax", has_text=name) for name in ("batch", "head", "query", "key")}
    expect(axis["batch"].get_by_role("combobox")).to_have_value("slider")
    slider = axis["batch"].get_by_role("slider")
    slider.focus()
    view.page.keyboard.press("ArrowRight")
    view.page.keyboard.press("ArrowRight")
    view.says("w[2, 0, 0, 0, 0]", str(int(x[2, 0, 0, 0, 0])))
    view.press("PageDown")
    view.says("w[3, 0, 0, 0, 0]")
    shoot("sliders", view.root)
    axis["batch"].get_by_role("button").click()  # who wants no motion gets one step a press
    view.says("w[4, 0, 0, 0, 0]")
    # Two axes change places, and the picture with them.
    wide = view.canvas.bounding_box()
    axis["batch"].get_by_role("combobox").select_option("rows")
    expect(axis["query"].get_by_role("combobox")).to_have_value("slider")
    view.press("ArrowUp")
    view.says("w[3, 0, 0, 0, 0]")
    axis["head"].get_by_role("combobox").select_option("slider")
    expect(axis["head"].get_by_role("slider")).to_be_visible()
    expect(axis["key"].locator(".vt-fixed")).to_have_text("shown whole")
    assert view.canvas.bounding_box() != wide
    shoot("other-axes", view.root)


def test_an_animation_runs_where_motion_is_welcome(standalone):
    view = opened(standalone, vistorch.rand(6, 5, 5, 4, 4), scale=None)
    view.page.emulate_media(reduced_motion="no-preference")
    view.root.locator(".vt-ax").first.get_by_role("combobox").select_option("play")
    view.says("w[2, 0, 0, 0, 0]")
    view.root.locator(".vt-ax").first.get_by_role("button").click()
    view.page.wait_for_timeout(60)
    still = view.where.inner_text()
    view.page.wait_for_timeout(400)
    view.says(still)


def test_a_pooled_array_says_what_it_has(standalone, shoot):
    generator = np.random.default_rng(0)
    x = vistorch.tensor(generator.standard_normal((1000, 1000)).astype("float32"))
    x[617, 204] = float("nan")
    view = opened(standalone, x, scale=None, live="off")
    allow_clipboard(view.page)
    item = vt.show(x, live="off").record.items[0]
    k = item.block[0]
    assert k > 1
    expect(view.root.locator(".vt-note", has_text=f"each block is {k} × {k} values")).to_be_visible()
    where = "w[{}:{}, {}:{}]".format(*(edge for i in (617, 204) for edge in (i // k * k, i // k * k + k)))
    view.shown(BAD)
    view.root.get_by_role("button", name="next bad value").click()
    view.says(where, "NaN")
    view.press("Enter")
    expect(view.hint).to_have_text(f"copied {where}")
    assert bool(eval(clipboard(view.page), {"w": x}).isnan().any())
    expect(view.root.locator(".vt-lens .vt-note")).to_contain_text("one value for each block")
    shoot("pooled", view.root)


def test_the_lens_reads_and_copies_too(standalone):
    view = opened(standalone, spotted((4, 3, 5, 6), (0, 0, 3, 4)))
    allow_clipboard(view.page)
    glass = view.root.locator(".vt-lens canvas")
    spot = view.shown(END["light"], glass)
    view.hover(spot, glass)
    view.says("w[0, 0, 3, 4]", "9")
    view.click(spot, glass)
    expect(view.hint).to_have_text("copied w[0, 0, 3, 4]")


@pytest.mark.parametrize("which", ["rows", "columns"])
def test_a_label_copies_its_row_or_column(standalone, which):
    view = opened(standalone, spotted((12, 20), (5, 7)))
    allow_clipboard(view.page)
    spot, box = view.shown(END["light"]), view.canvas.bounding_box()
    at = (
        {"x": 4, "y": middle(spot)["y"]}
        if which == "rows"
        else {"x": middle(spot)["x"], "y": box["height"] - 4}
    )
    view.canvas.click(position=at)
    expect(view.hint).to_have_text("copied w[5, :]" if which == "rows" else "copied w[:, 7]")


def test_an_output_that_is_replaced_is_let_go(standalone):
    page = standalone(vt.show(spotted(), name="w").html())
    page.wait_for_function("document.querySelectorAll('.vt-card').length === 1")
    client = page.context.new_cdp_session(page)
    page.evaluate(
        """() => {
          window.held = new WeakRef(document.querySelector(".vt"));
          document.querySelector("[data-vistorch]").remove();
        }"""
    )
    for _ in range(20):
        client.send("HeapProfiler.collectGarbage")
        page.wait_for_timeout(100)
        if page.evaluate("held.deref() === undefined"):
            return
    raise AssertionError("the page still holds an output that is gone")
