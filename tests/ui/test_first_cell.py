"""A cell runs in JupyterLab and in Notebook 7 with the vistorch of this checkout, and its output shows."""

import pytest

from tests.ui import driver, servers


def test_a_cell_shows_its_value(notebook, theme, shoot):
    nb = notebook("import vistorch\nvistorch.arange(6).reshape(2, 3)", "vistorch.__file__", theme=theme)
    nb.run(0)
    nb.run(1)
    assert "tensor([[0, 1, 2],\n        [3, 4, 5]])" in nb.text(0)
    assert "tensor([[0, 1, 2]," in nb.output(0).inner_text()
    assert nb.text(1) == repr(str(servers.ROOT / "vistorch" / "__init__.py"))
    shoot("cell")


def test_an_error_in_a_cell_is_reported(notebook):
    nb = notebook("1 / 0", "print('on')")
    nb.run(0, fails=True)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        nb.run(0)
    assert nb.text(nb.execute("print('after')")) == "after\n"


def test_a_page_is_dark_where_the_reader_wants_it(standalone, theme):
    page = standalone(
        "<style>@media (prefers-color-scheme: dark) { p { color: rgb(1, 2, 3) } }</style><p>x</p>", theme
    )
    colour = page.evaluate("getComputedStyle(document.querySelector('p')).color")
    assert colour == ("rgb(1, 2, 3)" if theme == "dark" else "rgb(0, 0, 0)")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("console.error('broken')", "broken"),
        ("throw new Error('thrown')", "thrown"),
        ("fetch('https://example.org/x').catch(() => 0)", "asked for https://example.org/x"),
    ],
)
def test_what_goes_wrong_in_a_page_is_kept(context, tmp_path, script, said):
    page = context.new_page()
    console = driver.Console(page)
    (tmp_path / "page.html").write_text(f"<!doctype html><script>{script}</script>")
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_timeout(100)
    page.close()
    assert any(said in error for error in console.errors())
