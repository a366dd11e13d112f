"""What every lesson has: a head, a way on, five questions with their answers, and a solution that is right."""

import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import vistorch
from tests.tutorials import cells

LESSONS = sorted(path.stem for path in cells.NOTEBOOKS.glob("*.ipynb"))
EXERCISES = [(lesson, number) for lesson in LESSONS for number in cells.numbers(lesson)]
QUESTIONS = re.compile(
    r"## Five questions\n(.*?)<details><summary>Answers</summary>\n(.*?)\n</details>", re.DOTALL
)
# What cells above the exercises computed, for the checks that use it.
GRID = np.stack([np.tile(np.linspace(-1, 1, 21), 21), np.repeat(np.linspace(-1, 1, 21), 21)], axis=1)
NUMBERS = np.random.default_rng(1)
START = {"w1": (2, 16), "b1": 16, "w2": (16, 1), "b2": 1}
GIVEN = {
    "03_one_network_six_times": {
        "x": vistorch.tensor(GRID),
        "y": vistorch.tensor(GRID[:, :1] * GRID[:, 1:]),
        "start": {name: NUMBERS.normal(size=size) / 2 for name, size in START.items()},
    },
    "07_overfitting": {"x": None, "y": None},
    "10_a_tiny_gpt": {"context": 32},
}


def markdown(lesson):
    book = json.loads((cells.NOTEBOOKS / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "markdown"]


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Four devices, a folder of its own, and stand-ins for the files that a lesson writes."""
    for name in ("change", "fractal", "hogwild"):
        functions = dict.fromkeys(["change", "paint", "pattern", "train"])
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**functions))
    monkeypatch.chdir(tmp_path)
    vistorch.cuda.simulate(4)
    yield
    vistorch.cuda.simulate(None)


@pytest.mark.parametrize(("lesson", "number"), EXERCISES)
def test_the_solution_is_right(lesson, number, machine):
    shown = cells.solution(lesson, number)
    given = GIVEN.get(lesson)
    assert cells.said(lesson, number, given=given).startswith(f"Exercise {number}: still open.")
    assert cells.said(lesson, number, after=shown, given=given) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_head_says_how_long_and_for_whom(lesson):
    head = markdown(lesson)[0]
    assert re.match(r"# \S", head)
    (line,) = re.findall(r"^\*((?:About )?\d+ minutes.*)\*$", head, re.MULTILINE)
    assert "needs" in line or "nothing else" in line
    assert re.search(r"· (?:for|when you need it|intermediate)", line), line


@pytest.mark.parametrize("lesson", LESSONS)
def test_five_questions_have_five_answers_and_a_way_on(lesson):
    last = markdown(lesson)[-1]
    (parts,) = QUESTIONS.findall(last)
    for numbered in parts:
        assert re.findall(r"^(\d)\. \S", numbered, re.MULTILINE) == list("12345")
    assert re.search(r"^\*\*Next:\*\* .*\.ipynb", last, re.MULTILINE)


@pytest.mark.parametrize("lesson", LESSONS)
def test_links_lead_to_lessons(lesson):
    """The page's own words for a lesson are a part of that lesson's title."""
    links = [
        link for text in markdown(lesson) for link in re.findall(r"\[([^]]+)\]\(([\w.]+\.ipynb)\)", text)
    ]
    assert links
    for words, path in links:
        title = markdown(path.removesuffix(".ipynb"))[0].partition("\n")[0]
        assert words.lower() in title.lower(), f"{path} is called {title!r}"


def test_each_lesson_is_reached_from_another():
    texts = [text for lesson in LESSONS for text in markdown(lesson)]
    assert set(LESSONS) - {path for text in texts for path in re.findall(r"\((\w+)\.ipynb\)", text)} == set()


def test_the_list_of_lessons_has_each_with_its_minutes():
    table = (cells.NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    for lesson in LESSONS:
        (row,) = [line for line in table.split("\n") if line.startswith(f"| [{lesson}]({lesson}.ipynb) |")]
        minutes, *_ = re.findall(r"(\d+) minutes", markdown(lesson)[0])
        assert f"| {minutes} |" in row


# A term is bold once, in the lesson that explains it.
TERMS = {
    "00_look": "loss, training, tensor, weight, gradient, chain rule, learning rate, backpropagation",
    "01_tensors": "stride, normal distribution",
    "02_autograd": "vector-Jacobian product",
    "03_one_network_six_times": "ReLU, epoch, momentum",
    "04_why_it_learns": "gradient descent, saturated",
    "05_optimizers": "Nesterov, RMSprop, Adam, Adagrad, AdamW, schedule, warm-up",
    "06_a_classifier": "batch, convolution, pooling, logits, softmax, cross entropy, running loss, recall, overfitting",
    "07_overfitting": "training set, validation set, test set, generalization, early stopping, weight decay, dropout",
    "08_debugging": "dead ReLUs",
    "10_a_tiny_gpt": "tokens, embedding, attention, query, key, causal mask, heads, residual connection, temperature",
    "13_devices": "CUDA, pinned memory, data parallelism, model parallelism",
    "14_several_processes": "Hogwild, deadlock, ranks",
}
# These are used before they are explained: the first lines of PyTorch anyone sees have them.
USED_BEFORE = {"batch", "softmax", "CUDA", "Adam", "Nesterov", "RMSprop", "Adagrad", "key", "query"}


@pytest.mark.parametrize(
    ("lesson", "term"), [(lesson, term) for lesson, terms in TERMS.items() for term in terms.split(", ")]
)
def test_a_term_is_bold_once_and_where_it_is_first_met(lesson, term):
    texts = {one: " ".join(" ".join(markdown(one)).split()) for one in LESSONS}
    bold = re.compile(rf"\*\*{re.escape(term)}\.?\*\*", re.IGNORECASE)
    assert [one for one in LESSONS for _ in bold.findall(texts[one])] == [lesson]
    if term not in USED_BEFORE:
        used = [one for one in LESSONS if re.search(rf"\b{re.escape(term)}\b", texts[one], re.IGNORECASE)]
        assert used[0] == lesson
