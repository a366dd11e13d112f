"""The stepper's page in a file with no kernel behind it: it steps both ways, as an exported notebook does."""

import pytest
from playwright.sync_api import expect

import vistorch
from tests.ui.views import boxes
from vistorch import nn, vt
from vistorch.debug.graph import Calls


def small():
    x = vistorch.ones(2, 2, requires_grad=True)
    z = 3 * (x + 2) ** 2
    out = z.mean()
    return vt.step(out, namespace={"x": x, "z": z, "out": out})


def network(condition=None):
    vistorch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)), vistorch.randn(5, 6)
    with Calls():
        loss = net(x).pow(2).mean()
    return vt.step(loss, break_=condition, namespace={"net": net, "x": x, "loss": loss})


def test_the_small_example_reaches_four_and_a_half_in_four_steps(standalone, theme, shoot):
    page = standalone(small().document(), theme)
    position, said = page.locator(".vt-pos"), page.locator(".vt-equation")
    cards = page.locator(".vt-step")
    expect(cards).to_have_count(5)
    expect(position).to_have_text("step 0 of 4")
    expect(cards.last).to_contain_text("None")
    on, back = (
        page.get_by_role("button", name="one step on"),
        page.get_by_role("button", name="one step back"),
    )
    expect(back).to_be_disabled()
    for step, name in enumerate(["MeanBackward0", "MulBackward0", "PowBackward0", "AddBackward0"], 1):
        on.click()
        expect(position).to_have_text(f"step {step} of 4")
        expect(said).to_contain_text(name)
        shoot(f"{theme}-{step}", page.locator(".vt-stepper"))
    expect(on).to_be_disabled()
    expect(cards.last).to_contain_text("4.54.54.54.5")
    expect(said).to_contain_text("x.grad: 0 + 4.5")
    back.click()
    expect(cards.last).to_contain_text("None")
    expect(cards.nth(2)).to_contain_text("(x + 2)²")
    expect(said).to_contain_text("0.750.750.750.75 · 2 · 3333 = 4.54.54.54.5")
    cards.first.click()
    expect(position).to_have_text("step 1 of 4")


def test_a_network_is_stepped_with_mouse_keys_and_slider(standalone, theme, shoot):
    page = standalone(network().document(), theme)
    card, position, side = page.locator(".vt-stepper"), page.locator(".vt-pos"), page.locator(".vt-inspector")
    expect(position).to_have_text("step 0 of 5")
    page.locator(".vt-node", has_text="Relu").click()
    expect(position).to_have_text("step 4 of 5")
    expect(page.locator(".vt-board .vt-here")).to_contain_text("Relu")
    expect(side.locator(".vt-does")).to_have_text("Relu: x where it is positive, else 0.")
    expect(page.locator(".vt-board .vt-done:not(.vt-pill)")).to_have_count(3)
    expect(page.locator(".vt-pill.vt-done")).to_have_count(2)
    expect(side).to_contain_text("ReluBackward0")
    shoot(theme, card)
    card.press("ArrowLeft")
    expect(position).to_have_text("step 3 of 5")
    expect(side).to_contain_text("into .grad")
    expect(side.locator(".vt-sum").filter(has_text="0 + ")).to_have_count(2)
    card.press("ArrowLeft")
    expect(page.locator(".vt-pill.vt-done")).to_have_count(0)
    card.press("End")
    expect(position).to_have_text("step 5 of 5")
    expect(page.locator(".vt-pill.vt-done")).to_have_count(4)
    card.press("Home")
    expect(position).to_have_text("step 0 of 5")
    slider = page.locator('input[type="range"]')
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(position).to_have_text("step 1 of 5")


def test_the_keys_stand_in_the_bar_and_cover_nothing(standalone):
    """Also beside a tensor's page, whose styles are in the same document."""
    page = standalone(vt.show(vistorch.randn(3, 4)).html() + network().html())
    page.set_viewport_size({"width": 1000, "height": 900})
    bar, keys, run = boxes(
        *(page.locator(part) for part in (".vt-transport", ".vt-keys", ".vt-transport .vt-run"))
    )
    assert bar["y"] <= keys["y"] and keys["y"] + keys["height"] <= bar["y"] + bar["height"]
    assert keys["x"] >= run["x"] + run["width"]


