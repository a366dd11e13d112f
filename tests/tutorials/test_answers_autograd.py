"""The checks of the second tutorial: a right answer passes, and the mistakes one makes do not."""

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "02_autograd"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "torch.tensor([1.0, 0.0, 1.0])"),
        (2, "(3 * w - (2 * w).detach()) ** 2"),
        (2, "(3 * w - 2 * w.detach()).square()"),
        (3, "lambda x: 2 * x.sigmoid()"),
        (3, "lambda x: x.sigmoid().clone().mul_(2)"),
    ],
)
def test_right(number, answer):
    assert said(NOTEBOOK, number, answer) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "torch.tensor([1.0, 1.0, 1.0])"),
        (1, "torch.tensor([6.0, 8.0])"),  # the result
        (1, "0"),
        (2, "(3 * w - 2 * w) ** 2"),  # nothing is detached
        (2, "(3 * w.detach() - 2 * w) ** 2"),  # the wrong part
        (2, "((3 * w - 2 * w) ** 2).detach()"),  # all of it
        (2, "torch.tensor(1.0)"),
        (3, "broken"),
        (3, "lambda x: x.sigmoid()"),
        (3, "lambda x: (x.sigmoid() * 2).detach()"),
        (3, "lambda x: x.sigmoid().detach().mul_(2) + 0 * x"),  # the values, without the gradient
    ],
)
def test_wrong(number, answer):
    assert said(NOTEBOOK, number, answer).startswith(f"Exercise {number}: not yet. Hint: ")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_open(number):
    assert said(NOTEBOOK, number).startswith(f"Exercise {number}: still open.")
