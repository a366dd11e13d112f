"""Entries of a gradient as gradients times slopes, against PyTorch's Jacobians."""

import re

import numpy as np
import pytest

import vistorch as L
from tests.ops.library import torch
from vistorch.debug import Stepper
from vistorch.debug.steps import record

F = L.nn.functional


def texts(loss, **options):
    """What the first step of the input's node sends, by its node's name."""
    made = record(Stepper(loss), budget=10**9, **options)
    assert made.failed is None
    return {
        made.nodes[frame["node"]]["name"]: [
            flow["numbers"] and flow["numbers"]["text"] for flow in frame["outgoing"]
        ]
        for frame in made.frames
    }


CASES = {
    "log_softmax": (lambda lib, x: lib.log_softmax(x, -1), "LogSoftmaxBackward0", [[1.0, 2.0, 3.0]]),
    "softmax": (lambda lib, x: lib.softmax(x, -1), "SoftmaxBackward0", [[0.5, -1.0, 2.0]]),
    "transpose": (lambda lib, x: x.transpose(0, 1), "TransposeBackward0", [[0.5, -1.0], [2.0, 3.0]]),
    "max_pool": (
        lambda lib, x: lib.max_pool1d(x[None], 2)[0],
        "MaxPool2DWithIndicesBackward0",
        [[0.5, -1.0, 2.0, 3.0]],
    ),
    "leaky_relu": (lambda lib, x: lib.nn.functional.leaky_relu(x, 0.25), "LeakyReluBackward0", [[0.5, -2.0]]),
    "clamp": (lambda lib, x: x.clamp(0.0, 1.0), "ClampBackward1", [[0.5, -2.0, 3.0]]),
    "cumsum": (lambda lib, x: x.cumsum(1), "CumsumBackward0", [[0.5, -2.0, 3.0]]),
}


@pytest.mark.parametrize("case", CASES)
def test_terms_are_gradients_times_slopes(case):
    make, name, values = CASES[case]
    weights = [1.5, -2.0, 0.75, 3.0]

    def loss(lib, x):
        y = make(lib, x)
        return (y * lib.tensor(weights[: y.numel()], dtype=lib.float64).reshape(y.shape)).sum()

    x = L.tensor(values, dtype=L.float64, requires_grad=True)
    (text,) = [line for line in texts(loss(L, x))[name] if line]
    there = torch.tensor(values, dtype=torch.float64)
    slopes = torch.autograd.functional.jacobian(lambda x: make(torch, x), there).reshape(-1, there.numel())
    place = [int(i) for i in re.match(r"\[([\d, ]+)\]: ", text)[1].split(",")][-there.ndim :]
    at = np.ravel_multi_index(place, there.shape)
    expected = [(g, s) for g, s in zip(weights, slopes[:, at].tolist(), strict=False) if s]
    sides = text.partition(": ")[2].split(" = ")
    terms = re.sub(r" - ", " + -", sides[0]).split(" + ")
    found = [[float(part.strip("()")) for part in term.split(" · ")] for term in terms]
    assert [(f[0], f[1] if len(f) > 1 else 1.0) for f in found] == [
        pytest.approx(e, rel=1e-3) for e in expected
    ]
    assert float(sides[-1]) == pytest.approx(sum(g * s for g, s in expected), rel=1e-3)


def test_cross_entropy_says_what_each_class_gets():
    x = L.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    seen = texts(F.cross_entropy(x, L.tensor([0])))
    assert seen == {
        "NllLossBackward0": ["[0, 0]: 1 · (-1) = -1"],
        "LogSoftmaxBackward0": ["[0, 0]: -1 · 0.91 = -0.91"],
    }


def test_a_zero_gradient_has_its_part_in_a_nan():
    x = L.zeros(2, dtype=L.float64, requires_grad=True)
    seen = texts((L.softmax(x - float("inf"), 0) * 0).sum())
    assert seen["SoftmaxBackward0"] == ["[0]: 0 · nan + 0 · nan = nan"]


def test_many_gradients_are_not_written_out():
    x = L.rand(9, 9, requires_grad=True)
    assert texts(L.softmax(x, -1).pow(2).sum())["SoftmaxBackward0"] == [None]
    assert texts(L.softmax(x[:2], -1).pow(2).sum())["SoftmaxBackward0"] != [None]


def test_a_hook_of_the_user_s_on_what_is_saved_runs_in_the_pass_alone():
    ran = []

    def unpack(t):
        ran.append(1)
        return t

    with L.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = L.softmax(L.rand(3, requires_grad=True), 0)
    seen = texts(y.sum())
    assert seen["SoftmaxBackward0"] == [None] and len(ran) == 1
