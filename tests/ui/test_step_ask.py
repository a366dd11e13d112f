"""Guess, then step: the page hides what leaves a node, asks for it, marks the answer, and says why."""

import pytest
from playwright.sync_api import expect

import vistorch
from vistorch import nn, vt
from vistorch.debug.graph import Calls


def neuron(ask=True):
    x = vistorch.tensor([2.0, 1.0, -1.0])
    w = vistorch.tensor([0.5, -1.0, 0.25], requires_grad=True)
    prediction = (w * x).sum()
    error = prediction - 1
    loss = error**2
    names = {"x": x, "w": w, "prediction": prediction, "error": error, "loss": loss}
    return vt.step(loss, ask=ask, namespace=names)


def network():
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
    x, target = vistorch.randn(5, 6), vistorch.tensor([0, 1, 2, 3, 0])
    with Calls():
        loss = nn.functional.cross_entropy(net(x), target)
    return vt.step(loss, ask=True, namespace={"net": net, "x": x, "loss": loss})


def test_a_chain_is_guessed_with_keys_alone(standalone, theme, shoot):
    page = standalone(neuron().document(), theme)
    card, box, score = page.locator(".vt-stepper"), page.locator(".vt-ask"), page.locator(".vt-score")
    arrows, last = page.locator(".vt-arrow"), page.locator(".vt-step").last
    expect(score).to_contain_text("4 questions")
    expect(box).to_be_hidden()
    card.press("ArrowRight")
    expect(box).to_contain_text("What gradient does error get?")
    expect(page.get_by_label("your answer")).to_be_focused()
    expect(arrows.nth(1)).to_have_text("?")
    expect(page.locator(".vt-equation")).to_be_hidden()  # it holds the answer
    assert "−2.5" not in card.inner_text()
    page.keyboard.type("much")
    page.keyboard.press("Enter")
    expect(page.get_by_label("your answer")).to_have_attribute(
        "placeholder", "a number, please: 0.25, -1/32, 3e-4"
    )
    expect(page.locator(".vt-pip.vt-was-wrong")).to_have_count(0)
    page.keyboard.type("-5/2")
    page.keyboard.press("Enter")
    expect(box).to_contain_text("Right: −2.5.")
    expect(box).to_contain_text("1 · 2 · (−1.25) = −2.5")
    expect(arrows.nth(1)).to_have_text("−2.5")
    page.keyboard.press("Enter")  # steps on, and asks again
    expect(page.locator(".vt-pos")).to_have_text("step 2 of 4")
    page.keyboard.press("h")
    expect(box).to_contain_text("hint shown")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(box).to_contain_text("You said 7. It is −2.5.")
    expect(score).to_contain_text("1 of 2 right")
    expect(score).to_contain_text("1 hint")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")  # an empty box: skipped
    expect(box).to_contain_text("Skipped. It is −2.5.")
    page.keyboard.press("Enter")
    expect(box).to_contain_text("What gradient does w[2] get?")
    expect(last).to_contain_text("None")
    shoot(theme, card)
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    expect(last).to_contain_text("−5−2.52.5")
    expect(score).to_contain_text("2 of 3 right")
    shoot(f"{theme}-done", card)
    card.press("ArrowLeft")
    expect(box).to_contain_text("Skipped. It is −2.5.")  # an old answer is shown, not asked for again


def test_it_can_be_turned_on_and_off_at_any_time(standalone):
    page = standalone(neuron(ask=False).document())
    card, box = page.locator(".vt-stepper"), page.locator(".vt-ask")
    card.press("ArrowRight")
    expect(box).to_be_hidden()
    expect(page.locator(".vt-arrow").nth(1)).to_have_text("−2.5")
    card.press("a")
    expect(box).to_contain_text("What gradient does error get?")
    expect(page.locator(".vt-arrow").nth(1)).to_have_text("?")
    page.keyboard.press("a")
    expect(box).to_be_hidden()
    expect(page.locator(".vt-arrow").nth(1)).to_have_text("−2.5")
    page.get_by_role("button", name="Predict").click()
    expect(box).to_be_visible()


def test_a_network_asks_for_signs_numbers_and_shapes(standalone, theme, shoot):
    page = standalone(network().document(), theme)
    card, box, side = page.locator(".vt-stepper"), page.locator(".vt-ask"), page.locator(".vt-inspector")
    card.press("ArrowRight")
    expect(box).to_contain_text("Which sign")
    expect(side).to_contain_text("after your answer")
    expect(side.locator(".vt-rules")).to_have_count(0)
    expect(page.locator(".vt-edge.vt-asked")).to_have_count(1)
    shoot(f"{theme}-sign", card)
    card.press("-")
    expect(box).to_contain_text("Right: negative.")
    expect(side.locator(".vt-rules")).to_have_count(1)
    expect(page.locator(".vt-edge.vt-asked")).to_have_count(0)
    asked = []
    for _ in range(4):
        page.keyboard.press("Enter")
        if not box.is_visible():
            break
        asked.append(box.locator(".vt-question").inner_text())
        if "shape" in asked[-1]:
            shoot(f"{theme}-shape", card)
        page.keyboard.press("ArrowRight")  # skips
        if not box.get_by_text("Skipped").is_visible():
            card.press("ArrowRight")
        expect(box).to_contain_text("Skipped")
    assert any("What shape" in text for text in asked)
    assert any("What flows on to" in text or "What gradient" in text for text in asked)


def test_what_is_asked_is_text(standalone):
    x = vistorch.tensor(2.0, requires_grad=True)
    page = standalone(vt.step(x * 3, ask=True, namespace={"<b>x</b>": x}).document())
    page.locator(".vt-stepper").press("ArrowRight")
    expect(page.locator(".vt-ask")).to_contain_text("<b>x</b>")


@pytest.mark.parametrize("width", [420, 700, 1280])
def test_a_question_fits_its_window(standalone, width):
    for made in (neuron(), network()):
        page = standalone(made.document())
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(".vt-stepper").press("ArrowRight")
        expect(page.locator(".vt-ask")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
