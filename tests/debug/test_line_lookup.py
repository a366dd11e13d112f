"""From a raw place to a line, in files and in the two ways notebooks name their cells."""

import linecache
import os
import sys
import types

import pytest

import vistorch as L
from vistorch.debug import Line, Lines, line_of, note_of
from vistorch.debug.line_lookup import cell_of

CELL = "import vistorch as L\nx = L.ones(2, requires_grad=True)\n\ny = (x\n     .exp()\n     .sin())\n"


def run(name, text=CELL):
    """Run a cell the way IPython does: compiled under a name, its text in linecache."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {}
    with Lines():
        exec(compile(text, name, "exec"), scope)
    return scope


@pytest.fixture
def shell(monkeypatch):
    """An IPython that is nothing but the map from file names to execution numbers."""
    compiler = types.SimpleNamespace(_filename_map={})
    fake = types.ModuleType("IPython")
    fake.get_ipython = lambda: types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    return compiler._filename_map


def line(t):
    return line_of(note_of(t.grad_fn)["line"])


def test_the_name_of_older_ipython():
    y = run("<ipython-input-3-0a1b2c>")["y"]
    found = line(y)
    assert found == Line("<ipython-input-3-0a1b2c>", 6, "<module>", ".sin())", 3)
    assert str(found) == "In [3], line 6: .sin())"
    assert line_of(note_of(y.grad_fn.edges[0])["line"]).line == 5


def test_the_map_of_newer_ipython(shell):
    name = "ipykernel_7/1234567.py"
    shell[name] = 12
    assert str(line(run(name)["y"])) == "In [12], line 6: .sin())"
    # the same cell run again is the same file under its newest number
    shell[name] = 15
    assert line(run(name)["y"]).cell == 15


def test_a_file_beside_a_notebook_is_a_file(shell):
    shell["ipykernel_7/1234567.py"] = 12
    x = L.ones(2, requires_grad=True)
    with Lines():
        y = x.exp()
    found = line(y)
    assert found.cell is None and found.file == __file__ and found.text == "y = x.exp()"
    assert str(found) == f"{os.path.relpath(__file__)}:{found.line}: y = x.exp()"
    assert found.function == "test_a_file_beside_a_notebook_is_a_file"


@pytest.mark.parametrize("broken", ["no get_ipython", "no shell", "no map"])
def test_an_ipython_without_a_notebook(monkeypatch, broken):
    fake = types.ModuleType("IPython")
    if broken == "no shell":
        fake.get_ipython = lambda: None
    elif broken == "no map":
        fake.get_ipython = lambda: types.SimpleNamespace(compile=None)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert cell_of("anything.py") is None


def test_a_text_nobody_kept():
    scope = {}
    with Lines():
        exec(compile(CELL, "<string>", "exec"), scope)
    assert str(line(scope["y"])) == "<string>:6"


def test_no_place_no_line():
    assert line_of(None) is None


def test_nothing_imports_ipython():
    code = "import sys, vistorch.debug; sys.exit('IPython' in sys.modules)"
    import subprocess

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_path_is_reported_as_one_would_type_it(tmp_path, monkeypatch):
    here, home, away = tmp_path / "here", tmp_path / "home", tmp_path / "away"
    for folder in (here, home, away):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    seen = {
        str(here / "src" / "train.py"): os.path.join("src", "train.py"),
        str(home / "net.py"): os.path.join("~", "net.py"),
        str(away / "net.py"): str(away / "net.py"),
        str(tmp_path / "heretic.py"): str(tmp_path / "heretic.py"),
        "train.py": "train.py",
        "<stdin>": "<stdin>",
    }
    assert {file: Line(file, 3, "step", "x = 1").path for file in seen} == seen
    assert str(Line(str(here / "train.py"), 3, "step", "x = 1")) == "train.py:3: x = 1"
    assert Line("/somewhere/ipykernel_1/2.py", 3, "step", "x = 1", cell=4).path == ""
