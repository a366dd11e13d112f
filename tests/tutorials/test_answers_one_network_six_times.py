"""The checks of the third tutorial: a right answer passes, and the mistakes one makes do not."""

import numpy as np
import pytest

import vistorch
from tests.tutorials.cells import said

NOTEBOOK = "03_one_network_six_times"


@pytest.fixture(scope="module")
def above():
    """What cells above the exercises computed: the pairs, their products and the numbers to start from."""
    side = np.linspace(-1, 1, 21)
    points = np.stack([np.tile(side, 21), np.repeat(side, 21)], axis=1)
    numbers = np.random.default_rng(1)
    start = {
        "w1": numbers.normal(size=(2, 16)),
        "b1": numbers.normal(size=16) / 2,
        "w2": numbers.normal(size=(16, 1)) / 4,
        "b2": np.zeros(1),
    }
    return {
        "x": vistorch.tensor(points),
        "y": vistorch.tensor(points[:, :1] * points[:, 1:]),
        "start": start,
    }


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "lambda h: h * (1 - h)"),
        (1, "lambda h: h - h**2"),
        (2, "lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9)"),
        (2, "lambda parameters: torch.optim.Adam(parameters, lr=0.03)"),
        (3, "lambda net, x: net(x) + net(x.flip(1))"),
        (3, "lambda net, x: net(x) * net(x.flip(1))"),
    ],
)
def test_right(number, answer, above):
    assert said(NOTEBOOK, number, answer, given=above) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "lambda h: 1 - h * h"),  # of tanh
        (1, "lambda h: h.sigmoid() * (1 - h.sigmoid())"),  # of z
        (1, "0.25"),
        (2, "lambda parameters: torch.optim.SGD(parameters, lr=0.3)"),
        (2, "lambda parameters: torch.optim.SGD(parameters, lr=0.5)"),  # diverges
        (2, "lambda parameters: torch.optim.Adam(parameters)"),
        (2, "torch.optim.Adam"),
        (3, "lambda net, x: net(x)"),
        (3, "lambda net, x: net(x) - net(x.flip(1))"),
        (3, "lambda net, x: x[:, :1] * x[:, 1:]"),  # no network
        (3, "lambda net, x: (net(x) + net(x.flip(1))).detach()"),
    ],
)
def test_wrong(number, answer, above):
    assert said(NOTEBOOK, number, answer, given=above).startswith(f"Exercise {number}: not yet. Hint: ")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_open(number):
    assert said(NOTEBOOK, number).startswith(f"Exercise {number}: still open.")
