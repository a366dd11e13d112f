"""The run of the clients: a library that works, one that differs, one that fails; and that the page is as the table."""

import json
import math
import re

import pytest

from . import __main__, compare, install, page
from .records import CLIENTS

LIBRARY = """
import torch
from reporting import report

torch.manual_seed(0)
x = torch.randn(3, requires_grad=True)
(x ** 2).sum().backward()
report("gradient", x.grad)
report("gradient", [x.grad.norm(), float("nan")])
report("text", str(torch.Size([2])) + torch.__name__)
"""


@pytest.fixture
def program(tmp_path):
    """A program beside its own copy of `reporting`."""
    (tmp_path / "reporting.py").write_text((compare.PROGRAMS / "reporting.py").read_text("utf-8"), "utf-8")

    def write(text):
        path = tmp_path / "some_program.py"
        path.write_text(text, "utf-8")
        return path

    return write


def both(path, folder):
    return [compare.run(path, ours=ours, libraries=folder, limit=100) for ours in (False, True)]


def test_same(program, tmp_path):
    theirs, ours = both(program(LIBRARY), tmp_path)
    found = compare.outcome(theirs, ours, 1e-6)
    assert found.wrong == [] and found.results == 3 and found.numbers == 5
    assert theirs.results["gradient 2"][1] == "nan"


def test_what_differs_is_named(program, tmp_path):
    ending = """
import sys
where = "version" if "vistorch" in torch.__version__ else "other"
report("number", [1.0, 2.0 + (where == "version")])
report("words", "a\\n" + where)
if where == "version":
    report("more", 1)
    raise ValueError("a library that fails")
"""
    theirs, ours = both(program(LIBRARY + ending), tmp_path)
    wrong = compare.outcome(theirs, ours, 1e-6).wrong
    assert wrong[0].startswith("ValueError: a library that fails (File ")
    assert wrong[1:] == [
        "number: differs by 5e-01",
        "words: 'version' where PyTorch has 'other'",
        "more: only vistorch has it",
    ]
    row = page.row(CLIENTS[0], compare.outcome(theirs, ours, 1e-6))
    assert row.endswith("| **4 differ** |")


def test_a_program_that_hangs(program, tmp_path):
    begun = program("from reporting import report\nreport('first', 1)\nimport time\ntime.sleep(60)\n")
    found = compare.run(begun, ours=False, libraries=tmp_path, limit=8)
    assert found.error == "stopped after 8 seconds" and found.results == {"first": 1.0}


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        ([100.0, 1.0], [100.0, 1.1], 0.001),
        (2.0, 2.0, 0.0),
        ([0.0, 0.0], [0.0, 1e-9], 1e-9),
        ([1.0, "nan"], [1.0, "nan"], 0.0),
        ([1.0, "nan"], [1.0, 2.0], math.inf),
        ([1.0], [1.0, 2.0], math.inf),
        ("a", "b", math.inf),
        ("1", 1.0, math.inf),
    ],
)
def test_how_far_two_results_differ(a, b, apart):
    assert compare.difference(a, b) == pytest.approx(apart)


def test_a_name_that_is_used_twice_is_refused():
    line = compare.MARK + json.dumps(["a", 1.0])
    with pytest.raises(ValueError, match="two results are called 'a'"):
        compare.parsed(f"{line}\n{line}")


def test_no_index_is_one_sentence(tmp_path, monkeypatch, capsys):
    listed = tmp_path / "pinned.txt"
    listed.write_text("# nothing\nno-such-library-of-anyone==1.0\n", "utf-8")
    monkeypatch.setattr(install, "PINNED", listed)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    sentence = install.install(tmp_path / "there")
    assert sentence.startswith("The libraries of tests/clients/pinned.txt could not be installed: ")
    assert sentence.count("\n") == 0
    monkeypatch.setattr(install, "install", lambda: sentence)
    assert __main__.main(["einops"]) == 0
    assert capsys.readouterr().out == f"Skipped: {sentence}\n"


def test_every_client_has_a_program_and_a_version_and_says_nothing_of_vistorch():
    versions = install.versions()
    programs = {path.stem: path.read_text("utf-8") for path in compare.PROGRAMS.glob("*.py")}
    assert {client.program for client in CLIENTS} == set(programs) - {"reporting"}
    for client in CLIENTS:
        assert client.name in versions
        assert "vistorch" not in programs[client.program]
    assert not re.search(r"https?://|\s@\s|index-url", install.PINNED.read_text("utf-8"))
    assert {"torch", "numpy", "vistorch"}.isdisjoint(versions)


def test_the_page_has_a_row_for_each():
    text = page.PAGE.read_text("utf-8")
    table = text.split(page.BEGIN)[1].split(page.END)[0].strip().splitlines()
    assert "\n".join(table[:2]) == page.HEAD
    for client, line in zip(CLIENTS, table[2:], strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[:2] == [f"{client.name} {install.versions()[client.name]}", client.work]
        assert cells[5] == "same", line
    rows = table[2:]
    assert page.written(text, rows) == text
