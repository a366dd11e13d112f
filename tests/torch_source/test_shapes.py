"""Shape errors of the real PyTorch, drawn as those of the engine: the same lines, and what is to be said of them."""

import contextlib
import linecache
import warnings

import pytest
import torch
from torch import nn

from tests.debug.shapes.cases import CASES, NAMES
from vistorch.debug.diagnose import Diagnosis
from vistorch.debug.shapes import explain
from vistorch.torch_source.diagnosing import TorchEvidence

# Called straight from the user's line, these ops leave no frame, and a part of the line is no variable.
UNSEEN = {
    "a - t[:, :, :2]",
    "torch.where(v > 0, w, v)",
    "v.masked_fill(w > 0, 1.0)",
    "torch.cat((row, a, t[0]), dim=1)",
    "row.reshape(5, -1)",
    "F.conv2d(image[..., :3], k)",
    "w[v > 0]",
    "w[i, 0]",
    "w[:3] = v[:2]",
    "torch.linalg.solve(t[0, :, :3], c)",
}
# Drawn with the same shapes under the words of the error: PyTorch's line does not say which part is which.
IN_OTHER_WORDS = {
    "v += row",
    "torch.stack([a, c])",
    "F.binary_cross_entropy_with_logits(a[:, :1], v)",
    "v.expand(2, 4)",
    "row.expand_as(c)",
    "nn.LayerNorm(5)(row)",
    "nn.LSTM(10, 4)(t)",
    "w[v > 0]",
    "w[:3] = v[:2]",
    "w[i] = v",
    "a[i, j]",
    "p.mul(2).backward(v)",
}


class Net(nn.Module):
    """A network whose last layer was made for other images."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.fc1 = nn.Linear(256, 120)

    def forward(self, x):
        """Classify."""
        x = self.conv1(x).relu()
        return self.fc1(x.flatten(1)).relu()


def scope():
    made = {name: torch.zeros(shape) for name, shape in NAMES.items()}
    made |= {"torch": torch, "nn": nn, "F": nn.functional, "model": Net(), "table": nn.Embedding(5, 3)}
    made |= {"net": nn.Sequential(nn.Linear(8, 16), nn.Linear(84, 10)), "k": torch.zeros(8, 1, 5, 5)}
    made |= {"y": torch.zeros(16).long(), "i": torch.tensor([0, 1]), "j": torch.tensor([0, 1, 2])}
    return made | {"whole": torch.zeros(4, 4).long(), "p": torch.zeros(5, requires_grad=True)}


def failure(line, looking):
    """The exception of a line, run as a cell is."""
    source = f"def step():\n    global v, w\n    {line}\nstep()\n"
    file = f"<ipython-input-7-{abs(hash(line)):012x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    with pytest.raises(Exception) as caught, looking, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, file, "exec"), scope())
    return caught.value


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("line", CASES)
def test_what_is_drawn(line, seen):
    operands, sentence, module = CASES[line]
    error = failure(line, TorchEvidence((), {}) if seen else contextlib.nullcontext())
    record = explain(error)
    if not seen and line in UNSEEN:
        assert record is None
        return
    assert record is not None and record.error == f"{type(error).__name__}: {error}"
    if "Net" not in line and "model" not in line:
        assert record.place == "cell [7], line 3"
    drawn = [(one.name, one.shape, one.marks) for one in record.operands]
    if line not in IN_OTHER_WORDS or (drawn == operands and sentence in record.sentence):
        assert drawn == operands and sentence in record.sentence and record.module == module
    elif line != "nn.LSTM(10, 4)(t)":  # beside its weight, not beside what it takes
        assert [(shape, marks) for _, shape, marks in drawn] == [
            (shape, marks) for _, shape, marks in operands
        ]


def test_the_layer_is_named_within_modules_of_the_users():
    record = explain(failure("model(torch.zeros(1, 1, 28, 28))", contextlib.nullcontext()))
    assert record.module == "model.conv1 Conv2d 3 → 6" and "takes 3 channels, 1 arrives" in record.sentence


@pytest.mark.parametrize(
    "line", ["raise ValueError('sizes of tensors must match')", "int('x')", "{}['a']", "a.backward()"]
)
def test_what_is_no_matter_of_shapes_is_not_drawn(line):
    assert explain(failure(line, contextlib.nullcontext())) is None


def test_a_diagnosis_places_it_in_the_users_line():
    text = "net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(12, 2))\nnet(torch.zeros(4, 8))\n"
    file = "<program shapes over torch>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    diagnosis = Diagnosis()
    with pytest.raises(RuntimeError), diagnosis:
        exec(compile(text, file, "exec"), {"torch": torch, "nn": nn})
    found = diagnosis.findings()[0]
    assert (found.rule, found.place.line, found.also[0].line) == ("shapes", 2, 1)
    assert found.text == "net[2] takes 12 features, 16 arrive."
