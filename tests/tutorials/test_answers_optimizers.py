"""The checks of the tutorial on optimizers: a right answer passes, and the mistakes one makes do not."""

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "05_optimizers"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "10"),
        (1, "1 / (1 - 0.9)"),
        (2, "(-0.01, -0.01, -0.01, 0.01)"),
        (2, "torch.tensor([-0.01, -0.01, -0.01, 0.01])"),
        (3, "lambda w, v, g, lr: (w - lr * (0.9 * v + g), 0.9 * v + g)"),
    ],
)
def test_right(number, answer):
    assert said(NOTEBOOK, number, answer) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "0.9"),
        (1, "1.9"),
        (2, "[-1.0, -0.01, -0.00001, 0.05]"),  # the steps of SGD
        (2, "[0.01, 0.01, 0.01, -0.01]"),  # uphill
        (3, "lambda w, v, g, lr: (w - lr * g, v)"),  # no velocity
        (3, "lambda w, v, g, lr: (w - lr * v, 0.9 * v + g)"),  # the old velocity
    ],
)
def test_wrong(number, answer):
    assert said(NOTEBOOK, number, answer).startswith(f"Exercise {number}: not yet. Hint: ")
