"""The exercises of the tutorial about devices: a right answer is right, and a likely mistake is not."""

import pytest

import vistorch
from tests.tutorials.cells import said

NOTEBOOK = "13_devices"


@pytest.fixture(autouse=True)
def four():
    vistorch.cuda.simulate(4)
    yield
    vistorch.cuda.simulate(None)


def verdict(number, answer):
    return said(NOTEBOOK, number, answer).partition(": ")[2].partition(".")[0]


def test_the_parts_of_a_batch_of_ten():
    assert verdict(1, "[3, 3, 3, 1]") == "right"
    assert verdict(1, "[4, 2, 2, 2]") == verdict(1, "[3, 3, 2, 2]") == "not yet"


def test_a_sum_over_devices():
    assert verdict(2, "lambda parts: sum(part.to(parts[0].device) for part in parts)") == "right"
    assert verdict(2, "lambda parts: sum(part.cpu() for part in parts)") == "not yet"  # in another place
    assert "Expected all tensors to be on the same device" in said(NOTEBOOK, 2, "sum")


def test_the_weights_of_unequal_parts():
    assert verdict(3, "[8 / 30, 8 / 30, 8 / 30, 6 / 30]") == "right"
    assert verdict(3, "[1 / 4] * 4") == verdict(3, "[8, 8, 8, 6]") == "not yet"
    assert verdict(3, "[1.0]") == "not yet"
