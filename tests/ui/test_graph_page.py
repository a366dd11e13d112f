"""The graph's page in a file with no kernel behind it: fold, click, search, zoom, keys, names that look like markup."""

import pytest
from playwright.sync_api import expect

import vistorch
from tests.ui.views import boxes
from vistorch import nn, vt
from vistorch.debug.graph import Calls, Norms

MARKUP = "<img src=x onerror=alert(1)>"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8))
        self.second = nn.Sequential(nn.Linear(8, 4), nn.Tanh())

    def forward(self, x):
        return self.second(self.first(x))


def example(backward=True):
    vistorch.manual_seed(0)
    net, x = Net(), vistorch.randn(5, 6)
    with Calls(), Norms():
        loss = net(x).pow(2).mean()
        if backward:
            loss.backward(retain_graph=True)
    return vt.graph(loss, namespace={"net": net, "x": x, "loss": loss})


@pytest.fixture
def opened(standalone, theme):
    return standalone(example().document(), theme)


def test_a_graph_folds_under_pointer_and_keys(opened, shoot, theme):
    page = opened
    bars, closed = page.locator(".vt-bar"), page.locator('.vt-node[aria-expanded="false"]')
    expect(bars).to_have_count(2)
    bars.filter(has_text="first").click()
    expect(bars).to_have_count(1)
    expect(closed).to_have_count(1)
    expect(closed).to_contain_text("first")
    shoot(theme)
    closed.focus()
    page.keyboard.press("Enter")
    expect(bars).to_have_count(2)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("first, open")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") != focused
    page.get_by_role("button", name="close every group").click()
    expect(bars).to_have_count(0)
    expect(closed).to_have_count(2)
    page.get_by_role("button", name="open every group").click()
    expect(bars).to_have_count(2)


def test_a_click_shows_a_node_and_edges_are_as_wide_as_gradients_are_large(standalone):
    page = standalone(example().document())
    page.locator(".vt-node", has_text="Relu").click()
    side = page.locator(".vt-inspector")
    expect(side.locator(".vt-nodename")).to_have_text("first[1] ReLU")
    expect(side).to_contain_text("first[1]")
    expect(side.locator(".vt-does")).to_have_text("Relu: x where it is positive, else 0.")
    expect(side.locator(".vt-rhs")).to_have_text("g [x > 0]")
    expect(side.get_by_role("button")).to_have_count(0)  # no kernel to check it
    page.locator(".vt-pill", has_text="weight").first.click()
    expect(side).to_contain_text("parameter")
    expect(side).to_contain_text("Its .grad")
    widths = {
        float(w)
        for w in page.locator("path.vt-edge.vt-on").evaluate_all(
            "all => all.map(e => getComputedStyle(e).strokeWidth.replace('px', ''))"
        )
    }
    assert len(widths) > 4 and max(widths) == 6


def test_without_a_pass_no_edge_claims_a_gradient(standalone):
    page = standalone(example(backward=False).document())
    expect(page.locator("path.vt-edge")).to_have_count(14)
    expect(page.locator("path.vt-edge.vt-on")).to_have_count(0)


def test_what_is_folded_stays_where_it_is(standalone):
    page = standalone(example().document())
    bar = page.locator(".vt-bar", has_text="second")
    before = bar.bounding_box()
    bar.click()
    closed = page.locator('.vt-node[aria-expanded="false"]')
    after = closed.bounding_box()
    assert abs(after["y"] - before["y"]) <= 3
    closed.click()
    assert abs(bar.bounding_box()["y"] - before["y"]) <= 3


def test_what_is_searched_is_found_in_closed_groups_too(standalone):
    page = standalone(example().document())
    page.get_by_role("button", name="close every group").click()
    page.keyboard.press("/")
    page.keyboard.type("tanh")
    expect(page.locator(".vt-count")).to_have_text("1 found")
    expect(page.locator(".vt-hit")).to_contain_text("second")
    page.keyboard.press("Enter")
    expect(page.locator(".vt-nodename")).to_have_text("second[1] Tanh")
    expect(page.locator(".vt-chosen")).to_contain_text("Tanh")
    page.keyboard.press("Escape")
    expect(page.locator(".vt-hit")).to_have_count(0)


