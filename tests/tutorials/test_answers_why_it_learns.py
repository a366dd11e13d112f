"""The checks of the tutorial on why a network learns: a right answer passes, and the mistakes one makes do not."""

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "04_why_it_learns"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "lambda w, x, y: 2 * (math.sin(w * x) - y) * math.cos(w * x) * x"),
        (1, "lambda w, x, y: x * math.sin(2 * w * x) - 2 * y * x * math.cos(w * x)"),
        (2, "1 / 3"),
        (2, "0.3333"),
        (3, "0.04"),
        (3, "0.01 * 2**2"),
    ],
)
def test_right(number, answer):
    assert said(NOTEBOOK, number, answer) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "lambda w, x, y: 2 * (math.sin(w * x) - y) * math.cos(w * x)"),  # the last link is missing
        (1, "lambda w, x, y: 2 * (math.sin(w * x) - y) * x"),
        (2, "1 / 6"),  # where it no longer overshoots
        (2, "2 / 3"),
        (3, "0.02"),  # the step, not the fall
        (3, "'four'"),
    ],
)
def test_wrong(number, answer):
    assert said(NOTEBOOK, number, answer).startswith(f"Exercise {number}: not yet. Hint: ")
