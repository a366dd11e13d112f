"""`%vt export`: the last display, or a named one, as a file that is whole or not there."""

import os
from pathlib import Path

import pytest

from vistorch import vt
from vistorch.widgets._frame.display import shown


class Fake:
    """What export asks of a display."""

    record = None

    def __init__(self, name=""):
        self.name = name

    def document(self):
        return f"<html>{self.name} é"

    def svg(self, theme):
        return f"<svg>{theme}</svg>"

    def png(self, theme):
        if self.name == "graph":
            raise ValueError("a display of kind 'graph' is drawn as SVG: export it to a .svg or .html file")
        return b"PNG" + theme.encode()


@pytest.fixture(autouse=True)
def two_were_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown.clear()
    for name in ("model.fc1", "graph"):
        shown.add(Fake(name))
    yield
    shown.clear()


def test_the_last_and_a_named_one():
    assert vt.export("a.html") == "wrote a.html (0 kB): graph"
    assert Path("a.html").read_text(encoding="utf-8") == "<html>graph é"
    vt.export("a.html", "model.fc1")
    assert Path("a.html").read_text(encoding="utf-8") == "<html>model.fc1 é"
    vt.export("b.PNG", "model.fc1")
    assert Path("b.PNG").read_bytes() == b"PNGlight"
    vt.export(Path("c.svg"), Fake("x"), theme="dark")
    assert Path("c.svg").read_text() == "<svg>dark</svg>"


def test_typed(type_in):
    assert (
        type_in("%vt export 'my figure.svg' model.fc1 --theme dark").out
        == "wrote my figure.svg (0 kB): model.fc1\n"
    )
    assert Path("my figure.svg").read_text() == "<svg>dark</svg>"


def test_what_a_terminal_printed_can_be_exported(type_in):
    type_in("import vistorch\nx = vistorch.eye(3)")
    assert "1., 0., 0." in type_in("%vt show x").out
    assert type_in("%vt export eye.svg").out.endswith(": x\n")
    assert Path("eye.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("a.png", "a display of kind 'graph' is drawn as SVG: export it to a .svg or .html file"),
        ("a.png modle.fc1", "nothing was shown under the name 'modle.fc1'; did you mean model.fc1?"),
        ("a.png qqq", "nothing was shown under the name 'qqq': type graph or model.fc1"),
        ("no/such/a.html", "cannot write 'no/such/a.html': there is no such folder; type another path"),
        ("a.svg --theme blue", "--theme does not take 'blue': type --theme light or dark"),
        (".html", "'.html' does not say what to write: end it in .html, .svg or .png"),
    ],
)
def test_mistakes(sentence, line, says):
    assert sentence(f"%vt export {line}") == says
    assert not [name for name in os.listdir() if name.endswith((".png", ".svg", ".html", ".part"))]


def test_nothing_was_shown():
    shown.clear()
    with pytest.raises(vt.Refusal, match="nothing was shown yet: type `%vt show x` first"):
        vt.export("a.html")
    with pytest.raises(vt.Refusal, match="nothing was shown under the name 'x': type `%vt show x` first"):
        vt.export("a.html", "x")


def test_what_is_no_display_is_refused():
    with pytest.raises(vt.Refusal, match=r"expected what vt\.show returned, or its name, got list"):
        vt.export("a.html", [1])
    with pytest.raises(
        vt.Refusal, match=r"export takes the file first, such as 'it\.html', then .* got Display"
    ):
        vt.export(vt.show([1.0, 2.0]), "a.html")
    with pytest.raises(vt.Refusal, match="there is no theme 'blue': type light or dark"):
        vt.export("a.html", theme="blue")


def test_a_file_that_was_there_stays_when_writing_fails(monkeypatch):
    Path("a.html").write_text("before")

    def full(source, target):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(vt.Refusal, match=r"cannot write 'a\.html': OSError: no space left"):
        vt.export("a.html")
    assert os.listdir() == ["a.html"]
    assert Path("a.html").read_text() == "before"


def test_names_are_completed(shell):
    assert vt.COMMANDS["export"].parser.kinds["display"] == "display"
    found = shell.Completer.custom_matchers
    assert len(found) == 1
    from vistorch.vt.completion import complete

    offered = complete("%vt export a.png mo", 0, shell)["completions"]
    assert [one.text for one in offered] == ["model.fc1"]
