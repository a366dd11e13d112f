"""The checks of the first tutorial: a right answer passes, and the mistakes one makes do not."""

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "01_tensors"


@pytest.mark.parametrize(
    ("number", "answers"),
    [
        (1, ["t[:, 2:4]"]),
        (1, ["t.narrow(1, 2, 2)"]),
        (2, ["(p[:, None] - p).abs()"]),
        (2, ["torch.cdist(p[:, None], p[:, None])"]),
        (3, ["(4, 3, 2)", "(1, 4, 12)"]),
    ],
)
def test_right(number, answers):
    assert said(NOTEBOOK, number, *answers) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answers"),
    [
        (1, ["t[:, [2, 3]]"]),  # a copy
        (1, ["t[2:4]"]),  # rows
        (1, ["t[:, 3:5]"]),
        (2, ["(p - p).abs()"]),
        (2, ["p[:, None] - p"]),  # signed
        (2, ["p.abs()"]),
        (3, ["(4, 3, 2)", "(6, 2, 1)"]),  # those of a copy
        (3, ["(2, 3, 4)", "(12, 4, 1)"]),
    ],
)
def test_wrong(number, answers):
    assert said(NOTEBOOK, number, *answers).startswith(f"Exercise {number}: not yet. Hint: ")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_open(number):
    assert said(NOTEBOOK, number).startswith(f"Exercise {number}: still open.")