def test_a_run_stops_before_breakpoints_and_then_goes_past_them(standalone):
    page = standalone(network("ReluBackward0").document())
    run, position, seen = page.locator(".vt-run"), page.locator(".vt-pos"), page.locator(".vt-stop")
    top = page.locator(".vt-board").bounding_box()["y"]
    run.click()
    expect(position).to_have_text("before step 4 of 5")
    expect(seen).to_have_text("Stopped before step 4, net[1] ReLU (ReluBackward0): it has not run yet.")
    expect(page.locator(".vt-inspector .vt-meta")).to_contain_text("step 4 of 5")
    expect(page.locator(".vt-board .vt-here")).to_have_count(
        1
    )  # one place is here: the node before which it stopped
    expect(page.locator(".vt-board .vt-here")).to_contain_text("net[1]")
    expect(page.locator(".vt-board .vt-here.vt-chosen")).to_have_count(1)
    expect(page.locator(".vt-inspector")).to_contain_text("not yet run")
    assert page.locator(".vt-board").bounding_box()["y"] == top  # nothing jumps
    run.click()
    expect(position).to_have_text("step 5 of 5")
    expect(run).to_be_disabled()
    page.locator(".vt-face + text", has_text="Pow").click()
    page.keyboard.press("b")
    page.keyboard.press("Home")
    page.keyboard.press("r")
    expect(position).to_have_text("before step 2 of 5")
    expect(seen).to_contain_text("Stopped before step 2, Pow (PowBackward0)")


def test_nan_is_seen_before_it_is_used(standalone):
    x = vistorch.zeros(3, requires_grad=True)
    bad = (x.sqrt() * x).sum()
    page = standalone(vt.step(bad, break_="nan", namespace={"x": x}).document())
    page.locator(".vt-run").click()
    expect(page.locator(".vt-stop")).to_contain_text(
        "Stopped before step 3, Sqrt (SqrtBackward0), breakpoint nan"
    )
    expect(page.locator(".vt-inspector")).to_contain_text("0 / (2 · 0) = nan")
    assert x.grad is None


def test_the_focus_is_never_lost(standalone):
    page = standalone(network("ReluBackward0").document())
    here = "() => document.activeElement.closest('.vt-node')?.getAttribute('aria-label') ?? ''"
    page.keyboard.press("Tab")
    page.locator(".vt-find").fill("mean")
    page.locator(".vt-find").press("Escape")
    assert "Mean" in page.evaluate(here)
    run = page.locator(".vt-run")
    run.focus()
    run.press("Enter")
    run.press("Enter")
    expect(run).to_be_disabled()
    assert "net[0] Linear" in page.evaluate(here)
    page.keyboard.press("ArrowLeft")  # the keys go on from there
    expect(page.locator(".vt-pos")).to_have_text("step 4 of 5")
    back = page.get_by_role("button", name="first")
    back.focus()
    back.press("Enter")
    expect(back).to_be_disabled()
    assert "Mean" in page.evaluate(here)


def test_an_old_gradient_is_not_one_of_this_pass(standalone):
    vistorch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)), vistorch.randn(5, 6)
    net(x).pow(2).mean().backward()
    with Calls():
        loss = net(x).pow(2).mean()
    page = standalone(vt.step(loss, namespace={"net": net, "x": x, "loss": loss}).document())
    pills = page.locator(".vt-pill")
    expect(pills).to_have_count(4)
    expect(page.locator(".vt-pill.vt-done")).to_have_count(0)
    expect(page.locator(".vt-pill .vt-old")).to_have_count(4)
    page.keyboard.press("Tab")
    page.locator(".vt-find").focus()
    page.locator(".vt-find").press("Escape")
    page.keyboard.press("End")
    expect(page.locator(".vt-pill.vt-done")).to_have_count(4)


def test_a_single_number_on_an_arrow_has_its_sign(standalone):
    w, x = vistorch.tensor([0.5, -1.0, 0.5], requires_grad=True), vistorch.tensor([2.0, 1.0, -0.5])
    b = vistorch.tensor(-1.0, requires_grad=True)
    error = (w * x).sum() + b - 1.0
    loss = error**2
    page = standalone(
        vt.step(loss, namespace={"w": w, "x": x, "b": b, "error": error, "loss": loss}).document()
    )
    page.get_by_role("button", name="last").click()
    expect(page.locator(".vt-flow").first).to_contain_text("−4.5")
    expect(page.locator(".vt-keyline")).to_contain_text("a single number with its sign")


