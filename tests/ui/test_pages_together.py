"""Pages of several kinds in one document, as in every notebook: none changes how another looks."""

import pytest
from playwright.sync_api import expect

import vistorch
from vistorch import vt

STYLES = """root => [...root.querySelectorAll("*")].filter(one => !one.closest("svg")).map(one => {
  const style = getComputedStyle(one), before = getComputedStyle(one, "::before").content;
  const names = ["display", "position", "padding", "fontSize", "fontWeight", "color", "borderTopWidth", "textAlign",
                 "backgroundColor", "whiteSpace", "flexDirection", "cursor"];
  return one.tagName + "." + one.className + ": " + names.map(name => style[name]).join("; ") + "; " + before;
})"""


@pytest.fixture(scope="module")
def displays():
    """One display of each kind, the array's both as one and as a strip."""
    x = vistorch.linspace(-1, 1, 24).view(4, 6).requires_grad_()
    with vt.record("a") as a:
        x.exp().sum()
    with vt.record("b") as b:
        (x + 1e-3).exp().sum()
    loss = (x.exp() * 3).sum()
    names = {"x": x, "loss": loss, "row": x[1]}
    return {
        "array": vt.show(x),
        "strip": vt.show({"x": x, "row": x[1]}),
        "vars": vt.vars(namespace=names),
        "graph": vt.graph(loss, namespace=names, live="off"),
        "steps": vt.step(loss, namespace=names, live="off"),
        "memory": vt.memory(loss),
        "compare": vt.compare(a, b),
    }


def styles(page, count):
    roots = page.locator("[data-vistorch] .vt")
    expect(roots).to_have_count(count)
    page.wait_for_timeout(300)  # canvases and layouts settle
    return [roots.nth(i).evaluate(STYLES) for i in range(count)]


def test_no_page_changes_another(displays, standalone):
    htmls = {name: getattr(one, "display", one).html() for name, one in displays.items()}
    alone = {name: styles(standalone(html), 1)[0] for name, html in htmls.items()}
    together = dict(zip(htmls, styles(standalone("<br>".join(htmls.values())), len(htmls)), strict=True))
    for name in htmls:
        assert alone[name], name
        changed = [(a, b) for a, b in zip(alone[name], together[name], strict=True) if a != b]
        assert not changed, (name, changed[:3])
