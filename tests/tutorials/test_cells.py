"""The reader of exercises finds them in a notebook's file, and every tutorial leaves its three open."""

import json

import pytest

from tests.tutorials import cells

TUTORIALS = sorted(
    path.stem for path in cells.NOTEBOOKS.glob("*.ipynb") if path.stem not in ("00_look", "09_kata")
)

SMALL = [
    "%load_ext vistorch\nimport math\n\nimport numpy\n\nfrom vistorch.tutorials import exercise",
    "def half(x):\n    return x / 2\n\n\nraise RuntimeError('what cells above compute is not run')",
    "# the … and the ... of a remark stay\nx = {1: 'é'}\nanswer = ...",
    "exercise(1, answer, lambda a: half(a) == math.pi, 'two halves')",
    "last = numpy.eye(2)[..., 1]\na, b = ..., ...",
    "exercise(2, (a, b), lambda ab: ab == (1, given))",
]


@pytest.fixture
def small(tmp_path, monkeypatch):
    notebook = [{"cell_type": "code", "source": source.splitlines(True)} for source in SMALL]
    (tmp_path / "small.ipynb").write_text(json.dumps({"cells": notebook}), encoding="utf-8")
    monkeypatch.setattr(cells, "NOTEBOOKS", tmp_path)
    cells.sources.cache_clear()
    yield "small"
    cells.sources.cache_clear()


def test_an_answer_is_put_in_and_checked(small):
    assert cells.numbers(small) == [1, 2]
    assert cells.said(small, 1) == "Exercise 1: still open. Replace the ... and run this cell again.\n"
    assert cells.said(small, 1, "2 * math.pi") == "Exercise 1: right.\n"
    assert cells.said(small, 1, "twice(math.pi)", before="def twice(x):\n    return x + x") == (
        "Exercise 1: right.\n"
    )
    assert cells.said(small, 1, "3") == "Exercise 1: not yet. Hint: two halves.\n"


def test_several_places_and_what_is_given(small):
    assert cells.said(small, 2, "1", "4", given={"given": 4}) == "Exercise 2: right.\n"
    assert cells.said(small, 2, "4", "1", given={"given": 4}) == "Exercise 2: not yet.\n"
    with pytest.raises(ValueError, match="1 answers for 2 places"):
        cells.said(small, 2, "1")


@pytest.mark.parametrize("notebook", TUTORIALS)
def test_every_tutorial_leaves_three_exercises_open(notebook):
    assert cells.numbers(notebook) == [1, 2, 3]
    for source in cells.sources(notebook):
        if cells.checked(source) is None:
            continue
        before = cells.sources(notebook)[cells.sources(notebook).index(source) - 1]
        assert cells.places(before), f"nothing is open in:\n{before}"
