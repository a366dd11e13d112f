"""The checks of the tutorial on overfitting: a right answer passes, and the mistakes one makes do not."""

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "07_overfitting"
ABOVE = {"x": None, "y": None}  # defaults of a function above, which no exercise calls
SPLIT = "lambda n, seed: torch.randperm(n, generator=torch.Generator().manual_seed(seed)).split([40, n - 40])"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (
            2,
            SPLIT,
        ),
        (3, "1.25"),
    ],
)
def test_right(number, answer):
    assert said(NOTEBOOK, number, answer, given=ABOVE) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "lambda losses, patience: losses.index(min(losses))"),  # it has seen what comes later
        (1, "lambda losses, patience: len(losses) - 1"),
        (2, "lambda n, seed: (range(40), range(40, 50))"),  # not at random
        (2, "lambda n, seed: (torch.randperm(n)[:40], torch.randperm(n)[40:])"),  # numbers in both
        (3, "0.8"),
        (3, "5"),
    ],
)
def test_wrong(number, answer):
    assert said(NOTEBOOK, number, answer, given=ABOVE).startswith(f"Exercise {number}: not yet. Hint: ")
