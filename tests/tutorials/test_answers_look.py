"""The exercise of the first notebook: right, too short, too far, and what is no answer at all."""

import json

import numpy as np
import pytest

import vistorch
from tests.tutorials.cells import NOTEBOOKS, sources
from vistorch.tutorials import exercise

W, GRADIENT = [0.5, -1.0, 0.25], [-5.0, -2.5, 2.5]


def stepped(lr):
    return [w - lr * g for w, g in zip(W, GRADIENT, strict=True)]


@pytest.mark.parametrize("lr", [0.077, 0.08, 1 / 12, 0.089])
@pytest.mark.parametrize("form", [list, tuple, np.array, vistorch.tensor], ids=lambda form: form.__name__)
def test_right_in_every_form(lr, form):
    verdict = exercise("look", form(stepped(lr)))
    assert verdict.right and str(verdict).startswith("Right: the loss is ")


def test_the_numbers_of_the_verdict_are_those_of_autograd():
    x = vistorch.tensor([2.0, 1.0, -1.0])
    w = vistorch.tensor(W, requires_grad=True)
    (((w * x).sum() - 1) ** 2).backward()
    assert w.grad.tolist() == GRADIENT
    for lr in (0.01, 0.05, 0.1, 0.2):
        after = w.detach() - lr * w.grad
        assert exercise("look", after).error == pytest.approx(float((after * x).sum() - 1), abs=1e-5)
    assert exercise("look", w - 0.1 * w.grad).error == pytest.approx(0.25)  # one that still has a history


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            stepped(0.1),
            "Not yet: the loss is 0.0625\nYou jumped past the goal: the prediction is now too high by 0.25",
        ),
        (stepped(0.05), "You stopped short: the prediction is still too low by 0.5. Try a larger lr."),
        (stepped(-0.1), "You went the wrong way"),
        (stepped(0.0766), "You stopped short"),
        (stepped(0.0901), "You jumped past the goal"),
        (stepped(float("inf")), "not finite"),
        ([1.0, 2.0], "The neuron has three weights, and these are 2."),
        ("abc", "cannot be read"),
        (3, "cannot be read"),
        (..., "Still open"),
    ],
)
def test_not_yet(answer, said):
    verdict = exercise("look", answer)
    assert not verdict.right and said in str(verdict)


def test_a_name_that_no_exercise_has_is_said():
    with pytest.raises(ValueError, match="exercise 'luck' has no check of its own"):
        exercise("luck", 1)


def test_what_is_shown_is_text():
    assert "<script" not in exercise("look", "<script>")._repr_html_()


def test_ten_minutes_and_then_five_questions():
    cells = json.loads((NOTEBOOKS / "00_look.ipynb").read_text(encoding="utf-8"))["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"] * 5 + ["markdown"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    bold = "loss training tensor weight error gradient backpropagation entropy prediction".split()
    for term in [*bold, "chain rule", "learning rate"]:
        found = [where for where in (f"**{term}**", f"**{term.capitalize()}**") if where in text]
        assert len(found) == 1 and text.count(found[0]) == 1, term
    assert text.count("$$") == 4  # two formulas, no more
    assert [line[:1] for line in text.split("## Five questions")[1].splitlines() if line[:1].isdigit()] == (
        list("12345") * 2  # and their answers
    )
    assert "exercise(" in sources("00_look")[-1]
    before = text.split("## Where did it break?")[0]
    assert "2.5" not in before.replace("1.25", "").replace("0.25", "")  # no answer stands above its question
