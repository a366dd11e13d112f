"""What leaves the notebook: files of `%vt export` and of nbconvert, opened with no kernel, no server and no network."""

import struct

import nbformat
import pytest
from playwright.sync_api import expect

import vistorch
from tests.ui import driver
from tests.ui.views import View, allow_clipboard, clipboard
from vistorch import vt

END = {"light": "#01402f", "dark": "#adefd5"}
MARKUP = '<svg onload="window.hacked=1"><script>window.hacked=2</script>'


@pytest.fixture
def shown():
    x = vistorch.zeros(12, 20)
    x[5, 7] = 9.0
    return vt.show(x, name="net.fc <1>", index="w", scale="max")


def test_an_exported_page_works_offline(page, shown, tmp_path, theme, shoot):
    vt.export(tmp_path / "weights.html", shown)
    page.context.set_offline(True)
    try:
        page.emulate_media(color_scheme=theme)
        page.goto((tmp_path / "weights.html").as_uri())
        view = View(page)
        allow_clipboard(page)
        view.click(view.shown(END[theme]))
        view.says("w[5, 7]", "9")
        expect(view.hint).to_have_text("copied w[5, 7]")
        assert clipboard(page) == "w[5, 7]"
    finally:
        page.context.set_offline(False)
    assert page.title() == "net.fc <1>"
    expect(page.locator("pre")).to_contain_text("[0., 0., 0.,")
    shoot("page")


def test_an_exported_page_in_a_narrow_window(page, shown, tmp_path, shoot):
    vt.export(tmp_path / "weights.html", shown)
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto((tmp_path / "weights.html").as_uri())
    View(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 420
    shoot("narrow")


def test_without_scripts_the_text_and_the_picture_stay(browser, shown, tmp_path):
    vt.export(tmp_path / "weights.html", shown)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "weights.html").as_uri())
    expect(page.locator("pre")).to_be_visible()
    assert page.get_by_text("needs a page that runs scripts").count() == 0  # the picture is there
    image = page.locator("img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.naturalWidth") > 300
    driver.shoot(page, "test_without_scripts", "page")
    context.close()


def test_an_exported_page_is_printed(page, shown, tmp_path):
    vt.export(tmp_path / "weights.html", shown)
    page.goto((tmp_path / "weights.html").as_uri())
    View(page)
    assert page.pdf().startswith(b"%PDF")


def test_exported_pictures_open(page, tmp_path, theme, shoot):
    x = vistorch.randn(10, 24)
    x[2, 3], x[6, 20] = float("nan"), float("inf")
    display = vt.show(x, name=MARKUP)
    for suffix in ("svg", "png"):
        vt.export(tmp_path / f"w.{suffix}", display, theme=theme)
        page.goto((tmp_path / f"w.{suffix}").as_uri())
        shoot(suffix)
        if suffix == "svg":
            assert page.evaluate("window.hacked") is None
            assert page.locator("script").count() == 0
            assert MARKUP in page.evaluate("document.documentElement.textContent")
            box = page.evaluate(
                "(({ width, height }) => [width, height])(document.documentElement.getBoundingClientRect())"
            )
            assert box[0] >= 300 and box[1] >= 100
    width, height = struct.unpack(">II", (tmp_path / "w.png").read_bytes()[16:24])
    assert width >= 300 and height >= 100


def test_every_kind_is_exported_as_svg(page, tmp_path, shoot):
    vistorch.manual_seed(1)
    things = {
        "tiles": vistorch.randn(8, 3, 5, 5),
        "row": vistorch.randn(12),
        "scalar": vistorch.tensor(0.4),
        "strip": {"a": vistorch.randn(4, 9), "b": vistorch.tensor(1.0)},
        "empty": vistorch.zeros(0, 2),
    }
    parts = [vt.show(x, name=name).svg() for name, x in things.items()]
    (tmp_path / "all.html").write_text(
        "<meta charset='utf-8'>"
        + "".join(f"<div style='margin:8px'>{part[part.index('<svg') :]}</div>" for part in parts)
    )
    page.goto((tmp_path / "all.html").as_uri())
    assert page.locator("body > div > svg").count() == len(things)
    shoot("svg")


def test_a_notebook_as_html_works_offline(page, shown, tmp_path, shoot):
    from nbconvert import HTMLExporter

    bundle = shown._repr_mimebundle_()
    outputs = [nbformat.v4.new_output("execute_result", data=bundle, execution_count=n) for n in (1, 2)]
    cells = [nbformat.v4.new_code_cell("w", outputs=[output], execution_count=1) for output in outputs]
    for name in (
        "mathjax_url",
        "require_js_url",
        "jquery_url",
        "mermaid_js_url",
    ):  # nbconvert's own, from the network
        assert hasattr(HTMLExporter(), name) or name == "mermaid_js_url"
    made = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="", mermaid_js_url="")
    body, _ = made.from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    (tmp_path / "book.html").write_text(body, encoding="utf-8")
    page.goto((tmp_path / "book.html").as_uri())
    page.wait_for_function("document.querySelectorAll('.vt-card').length === 2")
    view = View(page, number=1)
    view.hover(view.shown(END["light"]))
    view.says("w[5, 7]", "9")
    View(page, number=0).says("w[0, 0]")
    assert page.locator(".jp-OutputArea-output img").count() == 0
    assert "mono" in page.locator("pre", has_text="tensor").first.evaluate(
        "pre => getComputedStyle(pre).fontFamily"
    )
    shoot("book")
