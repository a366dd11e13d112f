"""The tutorial on models of the real PyTorch: its exercises."""

import pytest

from tests.tutorials.cells import numbers, said

NOTEBOOK = "12_debug_your_pytorch_model"


def test_three_exercises_stand_open():
    assert numbers(NOTEBOOK) == [1, 2, 3]
    for number in (1, 2, 3):
        assert "still open" in said(NOTEBOOK, number)


@pytest.mark.parametrize(
    ("number", "answer"), [(1, "'first'"), (2, "4000"), (3, "lambda z: z - z.logsumexp(-1, keepdim=True)")]
)
def test_a_right_answer(number, answer):
    assert said(NOTEBOOK, number, answer) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"), [(1, "'second'"), (2, "8000"), (3, "lambda z: z.softmax(-1).log()")]
)
def test_a_wrong_answer(number, answer):
    assert "right" not in said(NOTEBOOK, number, answer)
