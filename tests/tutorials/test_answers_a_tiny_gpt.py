"""The checks of the tutorial on a tiny GPT: a right answer passes, and the mistakes one makes do not."""

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "10_a_tiny_gpt"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "lambda scores, t: F.softmax(scores / t, 0)"),
        (2, "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)"),
        (3, "4"),
        (3, "4.0"),
    ],
)
def test_right(number, answer):
    assert said(NOTEBOOK, number, answer, given={"context": 32}) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "lambda scores, t: scores.softmax(0) / t"),  # divided afterwards
        (1, "lambda scores, t: (scores * t).softmax(0)"),
        (2, "lambda q, k, v: (q @ k.T / q.shape[-1] ** 0.5).softmax(-1) @ v"),  # no mask
        (2, "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)"),
        (3, "2"),
    ],
)
def test_wrong(number, answer):
    assert said(NOTEBOOK, number, answer, given={"context": 32}).startswith(
        f"Exercise {number}: not yet. Hint: "
    )