@pytest.mark.parametrize("width", [1400, 800, 520])
def test_nothing_in_the_inspector_is_cut(standalone, width):
    page = standalone(network("ReluBackward0").document())
    page.set_viewport_size({"width": width, "height": 900})
    page.locator(".vt-run").click()
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.vt-inspector :is(.vt-src, .vt-toname, .vt-sum, .vt-saved > *)')]
            .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"""
    )
    assert cut == []


def test_an_export_gives_the_inspector_its_width(standalone):
    page = standalone(network().document())
    for window, wide in ((1400, True), (1000, False)):
        page.set_viewport_size({"width": window, "height": 900})
        inspector = page.locator(".vt-inspector").bounding_box()
        assert (inspector["width"] >= 419) == wide and inspector["x"] + inspector["width"] <= window
    assert page.evaluate("document.body.clientWidth") <= 1312


@pytest.mark.parametrize("width", [420, 960, 1400])
def test_no_page_is_wider_than_its_window(standalone, shoot, width):
    for name, made in (("small", small()), ("network", network())):
        page = standalone(made.document())
        page.set_viewport_size({"width": width, "height": 900})
        page.get_by_role("button", name="one step on").click()
        expect(page.locator(".vt-pos")).to_contain_text("step 1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shoot(f"{name}-{width}")


def test_a_step_is_painted_at_once(standalone):
    page = standalone(network().document())
    expect(page.locator(".vt-pos")).to_have_text("step 0 of 5")
    took = page.evaluate(
        """async () => {
      const button = document.querySelector('[aria-label="one step on"]'), begin = performance.now();
      button.click();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return performance.now() - begin;
    }"""
    )
    expect(page.locator(".vt-pos")).to_have_text("step 1 of 5")
    assert took < 250  # 50 where the machine is not shared


# The middle of each travelling picture, frame by frame, beside the boxes it travels between.
TRAVELS = """async (key) => {
  const card = document.querySelector(".vt-stepper"), frames = [], start = performance.now();
  card.focus();
  card.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  while (performance.now() - start < 900) {
    await new Promise(requestAnimationFrame);
    const found = [...document.querySelectorAll(".vt-travels")].map(one => one.getBoundingClientRect());
    frames.push([performance.now() - start, found.map(box => box.top + box.height / 2)]);
  }
  return frames;
}"""


def test_the_gradient_travels_along_its_edge_and_back(standalone, page):
    standalone(network().document())
    expect(page.locator(".vt-pos")).to_have_text("step 0 of 5")
    page.emulate_media(reduced_motion="no-preference")
    try:
        for step in (1, 2, 3):
            there, back, again = (
                page.evaluate(TRAVELS, key) for key in ("ArrowRight", "ArrowLeft", "ArrowRight")
            )
            for frames, way in ((there, 1), (back, -1), (again, 1)):
                moving = [[at, tops] for at, tops in frames if tops]
                assert len(moving) >= 2 and not frames[-1][1]
                assert moving[-1][0] - moving[0][0] < 600  # 250 ms, on a busy machine
                first, last = moving[0][1], moving[-1][1]
                assert len(first) == len(last) >= 1
                assert sum(way * (b - a) for a, b in zip(first, last, strict=True)) > 0, step
        page.locator(".vt-stepper").press("End")  # several steps at once: nothing travels
        assert page.locator(".vt-travels").count() == 0
    finally:
        page.emulate_media(reduced_motion="reduce")


def test_nothing_travels_for_whom_asked_for_no_motion(standalone, page):
    standalone(network().document())
    expect(page.locator(".vt-pos")).to_have_text("step 0 of 5")
    assert not any(tops for _, tops in page.evaluate(TRAVELS, "ArrowRight"))
    expect(page.locator(".vt-pos")).to_have_text("step 1 of 5")


def test_it_plays_by_itself_until_it_is_stopped_or_a_breakpoint_stands_there(standalone, page, shoot):
    standalone(network("ReluBackward0").document())
    position, play = page.locator(".vt-pos"), page.locator(".vt-play")
    page.get_by_label("steps a second").select_option("250")
    page.locator(".vt-stepper").press("Home")
    play.click()
    expect(play).to_have_text("Stop")
    expect(position).to_have_text("before step 4 of 5")
    expect(play).to_have_text("Play")
    expect(page.locator(".vt-stop")).to_contain_text("Stopped before step 4")
    shoot("playing", page.locator(".vt-stepper"))
    play.click()
    expect(position).to_have_text("step 5 of 5")
    expect(play).to_be_disabled()
    page.locator(".vt-stepper").press("Home")
    page.locator(".vt-stepper").press("p")
    expect(position).to_have_text("step 1 of 5")
    page.locator(".vt-stepper").press("ArrowLeft")  # a hand on it ends it
    expect(play).to_have_text("Play")
    page.wait_for_timeout(600)
    expect(position).to_have_text("step 0 of 5")
