"""What is asked of a step, how answers are read and marked, and that a true answer always counts."""

import numpy as np
import pytest

import vistorch
from vistorch import nn, vt
from vistorch.debug.graph import Calls
from vistorch.debug.steps.quiz import Quiz, read, right
from vistorch.widgets.steps.picture import paint


def neuron(**options):
    x = vistorch.tensor([2.0, 1.0, -1.0])
    w = vistorch.tensor([0.5, -1.0, 0.25], requires_grad=True)
    prediction = (w * x).sum()
    error = prediction - 1
    loss = error**2
    names = {"x": x, "w": w, "prediction": prediction, "error": error, "loss": loss}
    return vt.step(loss, live="off", namespace=names, **options).record


def questions(record):
    return [frame["question"] for frame in record.frames if frame["question"] is not None]


def test_the_neuron_is_asked_in_the_names_of_the_code():
    asked = questions(neuron())
    assert [(q["kind"], q["asks"], q["answer"]) for q in asked] == [
        ("number", "What gradient does error get?", -2.5),
        ("number", "What gradient does prediction get?", -2.5),
        ("number", "What flows on to Mul, at each of the 3 entries?", -2.5),
        ("number", "What gradient does w[2] get?", 2.5),
    ]
    assert [(one["name"], one["value"]) for one in asked[-1]["knows"]] == [("", -2.5), ("x[2]", -1.0)]
    assert asked[0]["hint"] == "g · 2 · error" and asked[-1]["hint"] == "g · x"


# The same cases as js/tests/ask.test.ts has for the page.
@pytest.mark.parametrize(
    ("kind", "typed", "meant"),
    [
        ("number", "-1/32", -1 / 32),
        ("number", "3e-4", 3e-4),
        ("number", "−0.03", -0.03),
        ("number", " .5 ", 0.5),
        ("number", "1/0", None),
        ("number", "", None),
        ("number", "0x10", None),
        ("number", "two", None),
        ("number", "nan", None),
        ("number", "1/2/3", None),
        ("shape", "32x120", (32, 120)),
        ("shape", "(32, 120)", (32, 120)),
        ("shape", "32 × 120", (32, 120)),
        ("shape", "torch.Size([32, 120])", (32, 120)),
        ("shape", "32", (32,)),
        ("shape", "()", None),
        ("shape", "a x b", None),
        ("sign", "−", -1),
        ("sign", "+", 1),
        ("sign", "0", 0),
        ("sign", "positive", 1),
        ("sign", "-3.5", -1),
        ("sign", "up", None),
    ],
)
def test_an_answer_is_read(kind, typed, meant):
    assert read(kind, typed) == meant


def test_a_number_is_right_within_two_percent_and_zero_only_as_zero():
    question = questions(neuron())[0]
    assert [right(question, value) for value in (-2.5, -2.54, -2.56, 2.5)] == [True, True, False, False]
    assert right({**question, "answer": 0.0}, 1e-10) and not right({**question, "answer": 0.0}, 1e-6)


def network():
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
    x, target = vistorch.randn(5, 6), vistorch.tensor([0, 1, 2, 3, 0])
    with Calls():
        loss = nn.functional.cross_entropy(net(x), target)
    return vt.step(loss, live="off", namespace={"net": net, "x": x, "loss": loss}).record


def deep():
    vistorch.manual_seed(1)
    layers = [layer for _ in range(20) for layer in (nn.Linear(4, 4), nn.Tanh())]
    net, x = nn.Sequential(*layers), vistorch.randn(3, 4)
    return vt.step(net(x).pow(2).mean(), live="off", namespace={"net": net, "x": x}).record


def images():
    vistorch.manual_seed(2)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3))
    return vt.step(net(vistorch.randn(2, 1, 8, 8)).sum(), live="off", namespace={"net": net}).record


def functions():
    x = vistorch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    y = (x.exp() * x.log() - x.sqrt() / x).sin().mean()
    return vt.step(y + x.prod().tanh(), live="off", namespace={"x": x}).record


