"""Tab after `%vt`: commands, options, choices, names, attributes, shown displays, files."""

import pytest
from IPython.core.completer import provisionalcompleter

from vistorch import vt
from vistorch.vt.completion import tail

NAMES = """
import vistorch, numpy as np
from vistorch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
layer = model[0]
x = vistorch.ones(3, 4)
x10, x2, other, _hidden = x[0], x[1], "text", x
array = np.zeros(3)
"""


@pytest.fixture
def offered(shell):
    """The last words of a cell's text as Tab completes them."""
    assert shell.run_cell(NAMES).success

    def ask(text, rest=""):
        with provisionalcompleter():
            found = list(shell.Completer.completions(text + rest, len(text)))
        assert all(one.end == len(text) for one in found)
        return [(text[: one.start] + one.text).split()[-1] for one in found]

    return ask


def test_commands(offered):
    lines = [name for name, row in vt.COMMANDS.items() if row.line]
    assert offered("%vt ") == lines and {"show", "step", "flow", "doctor"} <= {*lines}
    assert offered("%vt d") == ["device", "doctor"]
    assert offered("  %vt  ex") == ["export"]
    assert offered("x = 1\n%vt to") == ["torch"]


def test_a_cell_s_first_line_offers_cell_commands_alone(offered):
    assert "show" not in offered("%%vt sh", "\nbody")
    cells = [name for name, row in vt.COMMANDS.items() if row.cell]
    assert offered("%%vt ", "\nbody") == cells and {"trace", "watch", "record", "memory"} <= {*cells}


def test_options(offered):
    assert offered("%vt show x --sc") == ["--scale"]
    assert "--help" in offered("%vt show x --")
    assert "--grad" not in offered("%vt show x --grad --")
    assert offered("%vt vars --") == ["--sort", "--reverse", "--kind", "--help"]
    assert offered("%vt vars ") == ["--sort", "--reverse", "--kind"]


def test_choices(offered):
    assert offered("%vt show x --scale ") == ["clip", "max", "log", "fixed"]
    assert offered("%vt show x --scale l") == ["log"]
    assert offered("%vt show x --scale=l") == ["--scale=log"]
    assert offered("%vt torch ") == ["on", "off"]
    assert offered("%vt vars --kind par") == ["parameter"]
    assert "bytes" in offered("%vt vars --reverse --sort ")


def test_names_that_can_be_looked_at_come_first_and_in_natural_order(offered):
    assert offered("%vt show ") == ["array", "layer", "model", "x", "x2", "x10"]
    assert offered("%vt show mod")[0] == "model"
    assert offered("%vt show x")[:3] == ["x", "x2", "x10"]
    assert "other" in offered("%vt show oth")
    assert offered("%vt show --grad mo")[0] == "model"
    assert offered("%vt show --scale log mo")[0] == "model"


def test_names_inside_an_expression(offered):
    assert offered("%vt show x[arr")[0] == "x[array"
    assert offered("%vt show x + lay")[0] == "layer"
    assert offered("%vt show {'a b': mod")[0] == "model"


def test_attributes(offered):
    assert offered("%vt show layer.wei") == ["layer.weight"]
    assert offered("%vt show x + layer.wei") == ["layer.weight"]
    assert "layer.weight.grad" in offered("%vt show layer.weight.gra")


def test_places(offered, shell):
    assert offered("%vt device ")[0] == "cpu"
    shell.run_cell("%vt device simulate 3")
    assert offered("%vt device cu") == ["cuda:0", "cuda:1", "cuda:2"]
    assert offered("%vt device sim") == ["simulate"]


def test_files(offered, tmp_path, monkeypatch):
    (folder := tmp_path / "here").mkdir()
    monkeypatch.chdir(folder)
    (folder / "figures").mkdir()
    for name in ("a.html", "a.txt", "figures/b.png", ".hidden.svg"):
        (folder / name).touch()
    assert offered("%vt export ") == ["a.html", "figures/"]
    assert offered("%vt export figures/") == ["figures/b.png"]
    assert offered("%vt export --theme ") == ["light", "dark"]


def test_other_lines_are_left_to_ipython(offered):
    assert "other" in offered("oth")
    assert "show" not in offered("%vtx ")
    assert any(word.endswith("vt") for word in offered("%v"))


def test_the_plain_completer_of_a_terminal(shell):
    shell.run_cell(NAMES)
    with pytest.warns(PendingDeprecationWarning):
        assert shell.complete(None, "%vt show x --sc", 15) == ("--sc", ["--scale"])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", ""),
        ("f(a, model[0].we", "model[0].we"),
        ("x + y", "y"),
        ("w[0, ", ""),
        ("d['a b'].x", "d['a b'].x"),
        ("a]b", "b"),
        ("x[[0, 1]].", "x[[0, 1]]."),
    ],
)
def test_tail(text, name):
    assert tail(text) == name
