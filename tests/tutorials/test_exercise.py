"""Cells that check an answer say one sentence, whatever they are given."""

import numpy as np
import pytest

import vistorch
from vistorch.tutorials import exercise


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (..., "Exercise 2: still open. Replace the ... and run this cell again.\n"),
        ((1, ...), "Exercise 2: still open. Replace the ... and run this cell again.\n"),
        (vistorch.ones(3), "Exercise 2: right.\n"),
        (vistorch.ones(2), "Exercise 2: not yet. Hint: three of them.\n"),
    ],
)
def test_what_is_said(answer, said, capsys):
    """Open, right and wrong."""
    exercise(2, answer, lambda a: a.shape == (3,), "three of them.")
    assert capsys.readouterr().out == said


def test_an_answer_of_another_kind(capsys):
    """What the check cannot use is named, and nothing is raised."""
    exercise(3, "three", lambda a: a.shape == (3,))
    out = capsys.readouterr().out
    assert out.startswith("Exercise 3: not yet. The check could not use it: AttributeError: 'str'")
    assert out.count("\n") == 1


@pytest.mark.parametrize(
    "answer",
    [
        [3, 3, 3, 1],
        (3, 3, 3, 1),
        vistorch.tensor([3, 3, 3, 1]),
        np.array([3, 3, 3, 1]),
        vistorch.Size([3, 3, 3, 1]),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("kind", [list, tuple])
def test_the_form_of_an_answer_is_not_the_answer(answer, kind, capsys):
    exercise(1, answer, lambda a: a == kind((3, 3, 3, 1)))
    assert capsys.readouterr().out == "Exercise 1: right.\n"
    exercise(1, answer, lambda a: a == kind((3, 3, 2, 2)))
    assert capsys.readouterr().out.startswith("Exercise 1: not yet.")
    exercise(1, (answer, 5), lambda a: a[0] == kind((3, 3, 3, 1)) and a[1] == 5)
    assert capsys.readouterr().out == "Exercise 1: right.\n"


def test_a_wrong_answer_of_another_form_says_what_the_check_said_first(capsys):
    exercise(1, (1, 2), lambda a: a.shape == (2,))
    assert "AttributeError: 'tuple' object has no attribute 'shape'" in capsys.readouterr().out
