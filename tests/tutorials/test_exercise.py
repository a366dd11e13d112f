"""Cells that check an answer say one sentence, whatever they are given."""

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
