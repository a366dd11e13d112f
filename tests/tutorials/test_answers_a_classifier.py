"""The exercises of the tutorial on a classifier, and that its network is the one that vistorch has."""

import re

import pytest

import vistorch
from tests.tutorials.cells import NOTEBOOKS, definitions, numbers, said, sources
from vistorch.vision.models import LeNet

NOTEBOOK = "06_a_classifier"
SHARE = re.compile(r"([\d.]+)% of 1000 pictures are classified as what they are")
PRECISION = "lambda confusion: confusion.diagonal() / confusion.sum(0)"
RECALL = "lambda confusion: confusion.diagonal() / confusion.sum(1)"


def test_three_exercises_stand_open():
    assert numbers(NOTEBOOK) == [1, 2, 3]
    for number in (1, 2, 3):
        assert "still open" in said(NOTEBOOK, number)


@pytest.mark.parametrize(
    ("number", "answer"), [(1, "2"), (1, "2.0"), (2, PRECISION), (3, "256"), (3, "16 * 4 * 4")]
)
def test_a_right_answer(number, answer):
    assert said(NOTEBOOK, number, answer) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(("number", "answer"), [(1, "1"), (1, "0.5"), (2, RECALL), (3, "400"), (3, "'256'")])
def test_a_wrong_answer_gets_the_hint(number, answer):
    assert said(NOTEBOOK, number, answer).startswith(f"Exercise {number}: not yet. Hint: ")


def test_the_classifier_classifies():
    """The stored outputs say so, with the figure; CI runs the same cells."""
    text = (NOTEBOOKS / f"{NOTEBOOK}.ipynb").read_text(encoding="utf-8")
    (share,) = SHARE.findall(text)
    assert float(share) >= 80
    assert "not compared" not in text  # what is said there is said to the reader


def test_the_network_of_the_tutorial_is_that_of_the_models():
    names = {}
    imports = "import vistorch as torch\nfrom vistorch import nn\nfrom vistorch.nn import functional as F\n"
    written = next(source for source in sources(NOTEBOOK) if "class LeNet" in source)
    exec(imports + definitions(written), names)
    vistorch.manual_seed(0)
    mine, theirs = names["LeNet"](), LeNet()
    assert str(theirs.load_state_dict(mine.state_dict())) == "<All keys matched successfully>"
    x = vistorch.rand(2, 3, 32, 32)
    assert vistorch.equal(mine(x), theirs(x))