def test_zoom_and_fit(standalone):
    page = standalone(example().document())
    expect(page.locator(".vt-percent")).to_have_text("100 %")
    wide = page.locator("svg.vt-graph").first.bounding_box()["width"]
    page.locator(".vt-node").first.focus()
    page.keyboard.press("+")
    expect(page.locator(".vt-percent")).to_have_text("125 %")
    assert page.locator("svg.vt-graph").first.bounding_box()["width"] == pytest.approx(1.25 * wide, rel=0.01)
    page.keyboard.press("f")
    box, graph = boxes(page.locator(".vt-board"), page.locator("svg.vt-graph").first)
    assert graph["height"] <= box["height"] and graph["width"] <= box["width"]


def test_a_graph_too_large_to_read_folds_until_it_is_read_whole(standalone, theme, shoot):
    net = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)) for _ in range(8)])
    with Calls():
        loss = net(vistorch.randn(2, 4)).sum()
    page = standalone(vt.graph(loss, namespace={"net": net, "loss": loss}).document(), theme)
    bars, fit = page.locator(".vt-bar"), page.get_by_role("button", name="Fit the whole graph")

    def seen():
        """Whether the whole picture is in its box, and the size of its text on the screen."""
        return page.locator(".vt-board").evaluate(
            "b => [b.scrollHeight <= b.clientHeight && b.scrollWidth <= b.clientWidth,"
            " 11.5 * b.querySelector('svg').getScreenCTM().a]"
        )

    whole, text = seen()
    assert whole and text > 9
    expect(page.locator('.vt-node[aria-expanded="false"]')).to_have_count(8)
    page.get_by_role("button", name="open every group").click()
    expect(bars).to_have_count(8)
    assert not seen()[0]
    fit.click()
    expect(bars).to_have_count(0)
    assert seen()[0] and seen()[1] > 9
    shoot(theme)
    page.keyboard.press("f")
    expect(bars).to_have_count(8)
    assert seen()[0] and seen()[1] < 6
    bars.nth(1).click()  # what a hand has changed is no longer what Fit had before it
    fit.click()
    expect(bars).to_have_count(0)
    assert seen()[0] and seen()[1] > 9


def test_a_large_graph_has_a_map_and_stays_in_its_box(standalone, shoot):
    x = vistorch.ones(2, requires_grad=True)
    y = x
    for _ in range(60):
        y = (y * 1.01).sin()
    page = standalone(vt.graph(y.sum(), open="all", namespace={"x": x}).document())
    expect(page.locator(".vt-map")).to_be_visible()
    page.locator(".vt-map").click(position={"x": 10, "y": 140})
    assert page.locator(".vt-board").evaluate("e => e.scrollTop") > 500
    shoot("large")
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    inspector, board = boxes(page.locator(".vt-inspector"), page.locator(".vt-board"))
    assert inspector["y"] > board["y"] + 200


def test_names_with_markup_are_text(standalone, page):
    executed = []
    page.on("dialog", lambda dialog: (executed.append(dialog.message), dialog.dismiss()))
    x = vistorch.ones(2, requires_grad=True)
    net = nn.Sequential()
    net.register_parameter("a<b", nn.Parameter(vistorch.ones(2)))
    loss = (x * net._parameters["a<b"]).sum()
    display = vt.graph(loss, namespace={MARKUP: x, "net": net, "loss": loss})
    for made in (display, vt.step(loss, namespace={MARKUP: x, "net": net, "loss": loss})):
        page = standalone(made.document())
        expect(page.locator(".vt-card")).to_be_visible()
        assert page.locator(".vt img").count() == 0
        expect(page.locator(".vt-card")).to_contain_text("<img")
    assert not executed
