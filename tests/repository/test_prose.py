"""README.md and the pages by hand say what is so: their code runs, their tables and figures are the real ones."""

import json
import re
from pathlib import Path

import pytest

import vistorch
from vistorch import vt

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["README.md", "docs/first-steps.md", "docs/how-it-works.md", "docs/for-pytorch-users.md"]
# Commands that README.md already names while they are being written.
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
_SAYS = re.compile(r"^(\s*)print\((.*)\)  # (.*)$", re.M)


def programs(page):
    """The Python of a page, as one program, and what each print with a comment behind it is to print."""
    return "\n".join(_BLOCK.findall((ROOT / page).read_text(encoding="utf-8")))


def run(program):
    """Run a program; return pairs of what was printed and what its comment says."""
    seen = []
    checked = _SAYS.sub(lambda m: f"{m[1]}report((str({m[2]}), {m[3]!r}))", program)
    exec(compile(checked, "<page>", "exec"), {"report": seen.append, "__name__": "__main__"})
    return seen


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_and_prints_what_it_says(page, capsys):
    vistorch.manual_seed(0)
    program = programs(page)
    seen = run(program)
    assert len(seen) == len(_SAYS.findall(program))
    for printed, says in seen:
        assert printed == says
    assert program.count("\n") > 2


def test_a_page_that_says_something_else_is_found():
    assert run("print(1 + 1)  # 3") == [("2", "3")]


@pytest.mark.parametrize("seed", range(5))
def test_the_first_use_learns_whatever_the_seed(seed):
    vistorch.manual_seed(seed)
    block = _BLOCK.findall(README)[0]
    assert len([line for line in block.splitlines() if line]) <= 11  # ten, and one that prints
    assert run(block) == [("True", "True")]


def table_of_magics(text):
    return re.findall(r"^\| `(%%?)vt (\w+)[^`]*` \|", text, re.M)


def test_the_table_of_magics_is_the_table_of_commands():
    named = [name for _, name in table_of_magics(README)]
    assert len(named) == len(set(named))
    assert set(vt.COMMANDS) == set(named)
    for sign, name in table_of_magics(README):
        if name in vt.COMMANDS:
            assert sign == vt.COMMANDS[name].typed.partition("vt")[0], name


def test_the_figures_are_those_of_the_benchmarks():
    number = r"([\d.]+)"
    times = f"[\\d.,]+ \\| {number} \\| {number} \\| "
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"^\| (\S+/[^|]+?) \| {times}{times}", text, re.M)
    measured = {row: tuple(ratios) for row, *ratios in found}
    quoted = re.findall(rf"^\| [^|`]+ \| `([^`]+)` \| {' . '.join([number] * 4)} \|$", README, re.M)
    assert len(quoted) > 8
    assert {row: tuple(ratios) for row, *ratios in quoted} == {row: measured.get(row) for row, *_ in quoted}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert [one for one in targets if not (ROOT / page).parent.joinpath(one).exists()] == []


def test_where_it_works_names_tests_that_are_there():
    text = (ROOT / "docs" / "where-it-works.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/.]+)`", text)
    assert len(named) > 8
    assert [one for one in named if not (ROOT / one).exists()] == []


def test_every_layer_that_is_promised_is_there():
    """What `docs/where-it-works.md` says of the layers of an output."""
    x = vistorch.ones(3, requires_grad=True)
    loss = (x * x).sum()
    with vt.trace() as found:
        (x * 2).sum().backward()
    shown = {
        "show": vt.show(x, name="x"),
        "graph": vt.graph(loss, live="off"),
        "step": vt.step(loss, live="off"),
        "memory": vt.memory(loss),
        "trace": found,
    }
    for name, display in shown.items():
        data = display._repr_mimebundle_()
        assert {"text/plain", "text/html"} < set(data), name
        assert {"image/png", "image/svg+xml"} & set(data), name
        assert json.dumps(data)
