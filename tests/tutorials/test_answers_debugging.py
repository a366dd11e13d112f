"""The exercises of the tutorial on debugging: right answers are right, likely wrong ones are not."""

import pytest

from tests.tutorials.cells import numbers, said

NOTEBOOK = "08_debugging"
LATE = "lambda t: torch.where(t > 0, t.log(), 0.0)"
SAFE = "lambda t: torch.where(t > 0, torch.where(t > 0, t, 1.0).log(), 0.0)"
CLAMPED = "lambda t: torch.where(t > 0, t.clamp_min(1e-30).log(), 0.0)"
SHIFTED = "lambda t: (t + 0.1).log()"


def test_three_exercises_stand_open():
    assert numbers(NOTEBOOK) == [1, 2, 3]
    for number in (1, 2, 3):
        assert "still open" in said(NOTEBOOK, number)


@pytest.mark.parametrize(
    ("number", "answer"), [(1, "(2 / 64) ** 0.5"), (1, "0.18"), (2, SAFE), (2, CLAMPED), (3, "3"), (3, "3.0")]
)
def test_a_right_answer(number, answer):
    assert said(NOTEBOOK, number, answer) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"), [(1, "1.0"), (1, "0.01"), (1, "0.125"), (2, LATE), (2, SHIFTED), (3, "1"), (3, "8")]
)
def test_a_wrong_answer_gets_the_hint(number, answer):
    assert said(NOTEBOOK, number, answer).startswith(f"Exercise {number}: not yet. Hint: ")