@pytest.mark.parametrize("made", [neuron, network, deep, images, functions])
def test_the_answer_is_what_the_pass_really_sent(made):
    """The record's own gradients are what every answer is held against."""
    record = made()
    asked = [frame for frame in record.frames if frame["question"] is not None]
    assert 3 <= len(asked) <= 12
    for frame in asked:
        question = frame["question"]
        (flow,) = [flow for flow in frame["outgoing"] if flow["input"] == question["input"]]
        value = record.values[flow["gradient"]]
        if question["kind"] == "shape":
            assert question["shape"] == value["shape"] and question["asks"]
            assert value["shape"] != record.values[frame["incoming"][0]]["shape"]
            continue
        sent = np.asarray(value["data"]).reshape(value["shape"])[tuple(question["at"])]
        wanted = np.sign(sent) if question["kind"] == "sign" else sent
        assert question["answer"] == pytest.approx(float(wanted), abs=1e-12)


def test_each_kind_is_asked_for():
    kinds = {question["kind"] for made in (network, images) for question in questions(made())}
    assert kinds == {"number", "sign", "shape"}


def test_the_first_node_of_a_cross_entropy_asks_for_a_sign():
    first = questions(network())[0]
    assert (first["kind"], first["answer"], first["choices"]) == ("sign", -1.0, ["−", "0", "+"])
    assert first["working"].endswith("= -0.2")
    assert [(one["text"], one["value"]) for one in first["knows"]] == [
        ("starts the pass", 1.0),
        ("the class of this sample", 0.0),
    ]
    assert first["why"].startswith("A higher score for the true class")


def test_a_quiz_goes_on_only_with_an_answer():
    quiz = Quiz(neuron())
    assert quiz.text().startswith("step 1, PowBackward0: What gradient does error get?")
    assert quiz.answer("what?").startswith("a number, please") and not quiz.marks
    assert quiz.answer("3").startswith("You said 3. It is -2.5.\n  1 · 2 · (-1.25) = -2.5")
    assert quiz.hint() == "hint: g"
    assert quiz.answer("−2.5").startswith("Right: -2.5.")
    assert quiz.skip().startswith("Skipped. It is -2.5.")
    assert quiz.answer("5/2").startswith("Right: 2.5.")
    assert quiz.open is None
    assert quiz.text() == quiz.answer("1") == quiz.score() == "2 of 3 right, 1 hint"


def test_a_terminal_asks_line_by_line():
    lines, said = iter(["", "h", "-2.5", "a"]), []
    assert Quiz(neuron()).play(lambda _: next(lines), said.append) == "1 of 1 right, 1 hint"
    assert sum(text.startswith("step ") for text in said) == 3

    def ends(_):
        raise EOFError

    assert Quiz(neuron()).play(ends, said.append) == "0 of 0 right"


def test_neither_text_nor_picture_of_a_pass_that_asks_gives_an_answer_away():
    record = neuron(ask=True)
    text, drawn = record.text(), paint(record).decode()
    assert "4 of 4  MulBackward0  ? What gradient does w[2] get?" in text
    assert "What gradient does w[2] get?" in drawn
    for seen in (text, drawn):
        assert "2.5" not in seen and "w.grad" not in seen


def test_nothing_is_asked_of_what_is_not_finite():
    x = vistorch.zeros(3, requires_grad=True)
    record = vt.step((x.sqrt() * x).sum(), live="off", namespace={"x": x}).record
    assert all(np.isfinite(q["answer"]) for q in questions(record) if q["answer"] is not None)


def test_pytorch_is_asked_the_same():
    torch = pytest.importorskip("torch")
    x = torch.tensor([2.0, 1.0, -1.0])
    w = torch.tensor([0.5, -1.0, 0.25], requires_grad=True)
    error = (w * x).sum() - 1
    names = {"x": x, "w": w, "error": error}
    asked = questions(vt.step(error**2, live="off", namespace=names).record)
    assert [(q["answer"], q["at"]) for q in asked] == [(-2.5, []), (-2.5, []), (-2.5, [2]), (2.5, [2])]
    assert asked[-1]["asks"] == "What gradient does w[2] get?"
    assert [one["name"] for one in asked[-1]["knows"]] == ["", "x[2]"]
